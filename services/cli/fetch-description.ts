import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Agent, type Dispatcher, request } from 'undici';
import { parseSpecification, SpecificationRefused } from '#shared/docs/reference/parse-specification.ts';
import type { RemoteFormat } from '#shared/docs/reference/remote-files.ts';
import { maxSpecificationBytes } from '#shared/docs/reference/specification-limits.ts';
import { guardedLookup, literalAddress } from '#shared/http/guarded-lookup.ts';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { formatBytes } from '#shared/runtime/figures.ts';
import { isRefused } from './private-networks.ts';

/** An API description cannot be fetched, or the answer is not one. The message ends the sentence "<address> cannot be used: …". */
export class NotFetched extends Error {
  override name = 'NotFetched';
}

export type FetchBounds = { allowPrivate: boolean; withinMs?: number; maxBytes?: number };

const mostRedirects = 5;
const defaultWithinMs = 30_000;

/**
 * Fetches and checks an API description. Limits: `mostRedirects` redirects, 30 s and 16 MB. There is no retry. Addresses of this machine and of
 * private networks are used only with `allowPrivate`: each redirect is checked, and so is each address that a name resolves to, at the moment of
 * connecting. Link-local addresses are never used. Rejects with `NotFetched`.
 */
export async function fetchDescription(
  address: string,
  { allowPrivate, withinMs = defaultWithinMs, maxBytes = maxSpecificationBytes }: FetchBounds,
): Promise<{ bytes: Uint8Array; format: RemoteFormat }> {
  const signal = AbortSignal.timeout(withinMs);
  const lookup = guardedLookup(
    (found) => isRefused(found, allowPrivate),
    (host) => refusedAddress(host, allowPrivate),
  );
  const agent = new Agent({ connect: { lookup, timeout: Math.min(10_000, withinMs) } });
  try {
    const { body, headers } = await ask(new URL(address), agent, allowPrivate, signal);
    const bytes = await wholeBody(body, headers, maxBytes);
    return { bytes, format: checked(bytes) };
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

async function ask(
  first: URL,
  dispatcher: Agent,
  allowPrivate: boolean,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  let url = first;
  for (let redirects = 0; ; redirects += 1) {
    checkUrl(url, allowPrivate);
    const headers = {
      accept: 'application/json, application/yaml, text/yaml;q=0.9, */*;q=0.5',
      'user-agent': 'bindery',
    };
    const answer = await request(url, { dispatcher, signal, headers });
    const { statusCode } = answer;
    // Without a listener, an error of the body would end the process.
    answer.body.on('error', () => undefined);
    if (![301, 302, 303, 307, 308].includes(statusCode)) {
      if (statusCode === 200) return answer;
      answer.body.destroy();
      throw new NotFetched(`${url.host} answered ${statusCode}`);
    }
    answer.body.destroy();
    const { location } = answer.headers;
    const next = typeof location === 'string' ? URL.parse(location, url.href) : null;
    if (next === null) throw new NotFetched(`${url.host} redirects without an address`);
    if (redirects >= mostRedirects) throw new NotFetched(`it redirects more than ${mostRedirects} times`);
    if (url.protocol === 'https:' && next.protocol !== 'https:')
      throw new NotFetched(`it redirects from https to ${next.protocol}//${next.host}`);
    url = next;
  }
}

function checkUrl(url: URL, allowPrivate: boolean): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new NotFetched(`${url.protocol} is not supported, only https: and http: are`);
  if (url.username !== '' || url.password !== '')
    throw new NotFetched('its address has a password in it, which readers of the project would see');
  const literal = literalAddress(url);
  if (literal !== undefined && isRefused(literal, allowPrivate)) throw refusedAddress(url.host, allowPrivate);
}

const refusedAddress = (host: string, allowPrivate: boolean): NotFetched =>
  new NotFetched(
    allowPrivate
      ? `${host} is a link-local address, and such addresses are never used`
      : `${host} is an address of this machine or of a private network, which needs --private-addresses`,
  );

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
  maxBytes: number,
): Promise<Uint8Array> {
  const type = String(headers['content-type'] ?? '').toLowerCase();
  if (/^(?:text\/html|image\/|audio\/|video\/|multipart\/|application\/pdf)/.test(type)) {
    body.destroy();
    throw new NotFetched(`the answer is ${type.split(';')[0]}, not JSON or YAML`);
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

/** The format of an API description. Throws `NotFetched` for other texts. */
function checked(bytes: Uint8Array): RemoteFormat {
  const start = Buffer.from(bytes.subarray(0, 1_000))
    .toString()
    .replace(/^\ufeff/, '')
    .trimStart();
  const format = start.startsWith('{') ? 'json' : 'yaml';
  try {
    parseSpecification(bytes, `answer.${format}`);
    return format;
  } catch (error) {
    if (!(error instanceof SpecificationRefused)) throw error;
    throw new NotFetched(`the answer is no API description: it ${error.message}`);
  }
}

function networkProblem(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its host is not found';
  return messageOf(error);
}
