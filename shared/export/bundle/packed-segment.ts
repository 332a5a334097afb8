import { crc32 } from 'node:zlib';
import {
  pageFactsSchema,
  type PageText,
  type RenderedPage,
  type SegmentSidecar,
} from '#shared/contracts/stored-objects.ts';
import { deflateWhole, inflatePieces } from './deflated-bytes.ts';
import { packRendered } from './pack-export.ts';
import type { DeflatedBytes, FileToPack, SegmentSummary } from './segment-writer.ts';

/** The bytes of a segment and of its sidecar, as they are stored. */
export type PackedSegment = { segment: Uint8Array; sidecar: Uint8Array };

/** Packs rendered files, in their order, with the sidecar that says what is known of `pages`. `domain`: the top folder of the files. */
export async function packPages(
  domain: string,
  files: readonly FileToPack[],
  pages: readonly RenderedPage[],
): Promise<PackedSegment> {
  const { bytes, ...summary } = await packRendered(domain, files);
  // In the order of the schema, whether they were rendered here or came from a child.
  const facts = pages.map((page) => pageFactsSchema.parse(page));
  return { segment: bytes, sidecar: await sidecarBytes(sidecarOf({ ...summary, pages: facts }), pages) };
}

/** Adds what a segment without pages has. */
export function sidecarOf(details: SegmentSummary & Partial<SegmentSidecar>): SegmentSidecar {
  return { version: 1, pages: [], diagnostics: [], ...details };
}

/** JSON has no line ends in its strings, so this is nowhere else. Who needs no texts reads to here. */
const textsBegin = Buffer.from(',"texts":[\n');

export type TextKind = keyof PageText;

/** What stands behind each text of a page in the file that has those of all pages. */
export const textEnds: Record<TextKind, string> = { search: ',\n', fullText: '\n\n' };

/**
 * What is stored of a sidecar: its JSON, and behind it the texts of its pages, in their order: first what the search index has of each, then
 * its part of `llms-full.txt`. Both are deflate data: the files that have the texts of all pages are joined from those of chunks.
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
  return { deflated, facts: { sizeBytes: deflated.length, rawLength: raw.length, crc32: crc32(raw) } };
}

/** With a sum of all that is stored, and of the key of its segment: what a disk changed, or another segment's sidecar, is told from what was written. */
export function withSum(key: string, sidecar: Uint8Array): Buffer {
  const rest = sidecar.subarray(1);
  return Buffer.concat([Buffer.from(sumBegins + sumOf(key, rest) + sumEnds), rest]);
}

/** A sidecar that another version stored without a sum is taken as it is. */
export function hasRightSum(key: string, stored: Uint8Array): boolean {
  const [begin, end] = [sumBegins.length, sumBegins.length + sumDigits];
  const head = Buffer.from(stored.subarray(0, end)).toString('latin1');
  return !head.startsWith(sumBegins) || head.slice(begin) === sumOf(key, stored.subarray(end + sumEnds.length));
}

const sumBegins = '{"sum":"';
const sumDigits = 8;
const sumEnds = '",';
const sumOf = (key: string, rest: Uint8Array): string => crc32(rest, crc32(key)).toString(16).padStart(sumDigits, '0');

/** The texts of one kind, each with its end. */
export function textsOf(pages: readonly PageText[], kind: TextKind): Buffer {
  return Buffer.from(pages.map((page) => page[kind] + textEnds[kind]).join(''));
}

/** The JSON of a stored sidecar, and what stands behind it. */
export function sidecarParts(stored: Uint8Array): { json: Uint8Array; behind: Uint8Array } {
  const end = Buffer.from(stored.buffer, stored.byteOffset, stored.length).indexOf(textsBegin);
  if (end < 0) return { json: stored, behind: stored.subarray(stored.length) };
  const json = Buffer.concat([stored.subarray(0, end), Buffer.from('}')]);
  return { json, behind: stored.subarray(end + textsBegin.length) };
}

/** The texts of one kind from `behind` a sidecar. Undefined when they are damaged. */
export async function readTexts(
  { texts }: Pick<SegmentSidecar, 'texts'>,
  behind: Uint8Array,
  kind: TextKind,
): Promise<DeflatedBytes | undefined> {
  if (texts === undefined) return undefined;
  const begin = kind === 'search' ? 0 : texts.search.sizeBytes;
  const { sizeBytes, rawLength, crc32: sum } = texts[kind];
  const deflated = behind.subarray(begin, begin + sizeBytes);
  if (deflated.length !== sizeBytes) return undefined;
  try {
    // They become part of another segment as they are.
    const raw = await inflatePieces(deflated, rawLength);
    return crc32(raw) === sum ? { raw, deflated } : undefined;
  } catch {
    return undefined;
  }
}
