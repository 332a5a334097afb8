import { readFile } from 'node:fs/promises';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { DiagnosticTally } from '#shared/contracts/diagnostic-tally.ts';
import type { ExportPlan, PageFacts } from '#shared/contracts/stored-objects.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { bundleNames } from '#shared/export/bundle/bundle-names.ts';
import { writeSearchIndex } from './search-index-files.ts';
import { bytesOf, type ClosingStore, joined, type StoredText } from './closing-store.ts';
import { textEnds } from '#shared/export/bundle/packed-segment.ts';
import { inOrder } from '#shared/runtime/in-parallel.ts';
import { pageAddress, siteBase } from './bundle-paths.ts';
import { exportReport } from './export-report.ts';
import { escapeHtml } from './html.ts';
import { mathFiles } from './math/math-fonts.ts';
import { packageFile } from './package-file.ts';
import { playgroundFiles } from './site/playground-files.ts';
import { reactScript } from './islands/react-script.ts';
import { diagramsScript, islandsScript } from './site/browser-files.ts';
import { isListed } from './site/crawler-files.ts';
import { classCss, mostUtilityClasses } from './site/utility-classes.ts';

export type ClosingInput = {
  model: SiteModel;
  plan: Pick<ExportPlan, 'domain' | 'label' | 'contentVersion' | 'rendererVersion' | 'deployment' | 'groups'>;
  /** Number of segments of the bundle beside this one. They are numbered in plan order. */
  segmentCount: number;
};

/** Sidecars that are read ahead, and so in memory at once. */
const readAhead = 4;
const unlisted = new Set(['_bindery/config.js', '_bindery/manifest.json']);

/**
 * Writes the closing segment: the files that need all pages, the manifest last. It lists every file of the bundle except itself and
 * `_bindery/config.js`. The same sidecars give the same bytes. Memory grows with the number of pages, by a few kilobytes each, but not with their
 * text. `lost`: segments without a sidecar; if there are any, the closing segment is incomplete.
 */
export async function renderClosing(
  { model, plan, segmentCount }: ClosingInput,
  store: ClosingStore,
): Promise<{ lost: number[] }> {
  const site = await readSite(plan.domain, segmentCount, store);
  if (site.lost.length > 0) return { lost: site.lost };
  const { listed, pages } = site;
  const write: ClosingStore['write'] = async (path, size, body) => {
    const sha256 = await store.write(path, size, body);
    listed.set(path, { size, sha256 });
    return sha256;
  };
  const put = async (path: string, text: string): Promise<void> => {
    const body = Buffer.from(text);
    await write(path, body.length, [body]);
  };
  await put('_bindery/classes.css', await classCss(site.classes, model.settings.colors));
  if (site.hasDiagrams) {
    const mermaid = await readFile(packageFile('@mermaid-js/tiny/dist/mermaid.tiny.js'));
    await put('_bindery/diagrams.js', diagramsScript());
    await write('_bindery/mermaid.js', mermaid.length, [mermaid]);
  }
  if (site.playgrounds.size > 0) for (const { path, text } of playgroundFiles(site.playgrounds)) await put(path, text);
  if (site.hasIslands) {
    await put('_bindery/islands.js', islandsScript());
    await put('_bindery/react.js', await reactScript());
  }
  if (site.mathFonts.size > 0)
    for (const { path, body } of mathFiles(site.mathFonts)) await write(path, body.length, [body]);
  await writeSearchIndex(model, pages, { ...store, write });
  // A file of the project replaces a generated one of the same name.
  const names = bundleNames();
  for (const path of listed.keys()) names.take(path);
  if (names.take('llms-full.txt') === undefined) await writeFullText(model, pages, write);
  for (const page of pages) {
    const path = `${page.path}/rss.xml`;
    if (page.feed !== undefined && names.take(path) === undefined) await put(path, pageFeed(model, page.feed));
  }
  // Links may lead to any of the files, so the report comes after them.
  await put('_bindery/report.json', exportReport(model, site, new Set(listed.keys())));
  const manifest = {
    formatVersion: 1,
    generator: 'Bindery',
    rendererVersion: plan.rendererVersion,
    domain: plan.domain,
    ...(plan.label !== undefined && { label: plan.label }),
    contentVersion: plan.contentVersion,
    deployment: plan.deployment,
    pageCount: pages.length,
    files: [...listed]
      .filter(([path]) => !unlisted.has(path))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, { size, sha256 }]) => ({ path, size, sha256 })),
  };
  await put('_bindery/manifest.json', `${JSON.stringify(manifest, null, 1)}\n`);
  return { lost: [] };
}

/** Facts of a page that are kept until the end. */
type KnownPage = Pick<PageFacts, 'path' | 'title' | 'description' | 'searchCharacters'> & {
  search: StoredText;
  fullText: StoredText;
  links: readonly string[];
  linkLines?: readonly number[];
  linkColumns?: readonly number[];
  anchors: ReadonlySet<string>;
  feed?: PageFacts;
};

