import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Agent, type Dispatcher, request } from 'undici';
import { guardedLookup, literalAddress } from '#shared/http/guarded-lookup.ts';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { formatBytes } from '#shared/runtime/figures.ts';
import { isPrivate, isRefused } from '../private-networks.ts';
import type { PartKind } from './named-parts.ts';
import { type PartFormat, partKinds } from './part-kinds.ts';

/**
 * A file cannot be fetched, or the answer is not one. The message ends the sentence "… cannot be fetched: …". `status`: the answer of the site, if it
 * refused.
 */
export class NotFetched extends Error {
  override name = 'NotFetched';
  readonly status: number | undefined;

  constructor(message: string, options: ErrorOptions & { status?: number } = {}) {
    super(message, options);
    this.status = options.status;
  }
}

export type FetchBounds = {
  /** Also allows addresses of this machine and of private networks. */
  allowPrivate: boolean;
  withinMs?: number;
  maxBytes?: number;
};

/** A fetched file. `isPrivate`: it came from this machine or a private network. */
export type FetchedPart = { bytes: Uint8Array; format: PartFormat; isPrivate: boolean };

const mostRedirects = 5;
const defaultWithinMs = 30_000;
const mostHeaderBytes = 64 * 1024;

/**
 * Fetches a file and checks its kind. Limits: `mostRedirects` redirects, 30 s for the whole answer, and the size of the kind after decompression. There
 * is no retry. Addresses of this machine and of private networks are used only with `allowPrivate`: each redirect is checked, and so is each address that
 * a name resolves to, at the moment of connecting. A public address never redirects to a private one, and link-local addresses are never used. Rejects
 * with `NotFetched`.
 */
export async function fetchPart(
  address: string,
  kind: PartKind,
  { allowPrivate, withinMs = defaultWithinMs, maxBytes = partKinds[kind].maxBytes }: FetchBounds,
): Promise<FetchedPart> {
  const signal = AbortSignal.timeout(withinMs);
  const guard: Guard = { allowPrivate, isPrivate: false };
  const lookup = guardedLookup(
    (found) => {
      guard.isPrivate ||= isPrivate(found);
      return isRefused(found, guard.allowPrivate);
    },
    (host) => refusedAddress(host, guard, allowPrivate),
  );
  const connect = { lookup, timeout: Math.min(10_000, withinMs) };
  const agent = new Agent({ connect, maxHeaderSize: mostHeaderBytes });
  try {
    const { body, headers } = await ask(new URL(address), kind, agent, { guard, mayBePrivate: allowPrivate, signal });
    const bytes = await wholeBody(body, headers, kind, maxBytes);
    const checked = await partKinds[kind].check(bytes);
    if ('why' in checked) throw new NotFetched(checked.why);
    return { bytes, format: checked.format, isPrivate: guard.isPrivate };
  } catch (error) {
    if (error instanceof NotFetched) throw error;
    const cause = error instanceof Error && error.cause instanceof NotFetched ? error.cause : undefined;
    if (cause !== undefined) throw cause;
    throw new NotFetched(signal.aborted ? `it took longer than ${withinMs / 1_000} s` : networkProblem(error), {
      cause: error,
    });
  } finally {
    await agent.destroy();
  }
}

/** The addresses that a request may use at the moment, and whether it has used a private one. */
type Guard = { allowPrivate: boolean; isPrivate: boolean };
type Asking = { guard: Guard; mayBePrivate: boolean; signal: AbortSignal };

async function ask(
  first: URL,
  kind: PartKind,
  dispatcher: Agent,
  { guard, mayBePrivate, signal }: Asking,
): Promise<Dispatcher.ResponseData> {
  let url = first;
  for (let redirects = 0; ; redirects += 1) {
    checkUrl(url, guard, mayBePrivate);
    const { accept, userAgent } = partKinds[kind];
    const answer = await request(url, { dispatcher, signal, headers: { accept, 'user-agent': userAgent } });
    const { statusCode } = answer;
    // Without a listener, an error of the body would end the process.
    answer.body.on('error', () => undefined);
    if (![301, 302, 303, 307, 308].includes(statusCode)) {
      if (statusCode === 200) return answer;
      answer.body.destroy();
      throw new NotFetched(`${url.host} answered ${statusCode}`, { status: statusCode });
    }
    answer.body.destroy();
    const { location } = answer.headers;
    const next = typeof location === 'string' ? URL.parse(location, url.href) : null;
    if (next === null) throw new NotFetched(`${url.host} redirects without an address`);
    if (redirects >= mostRedirects) throw new NotFetched(`it redirects more than ${mostRedirects} times`);
    if (url.protocol === 'https:' && next.protocol !== 'https:')
      throw new NotFetched(`it redirects from https to ${next.protocol}//${next.host}`);
    // A public site must not lead to a private address, even where the project of the author may name one.
    guard.allowPrivate = guard.isPrivate;
    url = next;
  }
}

function checkUrl(url: URL, guard: Guard, mayBePrivate: boolean): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new NotFetched(`${url.protocol} is not supported, only https: and http: are`);
  if (url.username !== '' || url.password !== '')
    throw new NotFetched('its address has a password in it, which readers of the project would see');
  const literal = literalAddress(url);
  if (literal === undefined) return;
  if (isRefused(literal, guard.allowPrivate)) throw refusedAddress(url.host, guard, mayBePrivate);
  guard.isPrivate ||= isPrivate(literal);
}

function refusedAddress(host: string, { allowPrivate }: Guard, mayBePrivate: boolean): NotFetched {
  if (allowPrivate) return new NotFetched(`${host} is a link-local address, and such addresses are never used`);
  const where = `${host} is an address of this machine or of a private network`;
  return new NotFetched(
    mayBePrivate
      ? `${where}, to which a site of the Internet must not redirect`
      : `${where}, which needs --private-addresses`,
  );
}

const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** The decompressed bytes of an answer, up to `maxBytes`. */
async function wholeBody(
  body: Readable,
  headers: Dispatcher.ResponseData['headers'],
  kind: PartKind,
  maxBytes: number,
): Promise<Uint8Array> {
  const type = String(headers['content-type'] ?? '').toLowerCase();
  const { refused, expected } = partKinds[kind];
  if (refused.test(type)) {
    body.destroy();
    throw new NotFetched(`the answer is ${type.split(';')[0]}, not ${expected}`);
  }
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  const decoder = decoders.get(encoding)?.();
  if (decoder === undefined && encoding !== 'identity')
    throw new NotFetched(`the answer has the content encoding ${encoding.slice(0, 30)}, which is not supported`);
  const plain = decoder === undefined ? body : pipeline(body, decoder, () => undefined);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of plain as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      body.destroy();
      throw new NotFetched(`it has more than ${formatBytes(maxBytes)}`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function networkProblem(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its host is not found';
  return messageOf(error);
}
