import type { SegmentSidecar } from '#shared/contracts/stored-objects.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { isolateFile } from './isolate/isolate-file.ts';
import { PageFailed } from './evaluate/evaluation.ts';
import { type ClosingInput, renderClosing } from './render-closing.ts';
import { type PageInput, renderFailedPage, renderPage, type RenderedPageFiles } from './render-page.ts';
import { renderSite } from './site/render-site.ts';
import type { RenderedFile } from './bundle-paths.ts';
import type { RenderOptions } from './page-slice.ts';

/** A request to a rendering child. All of it passes structured clone. */
export type RenderRequest =
  | ({ kind: 'page' } & PageInput)
  | { kind: 'failed-page'; slice: PageInput['slice']; source: PageInput['source']; reason: string }
  | { kind: 'site'; model: SiteModel; options: RenderOptions; exported?: readonly string[] }
  /** A file of the project where its scripts are not allowed; without a source, what stands for one that cannot be read. */
  | { kind: 'isolated-file'; path: string; source: Uint8Array | undefined }
  | ({ kind: 'closing' } & Omit<ClosingInput, 'sidecars'> & { sidecars: SegmentSidecar[] });

/** The answer. A page that breaks a limit is `page-failed`, with a sentence for its author: another attempt would not help. */
export type RenderResponse =
  | ({ kind: 'page' } & RenderedPageFiles)
  | { kind: 'page-failed'; code: string; reason: string }
  | { kind: 'files'; files: RenderedFile[] };

/** Answers one request. Throws only for our own faults. */
export function handleRenderRequest(request: unknown): RenderResponse {
  const asked = request as RenderRequest;
  switch (asked.kind) {
    case 'page':
      try {
        return { kind: 'page', ...renderPage(asked) };
      } catch (error) {
        if (error instanceof PageFailed) return { kind: 'page-failed', code: error.code, reason: error.reason };
        throw error;
      }
    case 'failed-page':
      return { kind: 'page', ...renderFailedPage(asked, asked.reason) };
    case 'site':
      return { kind: 'files', files: renderSite(asked.model, asked.options, asked.exported) };
    case 'isolated-file':
      return { kind: 'files', files: [{ path: asked.path, body: isolateFile(asked.path, asked.source) }] };
    case 'closing':
      return { kind: 'files', files: renderClosing(asked) };
  }
}
