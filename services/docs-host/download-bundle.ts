import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { z } from 'zod';
import { isLinkLocal } from '#shared/http/address-ranges.ts';
import { guardedLookup, literalAddress } from '#shared/http/guarded-lookup.ts';
import { sha256Of, sha256OfStream } from '#shared/runtime/canonical-json.ts';
import { errorCode, messageOf, Unavailable } from '#shared/runtime/failures.ts';
import { BundleRefused, LinkRefused } from './bundle-refused.ts';

/** A transfer rate: bytes in a number of milliseconds. */
export type Pace = { bytes: number; ms: number };

export type Download = { file: string; sizeBytes: number; sha256: string };

/** Digest and size that are known before the download. */
export type ExpectedBundle = { sha256?: string | undefined; sizeBytes?: number | undefined };

const mostRedirects = 5;
const stalledAfterMs = 30_000;
/**
 * Minimum rate of a download. A slower one is aborted and resumed at the next check; otherwise a link that sends a byte now and then would block
 * newer bundles.
 */
const leastPace: Pace = { bytes: 64 * 1024, ms: 60_000 };
/** Limit for an error response without a bundle. */
const mostReasonBytes = 64 * 1024;

/**
 * Downloads a bundle into `folder`, and resumes an earlier attempt. The file is complete and has the expected size and SHA-256, or those that its
 * store announces if none are expected. Redirects may lead to the same host only, and link-local addresses are refused, because they belong to the
 * machine. Rejects with `Unavailable` when a retry may succeed, with `BundleRefused` when it cannot.
 */
export async function downloadBundle(
  link: string,
  folder: string,
  expected: ExpectedBundle,
  { maxBytes, signal, pace = leastPace }: { maxBytes: number; signal: AbortSignal; pace?: Pace },
): Promise<Download> {
  await mkdir(folder, { recursive: true });
  const part = await partOf(link, folder);
  await part.removeOthers();
  const answer = await ask(new URL(link), part, signal);
  const { statusCode, headers, body } = answer;
  // A body without an error handler would end the process.
  body.on('error', () => {});
  const isRest = statusCode === 206 && part.bytes > 0 && contentStart(headers['content-range']) === part.bytes;
  if (statusCode !== 200 && !isRest) {
    const text = await textOf(body, mostReasonBytes).catch(() => '');
    if (statusCode === 416) {
      await part.remove();
      throw new Unavailable('the bundle changed while it was downloaded; it is downloaded again');
    }
    throw refusalOf(statusCode, text, link);
  }
  const length = Number(headers['content-length'] ?? Number.NaN);
  const announced = Number.isNaN(length) ? undefined : length + (isRest ? part.bytes : 0);
  const etag = typeof headers.etag === 'string' && !headers.etag.startsWith('W/') ? headers.etag : undefined;
  const announcedSha256 = headers['x-amz-meta-sha256'];
  if ((announced ?? 0) > maxBytes) {
    body.destroy();
    await part.remove();
    throw new BundleRefused(`the bundle has ${announced} bytes, more than BINDERY_MAX_BUNDLE_MB allows`);
  }
  if (!isRest) await part.begin(etag);
  let bytes = isRest ? part.bytes : 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(
        bytes > maxBytes ? new BundleRefused('the bundle is larger than BINDERY_MAX_BUNDLE_MB allows') : null,
        chunk,
      );
    },
  });
  let bytesBefore = bytes;
  const watch = setInterval(() => {
    if (bytes - bytesBefore < pace.bytes)
      meter.destroy(new Error(`fewer than ${pace.bytes} bytes in ${pace.ms / 1_000} s`));
    bytesBefore = bytes;
  }, pace.ms);
  try {
    await pipeline(body, meter, createWriteStream(part.file, { flags: isRest ? 'a' : 'w' }), { signal });
  } catch (error) {
    if (error instanceof BundleRefused || etag === undefined) await part.remove();
    if (error instanceof BundleRefused || errorCode(error) === 'ENOSPC') throw error;
    throw new Unavailable(`the download broke off after ${bytes} bytes (${messageOf(error)})`, { cause: error });
  } finally {
    clearInterval(watch);
  }
  if (announced !== undefined && bytes < announced)
    throw new Unavailable(`the download broke off after ${bytes} of ${announced} bytes`);
  const sha256 = await sha256OfStream(createReadStream(part.file));
  const wanted = expected.sha256 ?? (typeof announcedSha256 === 'string' ? announcedSha256 : undefined);
  const problem =
    expected.sizeBytes !== undefined && bytes !== expected.sizeBytes
      ? `the bundle has ${bytes} bytes instead of ${expected.sizeBytes}`
      : wanted !== undefined && sha256 !== wanted
        ? `the bundle has the SHA-256 ${sha256} instead of ${wanted}`
        : undefined;
  if (problem !== undefined) {
    await part.remove();
    throw new BundleRefused(problem);
  }
  return { file: part.file, sizeBytes: bytes, sha256 };
}