/** Facts that are collected from all sidecars. */
type KnownSite = {
  lost: number[];
  /** Files of the bundle by path. */
  listed: Map<string, { size: number; sha256: string }>;
  pages: KnownPage[];
  classes: Set<string>;
  /** Names of the font files that formulas use. */
  mathFonts: Set<string>;
  hasDiagrams: boolean;
  /** Names of the texts that playgrounds use. */
  playgrounds: Set<string>;
  hasIslands: boolean;
  failed: { path: string; reason: string }[];
  diagnostics: [path: string, found: readonly Diagnostic[]][];
  /** Counts of all diagnostics of pages, listed or not. */
  tally: DiagnosticTally;
  /** Number of diagnostics that are counted but not listed. */
  notListed: number;
};

/** Limit of listed diagnostics. The report is held in memory, and a longer list does not help its reader. */
const mostDiagnostics = 20_000;

async function readSite(domain: string, segmentCount: number, store: ClosingStore): Promise<KnownSite> {
  const site: KnownSite = {
    lost: [],
    listed: new Map(),
    pages: [],
    classes: new Set(),
    mathFonts: new Set(),
    hasDiagrams: false,
    playgrounds: new Set(),
    hasIslands: false,
    failed: [],
    diagnostics: [],
    tally: new DiagnosticTally(),
    notListed: 0,
  };
  const topFolder = `${domain}/`;
  let room = mostDiagnostics;
  const segments = Array.from({ length: segmentCount }, (_, segment) => segment);
  for await (const [segment, sidecar] of inOrder(segments, readAhead, (asked) => store.sidecar(asked))) {
    if (sidecar === undefined) site.lost.push(segment);
    for (const { path, size, sha256 } of sidecar?.files ?? []) {
      site.listed.set(path.startsWith(topFolder) ? path.slice(topFolder.length) : path, { size, sha256 });
    }
    const sidecarPages = sidecar?.pages ?? [];
    let searchAt = 0;
    let fullTextAt = 0;
    for (const page of sidecarPages) {
      const { path, title, description, searchCharacters, links, linkLines, linkColumns } = page;
      const searchEnd = searchAt + page.searchBytes + textEnds.search.length;
      const fullTextEnd = fullTextAt + page.fullTextBytes + textEnds.fullText.length;
      const search: StoredText = { segment, of: 'search', begin: searchAt, end: searchEnd };
      const fullText: StoredText = { segment, of: 'fullText', begin: fullTextAt, end: fullTextEnd };
      searchAt = searchEnd;
      fullTextAt = fullTextEnd;
      const hadRoom = site.classes.size <= mostUtilityClasses;
      for (const name of page.classes) if (site.classes.size <= mostUtilityClasses) site.classes.add(name);
      const isFull = hadRoom && site.classes.size > mostUtilityClasses;
      const diagnostics = isFull ? [...page.diagnostics, tooManyClasses] : page.diagnostics;
      site.pages.push({
        ...{ path, title, searchCharacters, search, fullText, links },
        anchors: new Set(page.anchors),
        ...(description !== undefined && { description }),
        ...(linkLines && { linkLines }),
        ...(linkColumns && { linkColumns }),
        ...(page.feedItems.length > 0 && { feed: page }),
      });
      if (page.hasDiagrams === true) site.hasDiagrams = true;
      if (page.playground !== undefined) site.playgrounds.add(page.playground);
      if (page.hasIslands === true) site.hasIslands = true;
      for (const name of page.mathFonts ?? []) site.mathFonts.add(name);
      if (page.failure !== undefined) site.failed.push({ path, reason: page.failure });
      site.tally.add(diagnostics);
      if (diagnostics.length > room) site.notListed += diagnostics.length;
      else if (diagnostics.length > 0) site.diagnostics.push([path, diagnostics]);
      room -= Math.min(room, diagnostics.length);
    }
  }
  return site;
}

const tooManyClasses: Diagnostic = {
  severity: 'warning',
  code: 'too-many-classes',
  message: `The pages have more than ${mostUtilityClasses} different class names; from this page on, new ones have no utilities. Use fewer class names.`,
  file: '',
};

/** Writes `llms-full.txt`: every listed page with its address and Markdown, in the order of the bundle. */
async function writeFullText(
  model: SiteModel,
  pages: readonly KnownPage[],
  write: ClosingStore['write'],
): Promise<void> {
  const entries = new Map(model.pages.map((page) => [page.path, page]));
  const shown = pages.filter(({ path }) => {
    const entry = entries.get(path);
    return entry !== undefined && isListed(entry, model.settings.seo.indexing);
  });
  const texts = joined(shown.map(({ fullText }) => fullText));
  await write('llms-full.txt', bytesOf(texts), [texts]);
}

const maxFeedItems = 100;

/**
 * RSS of a page's updates, in their order. It has no dates, only the labels as titles. Feed readers parse the descriptions of items as HTML, so text
 * is first escaped for HTML.
 */
function pageFeed(model: SiteModel, page: PageFacts): string {
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
