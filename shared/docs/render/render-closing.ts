import { readFile } from 'node:fs/promises';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { DiagnosticTally } from '#shared/contracts/diagnostic-tally.ts';
import type { ExportPlan } from '#shared/contracts/stored-objects.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { bundleNames } from '#shared/export/bundle/bundle-names.ts';
import { writeSearchIndex } from './search-index-files.ts';
import { type ClosingPart, listOf, type PageFeed, type PartPage } from './closing-part.ts';
import { bytesOf, type ClosingStore, joined, type StoredText } from './closing-store.ts';
import { textEnds } from '#shared/export/bundle/packed-segment.ts';
import { inOrder } from '#shared/runtime/in-parallel.ts';
import { pageAddress, siteBase } from './bundle-paths.ts';
import { exportReport } from './export-report.ts';
import { escapeHtml } from './html.ts';
import { mathFiles } from './math/math-fonts.ts';
import { packageFile } from '#shared/runtime/installed-packages.ts';
import { playgroundFiles } from './site/playground-files.ts';
import { reactScript } from './islands/react-script.ts';
import { diagramsScript, islandsScript } from './site/browser-files.ts';
import { isListed } from './site/crawler-files.ts';
import { classCss, mostUtilityClasses } from './site/utility-classes.ts';

export type ClosingInput = {
  model: SiteModel;
  plan: Pick<ExportPlan, 'domain' | 'label' | 'contentVersion' | 'rendererVersion' | 'deployment' | 'groups'>;
  /** Number of runs of consecutive segments into which all other segments of the bundle are divided, in plan order. */
  runCount: number;
};

/** Number of runs of segments whose parts are read ahead and held in memory. */
const readAhead = 2;
const unlisted = new Set(['_bindery/config.js', '_bindery/manifest.json']);

/**
 * The outcome of writing a closing segment. `lost`: runs in which a segment has no sidecar; if there are any, the files are incomplete. `findings`:
 * numbers of findings in the report, once it is written.
 */
export type ClosedSite = { lost: number[]; findings?: { errors: number; warnings: number } | undefined };

/**
 * Writes the closing segment: the files that need all pages, the manifest last. It lists every file of the bundle except itself and
 * `_bindery/config.js`. The same sidecars give the same bytes. Memory grows with the number of pages, by a few kilobytes each, but not with their
 * text.
 */
export async function renderClosing({ model, plan, runCount }: ClosingInput, store: ClosingStore): Promise<ClosedSite> {
  const site = await readSite(runCount, store);
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
  for (const page of site.feeds) {
    const path = `${page.path}/rss.xml`;
    if (names.take(path) === undefined) await put(path, pageFeed(model, page));
  }
  // Links may lead to any of the files, so the report is written after them.
  const { text, findings } = exportReport(model, { ...site, ...linksOf(site) }, new Set(listed.keys()));
  await put('_bindery/report.json', text);
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
  return { lost: [], findings };
}

/** Facts of a page that are kept until the end. */
type KnownPage = Pick<PartPage, 'path' | 'title' | 'description' | 'searchCharacters' | 'anchors'> & {
  search: StoredText;
  fullText: StoredText;
};

/** Facts that are collected from all parts. */
type KnownSite = {
  lost: number[];
  /** Files of the bundle by path. */
  listed: Map<string, { size: number; sha256: string }>;
  pages: KnownPage[];
  /** The pages of each part, with their links. */
  linked: Pick<ClosingPart, 'targets' | 'pages'>[];
  classes: Set<string>;
  /** Names of the font files that formulas use. */
  mathFonts: Set<string>;
  hasDiagrams: boolean;
  /** Names of the texts that playgrounds use. */
  playgrounds: Set<string>;
  hasIslands: boolean;
  feeds: PageFeed[];
  failed: { path: string; reason: string }[];
  diagnostics: [path: string, found: readonly Diagnostic[]][];
  /** Counts of all diagnostics of pages, listed or not. */
  tally: DiagnosticTally;
  /** Number of diagnostics that are counted but not listed. */
  notListed: number;
};

/** Limit of listed diagnostics. The report is held in memory, and a longer list does not help its reader. */
const mostDiagnostics = 20_000;

async function readSite(runCount: number, store: ClosingStore): Promise<KnownSite> {
  const site: KnownSite = {
    lost: [],
    listed: new Map(),
    pages: [],
    linked: [],
    classes: new Set(),
    mathFonts: new Set(),
    hasDiagrams: false,
    playgrounds: new Set(),
    hasIslands: false,
    feeds: [],
    failed: [],
    diagnostics: [],
    tally: new DiagnosticTally(),
    notListed: 0,
  };
  const addDiagnostics = diagnosticsOf(site);
  let firstSegment = 0;
  const runs = Array.from({ length: runCount }, (_, run) => run);
  for await (const [run, first] of inOrder(runs, readAhead, (asked) => store.part(asked))) {
    for (let next = first; ; next = await store.part(run)) {
      if (next === undefined) {
        site.lost.push(run);
        break;
      }
      addPart(site, next.part, firstSegment, addDiagnostics);
      firstSegment += next.segmentCount;
      if (next.isLast) break;
    }
  }
  return site;
}

