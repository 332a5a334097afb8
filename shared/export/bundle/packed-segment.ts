import { crc32 } from 'node:zlib';
import {
  pageFactsSchema,
  type PageText,
  type RenderedPage,
  type SegmentSidecar,
} from '#shared/contracts/stored-objects.ts';
import { freeBytes } from '#shared/runtime/free-bytes.ts';
import { deflateWhole, inflatePieces } from './deflated-bytes.ts';
import { packRendered } from './pack-export.ts';
import type { DeflatedBytes, FileToPack, SegmentSummary } from './segment-writer.ts';

/** The stored bytes of a segment and of its sidecar. */
export type PackedSegment = { segment: Uint8Array; sidecar: Uint8Array };

/** Packs rendered files, in their order, with a sidecar that describes `pages`. `domain` is the top folder of the files. */
export async function packPages(
  domain: string,
  files: readonly FileToPack[],
  pages: readonly RenderedPage[],
): Promise<PackedSegment> {
  const { bytes, ...summary } = await packRendered(domain, files);
  // Parsing puts keys in the order of the schema, whether pages were rendered here or in a child.
  const facts = pages.map((page) => pageFactsSchema.parse(page));
  return { segment: bytes, sidecar: await sidecarBytes(sidecarOf({ ...summary, pages: facts }), pages) };
}

/** Adds the defaults for a segment without pages. */
export function sidecarOf(details: SegmentSummary & Partial<SegmentSidecar>): SegmentSidecar {
  return { version: 1, pages: [], diagnostics: [], ...details };
}

/** JSON has no line breaks in its strings, so this sequence cannot occur earlier. Readers that need no texts read up to here. */
const textsBegin = Buffer.from(',"texts":[\n');

export type TextKind = keyof PageText;

/** Separator after the text of each page in the file with the texts of all pages. */
export const textEnds: Record<TextKind, string> = { search: ',\n', fullText: '\n\n' };

/**
 * The stored form of a sidecar: its JSON, followed by the texts of its pages, in their order: first the parts of all pages in the search index, then
 * their parts of `llms-full.txt`. Both are deflate data, because the files with the texts of all pages are joined from those of chunks.
 */
export async function sidecarBytes(sidecar: SegmentSidecar, pages: readonly PageText[]): Promise<Buffer> {
  if (pages.length === 0) return Buffer.from(JSON.stringify(sidecar));
  const [search, fullText] = await Promise.all([deflatedTexts(pages, 'search'), deflatedTexts(pages, 'fullText')]);
  const texts = { search: search.facts, fullText: fullText.facts };
  const json = JSON.stringify({ ...sidecar, texts });
  return Buffer.concat([Buffer.from(json.slice(0, -1)), textsBegin, search.deflated, fullText.deflated]);
}

async function deflatedTexts(pages: readonly PageText[], kind: TextKind) {
  const raw = textsOf(pages, kind);
  const deflated = await deflateWhole(raw);
  const facts = { sizeBytes: deflated.length, rawLength: raw.length, crc32: crc32(raw) };
  freeBytes(raw);
  return { deflated, facts };
}

/** Adds a checksum over all stored bytes and the key of the segment, which detects corruption and the sidecar of another segment. */
export function withSum(key: string, sidecar: Uint8Array): Buffer {
  const rest = sidecar.subarray(1);
  return Buffer.concat([Buffer.from(sumBegins + sumOf(key, rest) + sumEnds), rest]);
}

/** True for a sidecar with a checksum. Those of other versions may have none. */
export const hasSum = (stored: Uint8Array): boolean =>
  Buffer.from(stored.subarray(0, sumBegins.length)).toString('latin1') === sumBegins;

/** True for a sidecar with the right checksum, or one without. */
export function hasRightSum(key: string, stored: Uint8Array): boolean {
  const sum = Buffer.from(stored.subarray(sumBegins.length, sumBegins.length + sumDigits)).toString('latin1');
  return !hasSum(stored) || sum === sumOf(key, stored.subarray(summedFrom));
}

