import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { LRUCache } from 'lru-cache';
import { byteRange } from '#shared/http/byte-range.ts';
import { contentHeader } from '#shared/interfaces/http/sites.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { sha256Of, sha256OfStream } from '#shared/runtime/canonical-json.ts';
import { contentFile, type PartedBytes, readContent } from './content-folder.ts';
import { bytesOf, compressedNow, type Encoding } from './prepared-site.ts';
import { readWhole } from './read-whole.ts';
import type { ServedVersion } from './served-versions.ts';
import type { HostedFile } from './version-list.ts';
import { DamagedVersion } from './version-lists.ts';

/** Size limit of files that are answered from memory. Larger files are streamed. */
const mostInMemory = 1024 * 1024;

/** Caching of an answer by browsers and proxies. */
type Caching = 'immutable' | 'revalidate';

/** Caches that may store an answer: `public` includes shared caches between the host and a reader. */
export type KeptBy = 'public' | 'private';

export type FileAnswer = {
  status?: 200 | 404;
  caching: Caching;
  keptBy: KeptBy;
  /** Content version of the answer, which tells a publisher that this host serves it. */
  contentVersion?: string | undefined;
};

/** Headers of every answer of the site. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** Policy that keeps SVG and XML files from running scripts when they are opened directly. */
const drawingPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** One form of a file as it is sent: its headers as a flat list, which Node writes fastest, and its bytes if they are small. */
type Copy = { encoding: Encoding | undefined; size: number; headers: string[]; body: Buffer | undefined };

/**
 * Answers GET and HEAD with a file: in the best encoding that the reader accepts, with `304` for bytes that the reader has, or a range if one is
 * requested. Files up to 1 MiB come from a memory cache of `memoryBytes`. Bytes of a version that was not checked are checked when they are read: the
 * answer then rejects with `DamagedVersion`, before anything is sent. (`@fastify/static`, `send` and `sirv` look every file up in the file system
 * and stream it; and they serve one folder, while here the version of a file is part of the answer.)
 */
export function fileAnswers(memoryBytes: number) {
  const memory = new LRUCache<string, Copy>({
    maxSize: Math.max(1, memoryBytes),
    sizeCalculation: ({ body }) => (body?.length ?? 0) + 2_000,
  });

  /** Digests of large files. Each file of a version is read once for its digest, however many readers ask for parts of it. */
  const digests = new WeakMap<ServedVersion, Map<string, Promise<string | undefined>>>();

  function digestOnce(version: ServedVersion, bytes: PartedBytes): Promise<string | undefined> {
    const { sha256 } = bytes;
    const ofVersion = digests.get(version) ?? new Map<string, Promise<string | undefined>>();
    digests.set(version, ofVersion);
    const known = ofVersion.get(sha256);
    if (known !== undefined) return known;
    const digest = digestOf(version.content, bytes);
    ofVersion.set(sha256, digest);
    const forget = (): void => void ofVersion.delete(sha256);
    // A damaged file may be repaired, and a failure, such as too many open files, may be temporary.
    digest.then((found) => found !== sha256 && forget(), forget);
    return digest;
  }

  async function readCopy(
    { version, path, file }: Found,
    encoding: Encoding | undefined,
    answer: FileAnswer,
  ): Promise<Copy> {
    const bytes = bytesOf(file, encoding);
    const { size, sha256 } = bytes;
    const damaged = (): never => {
      throw new DamagedVersion(version.id, `${path}${encoding === undefined ? '' : ` (${encoding})`}`);
    };
    const readBody =
      size <= mostInMemory ? readWhole(contentFile(version.content, sha256), size) : Promise.resolve(undefined);
    const body = await readBody.catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT' || version.isChecked) throw error;
      return damaged();
    });
    if (body !== undefined && body.length !== size) damaged();
    if (!version.isChecked) {
      const found = body === undefined ? await digestOnce(version, bytes) : sha256Of(body);
      if (found !== sha256) damaged();
    }
    const headers = headersOf(path, file, encoding, answer);
    if (body === undefined || encoding === undefined || file[encoding] !== undefined)
      return { encoding, size, headers, body };
    const compressed = await compressedNow(body, encoding);
    return { encoding, size: compressed.length, headers, body: compressed };
  }

  return function answerFile(
    request: IncomingMessage,
    response: ServerResponse,
    found: Found,
    answer: FileAnswer,
  ): void | Promise<void> {
    const { headers, method } = request;
    // A range applies to GET alone (RFC 9110).
    const isPart = answer.status !== 404 && method !== 'HEAD' && headers.range !== undefined;
    const encoding = isPart ? undefined : encodingFor(headers['accept-encoding'], found.file);
    const key = `${found.version.id} ${encoding ?? ''} ${answer.caching} ${answer.keptBy} ${found.path}`;
    const kept = memory.get(key);
    if (kept !== undefined) return sendCopy(request, response, found, kept, answer);
    return withReader(found.version, async () => {
      const copy = await readCopy(found, encoding, answer);
      memory.set(key, copy);
      await sendCopy(request, response, found, copy, answer);
    });
  };
}

/** SHA-256 of a file; undefined if it is lost. */
const digestOf = (content: string, bytes: PartedBytes): Promise<string | undefined> =>
  sha256OfStream(readContent(content, bytes)).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });

type Found = { version: ServedVersion; path: string; file: HostedFile };

/** The version's folder is kept until `read` has ended. */
async function withReader(version: ServedVersion, read: () => Promise<void>): Promise<void> {
  version.readers += 1;
  try {
    await read();
  } finally {
    version.readers -= 1;
  }
}

