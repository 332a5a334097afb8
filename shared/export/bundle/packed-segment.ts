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
  const facts = pages.map(({ markdown: _1, sections: _2, ...rest }) => rest);
  const texts = pages.map(({ markdown, sections }) => ({ markdown, sections }));
  return { segment: bytes, sidecar: sidecarBytes(sidecarOf({ ...summary, pages: facts }), texts) };
}

/** Adds what a segment without pages has. */
export function sidecarOf(details: SegmentSummary & Partial<SegmentSidecar>): SegmentSidecar {
  return { version: 1, pages: [], diagnostics: [], ...details };
}

/** JSON has no line ends in its strings, so this is nowhere else. */
export const textsBegin = Buffer.from(',"texts":[\n');
export const textsEnd = Buffer.from('\n]}');

/** What is stored of a sidecar: one JSON object, whose last field has the texts of its pages in lines of their own, so that they can be left out. */
export function sidecarBytes(sidecar: SegmentSidecar, texts: readonly PageText[]): Buffer {
  const lines = texts.map((text) => JSON.stringify(text)).join(',\n');
  return Buffer.concat([Buffer.from(JSON.stringify(sidecar).slice(0, -1)), textsBegin, Buffer.from(lines), textsEnd]);
}