function addPart(
  site: KnownSite,
  part: ClosingPart,
  firstSegment: number,
  addDiagnostics: (path: string, found: readonly Diagnostic[]) => void,
): void {
  for (const [path, size, sha256] of part.files) site.listed.set(path, { size, sha256 });
  let segment = -1;
  let searchAt = 0;
  let fullTextAt = 0;
  for (const page of part.pages) {
    if (page.segment !== segment) [segment, searchAt, fullTextAt] = [page.segment, 0, 0];
    const searchEnd = searchAt + page.searchBytes + textEnds.search.length;
    const fullTextEnd = fullTextAt + page.fullTextBytes + textEnds.fullText.length;
    const { path, title, description, searchCharacters, anchors } = page;
    site.pages.push({
      ...{ path, title, searchCharacters, anchors },
      search: { segment: firstSegment + segment, of: 'search', begin: searchAt, end: searchEnd },
      fullText: { segment: firstSegment + segment, of: 'fullText', begin: fullTextAt, end: fullTextEnd },
      ...(description !== undefined && { description }),
    });
    searchAt = searchEnd;
    fullTextAt = fullTextEnd;
  }
  site.linked.push({ targets: part.targets, pages: part.pages });
  const crowded = addClasses(site.classes, part);
  const found = new Map(part.diagnostics);
  if (crowded !== undefined) found.set(crowded, [...(found.get(crowded) ?? []), tooManyClasses]);
  for (const [at, diagnostics] of [...found].sort(([a], [b]) => a - b))
    addDiagnostics(part.pages[at]?.path ?? '', diagnostics);
  for (const name of part.mathFonts) site.mathFonts.add(name);
  for (const name of part.playgrounds) site.playgrounds.add(name);
  site.hasDiagrams ||= part.hasDiagrams;
  site.hasIslands ||= part.hasIslands;
  for (const feed of part.feeds) site.feeds.push(feed);
  for (const failed of part.failed) site.failed.push(failed);
}

/** Adds the class names of a part, up to one more than the limit. Returns the index of the page whose class names exceeded it, if any did. */
function addClasses(classes: Set<string>, { classes: added, pages }: ClosingPart): number | undefined {
  if (classes.size > mostUtilityClasses) return undefined;
  if (classes.size + added.length <= mostUtilityClasses) {
    for (const name of added) classes.add(name);
    return undefined;
  }
  for (const [at, page] of pages.entries()) {
    for (const name of listOf<string>(page.classes)) {
      classes.add(name);
      if (classes.size > mostUtilityClasses) return at;
    }
  }
  return undefined;
}

/** Returns a function that adds the diagnostics of the next page. */
function diagnosticsOf(site: KnownSite): (path: string, found: readonly Diagnostic[]) => void {
  let room = mostDiagnostics;
  return (path, found) => {
    site.tally.add(found);
    if (found.length > room) site.notListed += found.length;
    else site.diagnostics.push([path, found]);
    room -= Math.min(room, found.length);
  };
}

const tooManyClasses: Diagnostic = {
  severity: 'warning',
  code: 'too-many-classes',
  message: `The pages have more than ${mostUtilityClasses} different class names; from this page on, new ones have no utilities. Use fewer class names.`,
  file: '',
};

/** Links and anchors of the pages for the report, made on demand because it never reads most of them. */
function linksOf({
  pages,
  linked,
}: KnownSite): Pick<Parameters<typeof exportReport>[1], 'exported' | 'anchors' | 'links'> {
  const anchors = new Map(pages.map((page) => [page.path, page.anchors]));
  return {
    exported: new Set(anchors.keys()),
    anchors: {
      has: (path) => anchors.has(path),
      get(path) {
        const text = anchors.get(path);
        return text === undefined ? undefined : new Set(listOf<string>(text));
      },
    },
    links: linked.map(({ targets, pages: linking }) => ({
      targets,
      linked: () =>
        linking.map(({ path, links, linkLines, linkColumns, linkFiles }) => ({
          path,
          links: listOf<number>(links).map((place) => targets[place] ?? ''),
          ...(linkLines !== undefined && { linkLines: listOf<number>(linkLines) }),
          ...(linkColumns !== undefined && { linkColumns: listOf<number>(linkColumns) }),
          ...(linkFiles !== undefined && { linkFiles: listOf<string>(linkFiles) }),
        })),
    })),
  };
}

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
export function pageFeed({ settings }: Pick<SiteModel, 'settings'>, page: PageFeed): string {
  const base = siteBase(settings) ?? '';
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
${tag('title', `${settings.name} - ${page.title}`)}
${tag('link', address)}
${tag('description', page.description ?? page.title)}
${items.join('')}</channel>
</rss>
`;
}
