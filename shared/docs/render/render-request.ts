import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { type PackedSegment, packPages } from '#shared/export/bundle/packed-segment.ts';
import { isolateFile } from './isolate/isolate-file.ts';
import {
  type DescriptionReaders,
  publishedDescription,
} from '#shared/docs/reference/published/published-description.ts';
import { unreadDescription } from '#shared/docs/reference/published/unread-description.ts';
import type { Ask } from '#shared/docs/sandbox/child-server.ts';
import { drawCard } from './card/draw-card.ts';
import { type CheckedPage, checkedPages } from './checked-page.ts';
import { PageFailed } from './evaluate/evaluation.ts';
import type { ClosingPart } from './closing-part.ts';
import type { ClosingStore, ShortTexts, StoredText } from './closing-store.ts';
import { type ClosedSite, type ClosingInput, renderClosing } from './render-closing.ts';
import { type PageInput, renderFailedPage, renderPage, type RenderedPageFiles } from './render-page.ts';
import { renderSite } from './site/render-site.ts';
import type { RenderedFile } from './bundle-paths.ts';
import type { RenderOptions, SiteRenderOptions } from './page-slice.ts';

/** A request to a rendering child: JSON and byte arrays. */
export type RenderRequest =
  | ({ kind: 'page' } & PageInput)
  /** All pages of a chunk, in their order. `texts`: the texts of their dependencies, by path. */
  | {
      kind: 'chunk';
      domain: string;
      pages: readonly Pick<PageInput, 'slice' | 'source'>[];
      texts: PageInput['dependencies'];
      options: RenderOptions;
    }
  /** Pages whose files are not needed, for checks of a project. `texts`: the texts of their dependencies, by path. */
  | {
      kind: 'checked';
      pages: readonly Pick<PageInput, 'slice' | 'source'>[];
      texts: PageInput['dependencies'];
      options: RenderOptions;
    }
  | { kind: 'failed-page'; slice: PageInput['slice']; source: PageInput['source']; reason: string }
  | { kind: 'site'; model: SiteModel; options: SiteRenderOptions; exported?: readonly string[] }
  /**
   * A file of the project that is isolated because scripts are not allowed. Without a source, the response is a placeholder for a file that cannot be
   * read.
   */
  | { kind: 'isolated-file'; path: string; source: Uint8Array | undefined }
  /**
   * An API description for a bundle. The response has no file if the description can be copied unchanged. Without a source, the response is a
   * placeholder for a file that cannot be read.
   */
  | { kind: 'description'; path: string; source: Uint8Array | undefined; readers: DescriptionReaders }
  /**
   * The child requests parts and delivers the files by `ClosingQuestion`. `model`: the JSON of the site model as it is stored, because the service of the
   * child need not parse it.
   */
  | ({ kind: 'closing'; model: Uint8Array } & Omit<ClosingInput, 'model'>);

/** The response. A page that exceeds a limit is rendered as its plain source, with a finding for its author. */
export type RenderResponse =
  | ({ kind: 'page' } & RenderedPageFiles)
  | ({ kind: 'packed' } & PackedSegment)
  | { kind: 'checked'; pages: CheckedPage[] }
  | { kind: 'files'; files: RenderedFile[] }
  | ({ kind: 'closed' } & ClosedSite);

/**
 * A question of a child that renders the closing segment. Each comment names the answer. A file is written by one `begin`, its `bytes` and `texts`,
 * and an `end`.
 */
export type ClosingQuestion =
  /** Answer: an `AnsweredPart`, the next of the run; undefined if a sidecar of the run is missing. */
  | { kind: 'part'; run: number }
  /** Answer: the bytes of the text. */
  | ({ kind: 'text' } & StoredText)
  | { kind: 'begin'; path: string; size: number }
  | { kind: 'bytes'; bytes: Uint8Array }
  /** Copies these texts into the file. */
  | { kind: 'texts'; texts: readonly StoredText[] }
  /** Answer: the lengths of these search texts shortened to sections of `longest` characters; null for those that are not kept. */
  | { kind: 'short-sizes'; longest: number; texts: readonly StoredText[] }
  /** Copies these shortened texts into the file, and keeps those that were made. */
  | ({ kind: 'short' } & ShortTexts)
  /** Answer: the SHA-256 of the file. */
  | { kind: 'end' };