/**
 * The JSON of a sidecar that is read as a stream, so that its texts do not take memory; undefined if its checksum is wrong. `onBytes` is awaited after
 * each piece with the number of bytes that are kept.
 */
export async function sidecarJson(
  key: string,
  pieces: AsyncIterable<Uint8Array>,
  onBytes: (kept: number) => Promise<void>,
): Promise<Uint8Array | undefined> {
  const kept: Uint8Array[] = [];
  let [position, bytes, sum] = [0, 0, crc32(key)];
  let isJson = true;
  /** The end of the JSON so far, in which `textsBegin` may have begun. */
  let before = Buffer.alloc(0);
  for await (const piece of pieces) {
    sum = crc32(piece.subarray(Math.max(0, summedFrom - position)), sum);
    position += piece.length;
    if (!isJson) continue;
    const near = Buffer.concat([before, piece]);
    isJson = !near.includes(textsBegin);
    before = near.subarray(Math.max(0, near.length - textsBegin.length + 1));
    kept.push(piece);
    bytes += piece.length;
    await onBytes(bytes);
  }
  const { json } = sidecarParts(Buffer.concat(kept));
  const head = Buffer.from(json.subarray(0, summedFrom)).toString('latin1');
  const isRight = !head.startsWith(sumBegins) || head.slice(sumBegins.length, -sumEnds.length) === digitsOf(sum);
  return isRight ? json : undefined;
}

const sumBegins = '{"sum":"';
const sumDigits = 8;
const sumEnds = '",';
const summedFrom = sumBegins.length + sumDigits + sumEnds.length;
const digitsOf = (sum: number): string => sum.toString(16).padStart(sumDigits, '0');
const sumOf = (key: string, rest: Uint8Array): string => digitsOf(crc32(rest, crc32(key)));

/** The texts of one kind of all pages, each with its separator. */
export function textsOf(pages: readonly PageText[], kind: TextKind): Buffer {
  return Buffer.from(pages.map((page) => page[kind] + textEnds[kind]).join(''));
}

/** Splits a stored sidecar into its JSON and the bytes after it. */
export function sidecarParts(stored: Uint8Array): { json: Uint8Array; behind: Uint8Array } {
  const end = Buffer.from(stored.buffer, stored.byteOffset, stored.length).indexOf(textsBegin);
  if (end < 0) return { json: stored, behind: stored.subarray(stored.length) };
  const json = Buffer.concat([stored.subarray(0, end), Buffer.from('}')]);
  return { json, behind: stored.subarray(end + textsBegin.length) };
}

/** Reads the texts of one kind from the bytes after a sidecar's JSON. Undefined if they are damaged. */
export async function readTexts(
  { texts }: Pick<SegmentSidecar, 'texts'>,
  behind: Uint8Array,
  kind: TextKind,
): Promise<DeflatedBytes | undefined> {
  if (texts === undefined) return undefined;
  const { begin, end } = placeOfTexts(texts, kind);
  return inflatedTexts(texts[kind], behind.subarray(begin, end));
}

type StoredTexts = NonNullable<SegmentSidecar['texts']>;

/** Byte offsets of the deflated texts of one kind, in the bytes after a sidecar's JSON. */
export function placeOfTexts(texts: StoredTexts, kind: TextKind): { begin: number; end: number } {
  const begin = kind === 'search' ? 0 : texts.search.sizeBytes;
  return { begin, end: begin + texts[kind].sizeBytes };
}

/** The texts of one kind from their deflated bytes, whose `sha256` the caller may have computed. Undefined if these are damaged. */
export async function inflatedTexts(
  { sizeBytes, rawLength, crc32: sum }: StoredTexts[TextKind],
  deflated: Uint8Array,
  sha256?: string,
): Promise<DeflatedBytes | undefined> {
  if (deflated.length !== sizeBytes) return undefined;
  try {
    // The deflated bytes are copied unchanged into another segment.
    const raw = await inflatePieces(deflated, rawLength, sha256);
    return crc32(raw) === sum ? { raw, deflated, crc32: sum } : undefined;
  } catch {
    return undefined;
  }
}
