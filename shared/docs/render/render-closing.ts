import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { ExportPlan, RenderedPage, SegmentSidecar } from '#shared/contracts/stored-objects.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { bundleNames } from '#shared/export/bundle/bundle-names.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import {
  decoded,
  pageAddress,
  pageFile,
  pageNames,
  pagePathOfAddress,
  type RenderedFile,
  siteBase,
} from './bundle-paths.ts';
import { escapeHtml, scriptJson } from './html.ts';
import { fullText } from './site/crawler-files.ts';
import type { SearchIndex } from './site/page-globals.ts';
import { classCss } from './site/utility-classes.ts';

export type ClosingInput = {
  model: SiteModel;
  plan: Pick<ExportPlan, 'domain' | 'label' | 'contentVersion' | 'rendererVersion' | 'deployment' | 'groups'>;
  /** Sidecars of all segments in plan order; file paths in them start with the top folder, the domain's slug. */
  sidecars: Iterable<SegmentSidecar>;
};

const generator = 'Bindery';
const unlisted = new Set(['_bindery/config.js', '_bindery/manifest.json']);

/**
 * Files of the closing segment, which need all pages, sorted by path, the manifest last. The manifest lists every file of the bundle except
 * itself and `_bindery/config.js`. The same sidecars give the same bytes.
 */
