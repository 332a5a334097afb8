import type { PageText, RenderedPage, SegmentSidecar } from '#shared/contracts/stored-objects.ts';
import { packRendered } from './pack-export.ts';
import type { SegmentSummary } from './segment-writer.ts';

/** The bytes of a segment and of its sidecar, as they are stored. */
export type PackedSegment = { segment: Uint8Array; sidecar: Uint8Array };

/** Packs rendered files, in their order, with the sidecar that says what is known of `pages`. `domain`: the top folder of the files. */
export async function packPages(
  domain: string,
  files: readonly { path: string; body: Uint8Array }[],
  pages: readonly RenderedPage[],
): Promise<PackedSegment> {
  const { bytes, ...summary } = await packRendered(domain, files);
  const facts = pages.map(({ fullText: _1, search: _2, ...rest }) => rest);
  return { segment: bytes, sidecar: sidecarBytes(sidecarOf({ ...summary, pages: facts }), pages) };
}

/** Adds what a segment without pages has. */
export function sidecarOf(details: SegmentSummary & Partial<SegmentSidecar>): SegmentSidecar {
  return { version: 1, pages: [], diagnostics: [], ...details };
}

/** JSON has no line ends in its strings, so this is nowhere else. Older programs read to here, and so does who needs no texts. */
export const textsBegin = Buffer.from(',"texts":[\n');

/** What stands behind each text of a page, and between two of them in the file that has them all. */
export const textEnds = { search: ',\n', fullText: '\n\n' };

/**
 * What is stored of a sidecar: its JSON, and behind it the texts of its pages, in their order: first what the search index has of each, then
 * its part of `llms-full.txt`. So the texts of neighbours can be copied in one piece.
 */
export function sidecarBytes(sidecar: SegmentSidecar, texts: readonly PageText[]): Buffer {
  return Buffer.concat([Buffer.from(JSON.stringify(sidecar).slice(0, -1)), textsBegin, sidecarTexts(texts)]);
}

/** What stands behind the JSON. */
export function sidecarTexts(texts: readonly PageText[]): Buffer {
  const parts = (kind: keyof PageText): string[] => texts.map((text) => text[kind] + textEnds[kind]);
  return Buffer.from([...parts('search'), ...parts('fullText')].join(''));
}
