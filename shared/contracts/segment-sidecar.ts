import { z } from 'zod';
import { diagnosticSchema } from './diagnostic.ts';
import { sha256Hex } from './identifiers.ts';

/** What the closing segment needs of one rendered page. `path` as readers know it (`guides/x`). */
export const renderedPageSchema = z.object({
  path: z.string(),
  title: z.string(),
  description: z.string().optional(),
  /** Markdown twin, as in `<page>.md`; for `llms-full.txt`. */
  markdown: z.string(),
  /** Sections of the visible text, for the search index: heading anchor ('' before the first heading), heading, text. */
  sections: z.array(z.object({ anchor: z.string(), heading: z.string(), text: z.string() })),
  /** Internal link targets as written, `/`-rooted, without query; with `#anchor`. */
  links: z.array(z.string()),
  anchors: z.array(z.string()),
  /** Class names used in the page's own content. */
  classes: z.array(z.string()),
  diagnostics: z.array(diagnosticSchema),
  /** Why the page shows its plain source instead, with `onPageError: "report"`. */
  failure: z.string().optional(),
  /** Feed entries (`Update`) of the page. */
  feedItems: z.array(z.object({ anchor: z.string(), title: z.string(), text: z.string(), tags: z.array(z.string()) })),
});

export type RenderedPage = z.infer<typeof renderedPageSchema>;

/** Describes a segment; stored after it, so a sidecar that exists means that there is nothing to render. */
export const segmentSidecarSchema = z.object({
  version: z.literal(1),
  sha256: sha256Hex,
  /** CRC-32 of the raw (inflated) bytes. */
  crc32: z.int().min(0),
  rawLength: z.int().min(0),
  sizeBytes: z.int().min(0),
  files: z.array(z.object({ path: z.string(), size: z.int().min(0), sha256: sha256Hex })),
  pages: z.array(renderedPageSchema),
  diagnostics: z.array(diagnosticSchema),
  /** Only of a closing segment: SHA-256 over the SHA-256s of the segments whose files its manifest lists (`shared/export-objects/made-from.ts`). */
  madeFrom: sha256Hex.optional(),
});

export type SegmentSidecar = z.infer<typeof segmentSidecarSchema>;