/** The text of an answer. Rejects with `Unavailable` when it has more than `mostBytes`, because a server may send without end. */
export async function textOf(body: Dispatcher.ResponseData['body'], mostBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new Unavailable(`an answer has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The partial download of an earlier attempt. The next link may have a new signature, so only its path names the file. */
async function partOf(link: string, folder: string) {
  const { origin, pathname } = new URL(link);
  const name = sha256Of(`${origin}${pathname}`).slice(0, 24);
  const file = join(folder, `${name}.part`);
  const note = join(folder, `${name}.json`);
  const bytes = await stat(file).then(
    ({ size }) => size,
    () => 0,
  );
  const etag = await readFile(note, 'utf8').then(
    (text) => z.object({ etag: z.string() }).parse(JSON.parse(text)).etag,
    () => undefined,
  );
  const remove = async () => {
    await rm(file, { force: true });
    await rm(note, { force: true });
  };
  return {
    file,
    /** 0 if it cannot be resumed: without an entity tag the rest may belong to other bytes. */
    bytes: etag === undefined ? 0 : bytes,
    etag,
    remove,
    /** Removes partial downloads of other bundles, to free disk space. */
    async removeOthers(): Promise<void> {
      for (const other of await readdir(folder))
        if (!other.startsWith(`${name}.`)) await rm(join(folder, other), { recursive: true, force: true });
    },
    async begin(newEtag: string | undefined): Promise<void> {
      await remove();
      if (newEtag !== undefined) await writeFile(note, JSON.stringify({ etag: newEtag }));
    },
  };
}

async function ask(first: URL, part: { bytes: number; etag: string | undefined }, signal: AbortSignal) {
  let url = first;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await safeRequest(url, {
      headers:
        part.bytes > 0 && part.etag !== undefined ? { range: `bytes=${part.bytes}-`, 'if-range': part.etag } : {},
      signal,
    });
    if (![301, 302, 303, 307, 308].includes(answer.statusCode)) return answer;
    await answer.body.dump();
    const { location } = answer.headers;
    if (typeof location !== 'string' || redirects >= mostRedirects)
      throw new BundleRefused(`${url.host} redirects more than ${mostRedirects} times, or to no address`);
    const next = new URL(location, url);
    if (next.host !== first.host || (url.protocol === 'https:' && next.protocol !== 'https:'))
      throw new BundleRefused(
        `${url.host} redirects to ${next.protocol}//${next.host}: a redirect may lead to the same host only`,
      );
    url = next;
  }
}

/** Sends a request to a server that is named by settings. Rejects with `Unavailable` when there is no answer, with `BundleRefused` for link-local addresses. */
export async function safeRequest(url: URL, options: Parameters<typeof request>[1]) {
  const literal = literalAddress(url);
  if (literal !== undefined && isLinkLocal(literal))
    throw new BundleRefused(`${url.host} is a link-local address, and such addresses are never used`);
  try {
    return await request(url, {
      headersTimeout: stalledAfterMs,
      bodyTimeout: stalledAfterMs,
      ...options,
      dispatcher: agent,
    });
  } catch (error) {
    if (error instanceof BundleRefused) throw error;
    const why =
      errorCode(error) === 'ERR_SSL_WRONG_VERSION_NUMBER'
        ? 'it does not speak TLS: is its address http://?'
        : messageOf(error);
    throw new Unavailable(`${url.host} does not answer (${why})`, { cause: error });
  }
}

const lookup = guardedLookup(
  isLinkLocal,
  (host) => new BundleRefused(`${host} has a link-local address, and such addresses are never used`),
);
const agent = new Agent({ connect: { lookup, timeout: 10_000 } });

const contentStart = (header: string | string[] | undefined): number | undefined => {
  const found = typeof header === 'string' ? /^bytes ([0-9]+)-/.exec(header) : null;
  return found === null ? undefined : Number(found[1]);
};

function refusalOf(status: number, text: string, link: string): Error {
  const { host } = new URL(link);
  if (status === 408 || status === 429 || status >= 500) return new Unavailable(`${host} answered ${status}`);
  if (/expired/i.test(text))
    return new LinkRefused(`the link has expired (${host} answered ${status}). Ask the platform for a fresh one`);
  return new LinkRefused(
    `${host} answered ${status} to the link: it has expired or is incomplete. Ask the platform for a fresh one`,
  );
}