/** A part for the child. `json`: a `ClosingPart` as bytes, because a message with its thousands of values would cost more. */
export type AnsweredPart = { json: Uint8Array; segmentCount: number; isLast: boolean };

/** Answers one request. Throws only for faults of Bindery, not of the tenant's sources. */
export async function handleRenderRequest(request: unknown, ask: Ask): Promise<RenderResponse> {
  const asked = request as RenderRequest;
  switch (asked.kind) {
    case 'page':
      return { kind: 'page', ...(await renderWithinLimits(asked)) };
    case 'chunk':
      return { kind: 'packed', ...(await renderChunk(asked)) };
    case 'checked':
      return { kind: 'checked', pages: checkedPages(asked) };
    case 'failed-page':
      return { kind: 'page', ...renderFailedPage(asked, asked.reason) };
    case 'site':
      return { kind: 'files', files: renderSite(asked.model, asked.options, asked.exported) };
    case 'isolated-file':
      return { kind: 'files', files: [{ path: asked.path, body: isolateFile(asked.path, asked.source) }] };
    case 'description': {
      const { path, source, readers } = asked;
      const body = source === undefined ? unreadDescription : publishedDescription(source, path, readers);
      return { kind: 'files', files: body === undefined ? [] : [{ path, body }] };
    }
    case 'closing': {
      const model = jsonOf(asked.model) as SiteModel;
      return { kind: 'closed', ...(await renderClosing({ ...asked, model }, askingStore(ask))) };
    }
  }
}

/** Renders the page, or its plain source with a notice if it exceeds a limit. One oversized page does not stop the export of its site. */
async function renderWithinLimits(page: PageInput): Promise<RenderedPageFiles> {
  try {
    const { card, seen: _, ...rendered } = renderPage(page);
    if (card === undefined) return rendered;
    const picture = { path: card.path, body: await drawCard(card.svg) };
    return { ...rendered, pictures: [...(rendered.pictures ?? []), picture] };
  } catch (error) {
    if (!(error instanceof PageFailed)) throw error;
    return renderFailedPage(page, `This page is shown as plain text: ${error.reason}`, error.code);
  }
}

async function renderChunk(asked: Extract<RenderRequest, { kind: 'chunk' }>): Promise<PackedSegment> {
  const { domain, pages, texts, options } = asked;
  const rendered: RenderedPageFiles[] = [];
  for (const { slice, source } of pages) {
    // Only the page's own dependencies are passed on, because the key of the segment covers no others.
    const own = slice.dependencies.map(({ path }) => [path, texts[path] ?? '']);
    const dependencies = Object.fromEntries(own) as PageInput['dependencies'];
    rendered.push(await renderWithinLimits({ slice, source, dependencies, options }));
  }
  const files = rendered.flatMap((page) => [...page.files, ...(page.pictures ?? [])]);
  return packPages(
    domain,
    files,
    rendered.map(({ page }) => page),
  );
}

/** The value of JSON that services made, so it is not validated. */
const jsonOf = (bytes: Uint8Array): unknown =>
  JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());

function askingStore(ask: Ask): ClosingStore {
  const question = (content: ClosingQuestion): Promise<unknown> => ask(content);
  return {
    async part(run) {
      const answer = (await question({ kind: 'part', run })) as AnsweredPart | undefined;
      if (answer === undefined) return undefined;
      const { json, ...place } = answer;
      return { part: jsonOf(json) as ClosingPart, ...place };
    },
    text: async (stored) => (await question({ kind: 'text', ...stored })) as Uint8Array,
    shortSizes: async (longest, texts) =>
      (await question({ kind: 'short-sizes', longest, texts })) as (number | null)[],
    async write(path, size, body) {
      await question({ kind: 'begin', path, size });
      for (const piece of body) {
        if (piece instanceof Uint8Array) await question({ kind: 'bytes', bytes: piece });
        else await question('longest' in piece ? { kind: 'short', ...piece } : { kind: 'texts', texts: piece });
      }
      return (await question({ kind: 'end' })) as string;
    },
  };
}
