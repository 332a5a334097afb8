import type { RenderedPage } from '#shared/contracts/segment-sidecar.ts';
import type { SiteModel } from '#shared/docs-project/site-model.ts';
import { scriptJson } from '../shell/html.ts';

const MAX_SECTION = 1200;
const MAX_TOTAL = 24 * 1024 * 1024;

/**
 * `_bindery/search-index.js`: pages as `[path, title, description]`, sections as `[page, anchor, heading, text]`, for the search that
 * needs no server. Long sections are cut, and all of them shorter where the site is so large that the file would be.
 */
export function searchIndexScript(model: SiteModel, pages: readonly RenderedPage[]): string {
  const searchable = new Set(model.pages.filter((page) => page.searchable).map((page) => page.path));
  const found = pages.filter((page) => searchable.has(page.path));
  const total = found.reduce(
    (sum, page) => sum + page.sections.reduce((size, section) => size + Math.min(MAX_SECTION, section.text.length), 0),
    0,
  );
  const longest = total <= MAX_TOTAL ? MAX_SECTION : Math.max(80, Math.floor((MAX_SECTION * MAX_TOTAL) / total));
  const lines = [
    'window.binderySearchIndex={"pages":[',
    found.map((page) => scriptJson([page.path, page.title, page.description ?? ''])).join(',\n'),
    '],"sections":[',
    found
      .flatMap((page, number) =>
        page.sections.map((section) =>
          scriptJson([number, section.anchor, section.heading, section.text.slice(0, longest).toWellFormed()]),
        ),
      )
      .join(',\n'),
    ']};\n',
  ];
  return lines.join('\n');
}