export function renderClosing({ model, plan, sidecars }: ClosingInput): RenderedFile[] {
  const pages: RenderedPage[] = [];
  const listed = new Map<string, { size: number; sha256: string }>();
  const topFolder = `${plan.domain}/`;
  for (const sidecar of sidecars) {
    pages.push(...sidecar.pages);
    for (const { path, size, sha256 } of sidecar.files) {
      listed.set(path.startsWith(topFolder) ? path.slice(topFolder.length) : path, { size, sha256 });
    }
  }
  const exported = new Set(pages.map((page) => page.path));
  const files = new Map<string, string>();
  files.set('_bindery/search-index.js', searchIndexScript(model, pages));
  files.set('_bindery/report.json', exportReport(model, pages, new Set(listed.keys())));
  files.set('_bindery/classes.css', classCss(pages));
  // A file of the project replaces a generated one.
  const names = bundleNames();
  for (const path of listed.keys()) names.take(path);
  const put = (path: string, text: string | undefined): void => {
    if (text !== undefined && names.take(path) === undefined) files.set(path, text);
  };
  put('llms-full.txt', fullText(model, pages));
  for (const page of pages) put(`${page.path}/rss.xml`, pageFeed(model, page));

  const made = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, text]) => ({ path, body: Buffer.from(text) }));
  for (const { path, body } of made) listed.set(path, { size: body.length, sha256: sha256Of(body) });
  const manifest = {
    formatVersion: 1,
    generator,
    rendererVersion: plan.rendererVersion,
    domain: plan.domain,
    ...(plan.label !== undefined && { label: plan.label }),
    contentVersion: plan.contentVersion,
    deployment: plan.deployment,
    pageCount: exported.size,
    files: [...listed]
      .filter(([path]) => !unlisted.has(path))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, { size, sha256 }]) => ({ path, size, sha256 })),
  };
  return [...made, { path: '_bindery/manifest.json', body: Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`) }];
}

type BrokenLink = { page: string; target: string; reason: 'no such page or file' | 'no such anchor' };

/**
 * `_bindery/report.json`: what authors should know about this export. It has diagnostics by page, failed pages, and broken links, which can be
 * found only when all pages are there. `files`: paths of all files of the bundle.
 */
function exportReport(model: SiteModel, pages: readonly RenderedPage[], files: ReadonlySet<string>): string {
  const anchors = new Map(pages.map((page) => [page.path, new Set(page.anchors)]));
  const redirected = new Set(model.redirects.map(({ source }) => source.replace(/\/+$/, '')));
  const brokenLinks: BrokenLink[] = [];
  for (const page of pages) {
    for (const target of page.links) {
      const reason = problemOf(target, anchors, files, redirected);
      if (reason !== undefined) brokenLinks.push({ page: page.path, target, reason });
    }
  }
  const withDiagnostics = pages.filter((page) => page.diagnostics.length > 0);
  const report = {
    formatVersion: 1,
    summary: {
      pages: pages.length,
      failedPages: pages.filter((page) => page.failure !== undefined).length,
      ...countBySeverity([...model.diagnostics, ...pages.flatMap((page) => page.diagnostics)]),
      brokenLinks: brokenLinks.length,
    },
    failedPages: pages.flatMap((page) =>
      page.failure === undefined ? [] : [{ path: page.path, reason: page.failure }],
    ),
    brokenLinks,
    site: model.diagnostics,
    pages: Object.fromEntries(withDiagnostics.map((page) => [page.path, page.diagnostics])),
  };
  return `${JSON.stringify(report, null, 1)}\n`;
}

function problemOf(
  target: string,
  anchors: ReadonlyMap<string, ReadonlySet<string>>,
  files: ReadonlySet<string>,
  redirected: ReadonlySet<string>,
): BrokenLink['reason'] | undefined {
  const [rooted = '', hash] = target.split('#', 2);
  const path = pagePathOfAddress(decoded(rooted));
  const page = pageNames(path).find((name) => anchors.has(name));
  if (page === undefined) {
    const isThere = files.has(path) || files.has(pageFile(path)) || redirected.has(rooted.replace(/\/+$/, ''));
    return isThere ? undefined : 'no such page or file';
  }
  if (hash === undefined || hash === '') return undefined;
  const known = anchors.get(page);
  return known?.has(decoded(hash)) || known?.has(hash) ? undefined : 'no such anchor';
}

function countBySeverity(diagnostics: readonly Diagnostic[]) {
  const count = (severity: Diagnostic['severity']) =>
    diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
  return { errors: count('error'), warnings: count('warning'), infos: count('info') };
}

const maxSearchSection = 1200;
const maxSearchIndex = 24 * 1024 * 1024;

/**
 * `_bindery/search-index.js`: pages as `[path, title, description]`, sections as `[page, anchor, heading, text]`, for the search that
 * needs no server. Long sections are cut, on very large sites even shorter.
 */
function searchIndexScript(model: SiteModel, pages: readonly RenderedPage[]): string {
  const searchable = new Set(model.pages.filter((page) => page.searchable).map((page) => page.path));
  const found = pages.filter((page) => searchable.has(page.path));
  const total = found.reduce(
    (sum, page) =>
      sum + page.sections.reduce((size, section) => size + Math.min(maxSearchSection, section.text.length), 0),
    0,
  );
  const longest =
    total <= maxSearchIndex ? maxSearchSection : Math.max(80, Math.floor((maxSearchSection * maxSearchIndex) / total));
  const index: SearchIndex = {
    pages: found.map((page) => [page.path, page.title, page.description ?? '']),
    sections: found.flatMap((page, number) =>
      page.sections.map(({ anchor, heading, text }): SearchIndex['sections'][number] => {
        return [number, anchor, heading, text.slice(0, longest).toWellFormed()];
      }),
    ),
  };
  const lines = (rows: readonly unknown[]) => rows.map((row) => scriptJson(row)).join(',\n');
  return `window.binderySearchIndex={"pages":[\n${lines(index.pages)}\n],"sections":[\n${lines(index.sections)}\n]};\n`;
}

const maxFeedItems = 100;

/**
 * RSS of a page's updates, in their order; undefined for a page without any. It has no dates, only the labels as titles. Readers of feeds
 * take descriptions of items for HTML, so text is escaped for HTML first.
 */
function pageFeed(model: SiteModel, page: RenderedPage): string | undefined {
  if (page.feedItems.length === 0) return undefined;
  const base = siteBase(model.settings) ?? '';
  const address = base + pageAddress(page.path);
  const tag = (name: string, text: string) => `<${name}>${escapeHtml(text)}</${name}>`;
  const items = page.feedItems.slice(0, maxFeedItems).map((item) => {
    const link = `${address}#${encodeURIComponent(item.anchor)}`;
    const categories = item.tags.map((name) => tag('category', name)).join('');
    return `<item>${tag('title', item.title)}${tag('link', link)}<guid isPermaLink="false">${escapeHtml(link)}</guid>${tag('description', escapeHtml(item.text))}${categories}</item>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0">
<channel>
${tag('title', `${model.settings.name} - ${page.title}`)}
${tag('link', address)}
${tag('description', page.description ?? page.title)}
${items.join('')}</channel>
</rss>
`;
}
