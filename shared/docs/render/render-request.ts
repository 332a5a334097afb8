import type { SegmentSidecar } from '#shared/contracts/stored-objects.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { type PackedSegment, packPages } from '#shared/export/bundle/packed-segment.ts';
import { isolateFile } from './isolate/isolate-file.ts';
import {
  type DescriptionReaders,
  publishedDescription,
} from '#shared/docs/reference/published/published-description.ts';
import type { Ask } from '#shared/docs/sandbox/child-server.ts';
import { PageFailed } from './evaluate/evaluation.ts';
import type { ClosingStore, StoredText } from './closing-store.ts';
import { type ClosingInput, renderClosing } from './render-closing.ts';
import { type PageInput, renderFailedPage, renderPage, type RenderedPageFiles } from './render-page.ts';
import { renderSite } from './site/render-site.ts';
import type { RenderedFile } from './bundle-paths.ts';
import type { RenderOptions, SiteRenderOptions } from './page-slice.ts';

/** A request to a rendering child. All of it is JSON, with bytes in it. */
export type RenderRequest =
  | ({ kind: 'page' } & PageInput)
  /** All pages of a chunk, in their order. `texts`: those of their dependencies, by path. */
  | {
      kind: 'chunk';
      domain: string;
      pages: readonly Pick<PageInput, 'slice' | 'source'>[];
      texts: PageInput['dependencies'];
      options: RenderOptions;
    }
  | { kind: 'failed-page'; slice: PageInput['slice']; source: PageInput['source']; reason: string }
  | { kind: 'site'; model: SiteModel; options: SiteRenderOptions; exported?: readonly string[] }
  /** A file of the project where its scripts are not allowed; without a source, what stands for one that cannot be read. */
  | { kind: 'isolated-file'; path: string; source: Uint8Array | undefined }
  /** An API description as a bundle may have it: no file when it may be there as it is. Without a source, what stands for one that cannot be read. */
  | { kind: 'description'; path: string; source: Uint8Array | undefined; readers: DescriptionReaders }
  /** The child asks for sidecars, and gives the files, by `ClosingQuestion`. */
  | ({ kind: 'closing' } & ClosingInput);

/** The answer. A page that breaks a limit is `page-failed`, with a sentence for its author: another attempt would not help. */
export type RenderResponse =
  | ({ kind: 'page' } & RenderedPageFiles)
  | { kind: 'page-failed'; code: string; reason: string }
  | ({ kind: 'packed' } & PackedSegment)
  /** A page of the chunk is `page-failed`: they must be rendered one by one. */
  | { kind: 'not-packed' }
  | { kind: 'files'; files: RenderedFile[] }
  /** `lost`: segments without a sidecar; then the files are not whole. */
  | { kind: 'closed'; lost: number[] };

/** What a child asks while it renders the closing segment, and the answer. A file is written by one `begin`, its `bytes` and `texts`, and an `end`. */
export type ClosingQuestion =
  /** `SegmentSidecar`, or undefined. */
  | { kind: 'sidecar'; segment: number }
  /** Its bytes. */
  | ({ kind: 'text' } & StoredText)
  | { kind: 'begin'; path: string; size: number }
  | { kind: 'bytes'; bytes: Uint8Array }
  /** Copies these texts into the file. */
  | { kind: 'texts'; texts: readonly StoredText[] }
  /** SHA-256 of the file. */
  | { kind: 'end' };

/** Answers one request. Throws only for our own faults. */
export async function handleRenderRequest(request: unknown, ask: Ask): Promise<RenderResponse> {
  const asked = request as RenderRequest;
  switch (asked.kind) {
    case 'page':
      try {
        return { kind: 'page', ...renderPage(asked) };
      } catch (error) {
        if (error instanceof PageFailed) return { kind: 'page-failed', code: error.code, reason: error.reason };
        throw error;
      }
    case 'chunk':
      try {
        return { kind: 'packed', ...(await renderChunk(asked)) };
      } catch (error) {
        if (error instanceof PageFailed) return { kind: 'not-packed' };
        throw error;
      }
    case 'failed-page':
      return { kind: 'page', ...renderFailedPage(asked, asked.reason) };
    case 'site':
      return { kind: 'files', files: renderSite(asked.model, asked.options, asked.exported) };
    case 'isolated-file':
      return { kind: 'files', files: [{ path: asked.path, body: isolateFile(asked.path, asked.source) }] };
    case 'description': {
      const { path, source, readers } = asked;
      const body = source === undefined ? Buffer.from('{}\n') : publishedDescription(source, path, readers);
      return { kind: 'files', files: body === undefined ? [] : [{ path, body }] };
    }
    case 'closing':
      return { kind: 'closed', ...(await renderClosing(asked, askingStore(ask))) };
  }
}

async function renderChunk(asked: Extract<RenderRequest, { kind: 'chunk' }>): Promise<PackedSegment> {
  const { domain, pages, texts, options } = asked;
  const rendered = pages.map(({ slice, source }) => {
    // No others: the key of a segment is made from those.
    const own = slice.dependencies.map(({ path }) => [path, texts[path] ?? '']);
    const dependencies = Object.fromEntries(own) as PageInput['dependencies'];
    return renderPage({ slice, source, dependencies, options });
  });
  const files = rendered.flatMap((page) => page.files);
  return packPages(
    domain,
    files,
    rendered.map(({ page }) => page),
  );
}

function askingStore(ask: Ask): ClosingStore {
  const question = (content: ClosingQuestion): Promise<unknown> => ask(content);
  return {
    sidecar: async (segment) => (await question({ kind: 'sidecar', segment })) as SegmentSidecar | undefined,
    text: async (stored) => (await question({ kind: 'text', ...stored })) as Uint8Array,
    async write(path, size, body) {
      await question({ kind: 'begin', path, size });
      for (const piece of body) {
        await question(piece instanceof Uint8Array ? { kind: 'bytes', bytes: piece } : { kind: 'texts', texts: piece });
      }
      return (await question({ kind: 'end' })) as string;
    },
  };
}