function sendCopy(
  { headers: asked, method }: IncomingMessage,
  response: ServerResponse,
  found: Found,
  { encoding, size, headers, body }: Copy,
  { status = 200 }: FileAnswer,
): void | Promise<void> {
  const known = asked['if-none-match'];
  if (status === 200 && known !== undefined && isKnown(known, etagName(found.file))) {
    response.writeHead(304, headers).end();
    return;
  }
  const isWhole = status !== 200 || method === 'HEAD' || isOutdated(asked['if-range'], etagOf(found.file));
  const range = isWhole ? undefined : byteRange(asked.range, size);
  if (range === 'unsatisfiable') {
    response.writeHead(416, { ...securityHeaders, 'content-range': `bytes */${size}`, 'content-length': 0 }).end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  const about = ['content-length', String(end - start + 1)];
  if (encoding !== undefined) about.push('content-encoding', encoding);
  if (range !== undefined) about.push('content-range', `bytes ${start}-${end}/${size}`);
  response.writeHead(range === undefined ? status : 206, headers.concat(about));
  if (method === 'HEAD' || size === 0) response.end();
  else if (body !== undefined) response.end(range === undefined ? body : body.subarray(start, end + 1));
  else {
    const { version, file } = found;
    return withReader(version, () =>
      pipeline(readContent(version.content, bytesOf(file, encoding), { start, end }), response),
    );
  }
}

/** Caching of answers that are revalidated each time. */
export const revalidated: Readonly<Record<KeptBy, string>> = { public: 'no-cache', private: 'private, no-cache' };

const etagName = (file: HostedFile): string => file.sha256.slice(0, 16);
const etagOf = (file: HostedFile, encoding?: Encoding): string =>
  `"${etagName(file)}${encoding === undefined ? '' : `-${encoding}`}"`;

function headersOf(
  path: string,
  file: HostedFile,
  encoding: Encoding | undefined,
  { status = 200, caching, contentVersion, keptBy }: FileAnswer,
): string[] {
  const isDrawing = /svg|xml/.test(file.type);
  const policy = isDrawing ? drawingPolicy : file.policy;
  const headers: Record<string, string> = {
    ...securityHeaders,
    'content-type': file.type,
    etag: etagOf(file, encoding),
    vary: file.isPage || path.endsWith('.md') ? 'Accept, Accept-Encoding' : 'Accept-Encoding',
    'cache-control': caching === 'immutable' ? `${keptBy}, max-age=31536000, immutable` : revalidated[keptBy],
    ...(policy !== undefined && { 'content-security-policy': policy }),
    ...(status === 200 && { 'accept-ranges': 'bytes' }),
    ...contentHeaders(contentVersion),
  };
  return Object.entries(headers).flat();
}

/** The header that names the content version of an answer. */
export const contentHeaders = (contentVersion: string | undefined): Record<string, string> =>
  contentVersion !== undefined && isPlain(contentVersion) ? { [contentHeader]: contentVersion } : {};

/** True for text that a header may have. A bundle names its content version, and may have any other text there. */
const isPlain = (text: string): boolean => /^[\w.-]{1,100}$/.test(text);

/** The encoding of the smallest copy that the reader accepts; while a file lacks its copies, that of the answer for which it is compressed. Pure. */
export function encodingFor(
  accepted: string | undefined,
  file: Pick<HostedFile, 'size' | 'br' | 'gzip' | 'lacksCopies'>,
): Encoding | undefined {
  if (accepted === undefined) return undefined;
  let taken = knownAccepted.get(accepted);
  if (taken === undefined) {
    taken = encodings.filter((encoding) => quality(accepted, encoding) > 0);
    knownAccepted.set(accepted, taken);
  }
  if (file.lacksCopies === true && file.size <= mostInMemory) return taken[0];
  return taken.find((encoding) => file[encoding] !== undefined);
}

/** Encodings by the usual size of copies, the smallest first. */
const encodings = ['br', 'gzip'] as const satisfies Encoding[];
/** Cache of parsed headers. Browsers send only a few different ones. */
const knownAccepted = new LRUCache<string, readonly Encoding[]>({ max: 100 });

/** Quality of a name in a list such as `br;q=1, *;q=0.1`; 0 if it is not accepted. `also` has names that match it, too. Pure. */
function quality(list: string, name: string, ...also: string[]): number {
  const wanted = [name, ...also, '*'];
  let best: { rank: number; q: number } | undefined;
  for (const part of list.slice(0, 1_024).split(',')) {
    const [value = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const rank = wanted.indexOf(value);
    if (rank < 0 || (best !== undefined && best.rank <= rank)) continue;
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    best = { rank, q: q === undefined ? 1 : Number(q.slice(2)) || 0 };
  }
  return best?.q ?? 0;
}

/** True if a client, such as a program that reads for a model, prefers Markdown to HTML. Browsers never ask for Markdown. Pure. */
export function prefersMarkdown({ accept }: Pick<IncomingHttpHeaders, 'accept'>): boolean {
  if (accept === undefined || !/text\/markdown/i.test(accept)) return false;
  const markdown = quality(accept, 'text/markdown');
  return markdown > 0 && markdown >= quality(accept, 'text/html', 'text/*');
}

/** Limit of entity tags that are compared. Browsers send one; the limit keeps a request with thousands from costing time. */
const mostTags = 50;

/** True if `If-None-Match` names a file's bytes. Any copy of the same bytes matches, in any encoding, also one that a proxy made. Pure. */
export const isKnown = (header: string, name: string): boolean =>
  header.split(',', mostTags).some((part) => {
    const text = part.trim();
    const tag = /^(?:W\/)?"([^"]*)"$/.exec(text)?.[1];
    return text === '*' || (tag !== undefined && tag.replace(/-(?:br|gzip)$/, '') === name);
  });

const isOutdated = (header: string | string[] | undefined, etag: string): boolean =>
  header !== undefined && header !== etag;
