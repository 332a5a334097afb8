import type { RenderedPage } from '#shared/contracts/stored-objects.ts';
import type { SeenAddresses } from './content/page-addresses.ts';
import { PageFailed } from './evaluate/evaluation.ts';
import { type PageInput, renderFailedPage, renderPage } from './render-page.ts';

/** The facts of a rendered page that a check of its project uses. */
export type CheckedPage = Pick<RenderedPage, 'path' | 'anchors' | 'diagnostics'> & {
  /** The page has entries, so a feed is made of it. */
  hasFeed: boolean;
  /** Size of the page's HTML. */
  htmlBytes: number;
  seen: SeenAddresses;
};

/** Renders pages and keeps only their facts. Throws only for faults of Bindery, not of the pages. */
export function checkedPages({
  pages,
  texts,
  options,
}: {
  pages: readonly Pick<PageInput, 'slice' | 'source'>[];
  texts: PageInput['dependencies'];
  options: PageInput['options'];
}): CheckedPage[] {
  return pages.map(({ slice, source }) => {
    const own = slice.dependencies.map(({ path }) => [path, texts[path] ?? '']);
    return checkedPage({ slice, source, dependencies: Object.fromEntries(own) as PageInput['dependencies'], options });
  });
}

function checkedPage(input: PageInput): CheckedPage {
  try {
    const { page, files, seen } = renderPage(input);
    return factsOf(page, files[0]?.body ?? '', seen);
  } catch (error) {
    if (!(error instanceof PageFailed)) throw error;
    const { page, files } = renderFailedPage(input, `This page is shown as plain text: ${error.reason}`, error.code);
    return factsOf(page, files[0]?.body ?? '', { links: [], external: [], media: [] });
  }
}

const factsOf = (
  { path, anchors, diagnostics, feedItems }: RenderedPage,
  html: string,
  seen: SeenAddresses,
): CheckedPage => ({
  ...{ path, anchors, diagnostics, seen },
  hasFeed: feedItems.length > 0,
  htmlBytes: Buffer.byteLength(html),
});
