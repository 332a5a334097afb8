import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type PageFacts, type SegmentSidecar, segmentSidecarSchema } from '#shared/contracts/stored-objects.ts';
import { fitting } from '#shared/docs/sandbox/child-messages.ts';
import { Misfit, parseJson } from '#shared/docs/sandbox/frames.ts';
import { inflatePieces } from '#shared/export/bundle/deflated-bytes.ts';
import { archivePath } from '#shared/export/bundle/pack-export.ts';
import { type PackedSegment, sidecarParts, textEnds, type TextKind } from '#shared/export/bundle/packed-segment.ts';
import { tarHeader, tarPadding } from '#shared/export/bundle/tar-header.ts';
import { freeBytes } from '#shared/runtime/free-bytes.ts';
import { isOfPage } from './bundle-paths.ts';

/** Limits of the JSON in the sidecar of a chunk. */
const sidecarLimits = { values: 2_000_000, names: 20_000 };
/**
 * Limit of the JSON in the sidecar of a chunk in bytes. Orchestrator and bundlers, which work for all organizations, read several sidecars at a time.
 */
export const mostSidecarJson = 32 * 1024 * 1024;
/** Limit of the deflated texts of a chunk's pages. */
const mostDeflatedTexts = 64 * 1024 * 1024;
/** Limit of a chunk's uncompressed size: 32 pages of some megabytes each, or one large page with its pictures. */
export const mostRawBytes = 256 * 1024 * 1024;
/** Names of files that the closing segment includes if a page needs them. */
const fileName = /^[\w-]{1,64}$/;

/**
 * Throws `Misfit` unless these are the bytes that `packPages` makes of exactly the files of these pages, in this order. The segment goes into the
 * bundle unchanged, and a page may have taken over the child that made it: after this check such a child can have written anything into the files of
 * its own pages, but has added no other file and not changed files of other pages.
 */
export async function checkPacked(
  { segment, sidecar }: PackedSegment,
  domain: string,
  pages: readonly string[],
): Promise<void> {
  const { json, behind } = sidecarParts(sidecar);
  if (json.length > mostSidecarJson || behind.length > mostDeflatedTexts) {
    throw new Misfit('it packed a sidecar that is larger than pages need');
  }
  // The sum is inserted before the first field, so the sidecar must begin with `{`.
  if (json[0] !== 0x7b) throw new Misfit('it packed a sidecar that is not a JSON object');
  const facts = fitting(segmentSidecarSchema, parseJson(json, sidecarLimits), 'a sidecar');
  checkPages(facts, pages);
  if (facts.sizeBytes !== segment.length || facts.sha256 !== hash('sha256', segment, 'hex')) {
    throw new Misfit('it stated a wrong size or hash of its segment');
  }
  const raw = await inflated(segment, facts.rawLength, 'a segment');
  checkSum(raw, facts, 'a segment');
  let at = 0;
  const expect = (bytes: Uint8Array): void => {
    const end = at + bytes.length;
    if (end > raw.length || raw.compare(bytes, 0, bytes.length, at, end) !== 0) {
      throw new Misfit('it packed other bytes than the files that it listed');
    }
    at = end;
  };
  for (const { path, size, sha256 } of facts.files) {
    expect(tarHeader(path, size));
    if (hash('sha256', raw.subarray(at, at + size), 'hex') !== sha256) {
      throw new Misfit('it stated a wrong hash of a file');
    }
    at += size;
    expect(tarPadding(size));
  }
  if (at !== raw.length) throw new Misfit('it packed more than the files that it listed');
  freeBytes(raw);
  checkFiles(facts, domain, pages);
  await checkTexts(facts, behind);
}

function checkPages({ pages }: SegmentSidecar, expected: readonly string[]): void {
  if (pages.length !== expected.length || pages.some(({ path }, at) => path !== expected[at])) {
    throw new Misfit('it described other pages than it was given');
  }
  for (const { playground, mathFonts = [] } of pages)
    checkNames(...mathFonts, ...(playground === undefined ? [] : [playground]));
}

function checkNames(...names: readonly string[]): void {
  if (!names.every((name) => fileName.test(name))) throw new Misfit('it named a file that no page needs');
}

/** Checks the order of files: HTML and Markdown of each page, then its optional files (script of its islands, styles, pictures). */
function checkFiles({ files }: SegmentSidecar, domain: string, pages: readonly string[]): void {
  let at = 0;
  const isNext = (path: string): boolean => files[at]?.path === archivePath(domain, path);
  for (const page of pages) {
    for (const path of filesOfPage(page)) {
      if (!isNext(path)) throw new Misfit('it packed other files than those of its pages');
      at += 1;
    }
    const top = archivePath(domain, '');
    const further = new Set<string>();
    for (let file = files[at]?.path.slice(top.length); file !== undefined && isOfPage(file, page); ) {
      if (!isNext(file) || further.has(file)) throw new Misfit('it packed a file twice');
      further.add(file);
      at += 1;
      file = files[at]?.path.slice(top.length);
    }
  }
  if (at < files.length) throw new Misfit('it packed other files than those of its pages');
}

/** The files that a page always has in a bundle, in this order. The files that `isOfPage` accepts follow them. */
export const filesOfPage = (page: string): [html: string, markdown: string] => [`${page}.html`, `${page}.md`];

/** Checks the texts of all pages together. The text of a single page is checked when it is read. */
async function checkTexts({ texts, pages }: SegmentSidecar, behind: Uint8Array): Promise<void> {
  if (texts === undefined) throw new Misfit('it packed pages without their texts');
  const { search, fullText } = texts;
  if (search.sizeBytes + fullText.sizeBytes !== behind.length) {
    throw new Misfit('it packed other texts than it listed');
  }
  for (const [kind, field] of [
    ['search', 'searchBytes'],
    ['fullText', 'fullTextBytes'],
  ] satisfies [TextKind, keyof PageFacts][]) {
    const told = pages.reduce((sum, page) => sum + page[field] + textEnds[kind].length, 0);
    if (told !== texts[kind].rawLength) throw new Misfit('it stated wrong lengths of page texts');
  }
  const raw = await inflated(behind, search.rawLength + fullText.rawLength, 'texts');
  checkSum(raw.subarray(0, search.rawLength), search, 'texts');
  checkSum(raw.subarray(search.rawLength), fullText, 'texts');
  freeBytes(raw);
}

async function inflated(deflated: Uint8Array, rawLength: number, what: string): Promise<Buffer> {
  if (rawLength > mostRawBytes) throw new Misfit(`it packed ${what} of more than ${mostRawBytes} bytes`);
  return inflatePieces(deflated, rawLength).catch((error: unknown) => {
    throw new Misfit(`it packed ${what} that cannot be joined to others`, { cause: error });
  });
}

function checkSum(raw: Uint8Array, told: { crc32: number }, what: string): void {
  if (crc32(raw) !== told.crc32) throw new Misfit(`it stated a wrong checksum of ${what}`);
}
