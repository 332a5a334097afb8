import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { DiagnosticTally } from '#shared/contracts/diagnostic-tally.ts';
import { importedFiles, reachedNames } from '#shared/docs/project/imported-files.ts';
import { withoutUndefined } from '#shared/docs/project/json-values.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { decoded } from '#shared/docs/project/url-policy.ts';
import { pageFile, namedPage, pagePathOfAddress } from './bundle-paths.ts';
import { type BrokenLink, brokenLinkDiagnostic, cut } from './broken-link.ts';
import { AnchorNames } from './content/anchor-names.ts';
import { isOfProject, placeInDescription } from './described-place.ts';
import { usedFiles } from './used-files.ts';
import { siteRedirects } from './redirects.ts';

/** A page with its links. `linkLines`, `linkColumns`: the place of each link, 0 if it is unknown. `linkFiles`: the snippet of each link, or ''. */
type LinkedPage = {
  path: string;
  links: readonly string[];
  linkLines?: readonly number[] | undefined;
  linkColumns?: readonly number[] | undefined;
  linkFiles?: readonly string[] | undefined;
  /** Undefined if they are not known. */
  anchors: ReadonlySet<string> | undefined;
};

/** Anchors by the path of a page of the export. */
type Anchors = { has(path: string): boolean; get(path: string): ReadonlySet<string> | undefined };

/** Some pages of an export, in order. `targets`: all targets of their links. `linked` is called only if one of these does not exist. */
type LinkedPages = { targets: readonly string[]; linked: () => Iterable<Omit<LinkedPage, 'anchors'>> };

/** Input of a report. */
type ReportedSite = {
  /** Paths of all pages. */
  exported: ReadonlySet<string>;
  anchors: Anchors;
  links: readonly LinkedPages[];
  failed: readonly { path: string; reason: string }[];
  diagnostics: readonly (readonly [path: string, found: readonly Diagnostic[]])[];
  /** Counts of all diagnostics of pages, without broken links. */
  tally: DiagnosticTally;
  /** Number of diagnostics that are counted but not listed. */
  notListed: number;
};

/** Limit of listed broken links. The report is held in memory, and a longer list does not help its reader. */
const mostBrokenLinks = 20_000;
/** Limit of missing anchors for which a similar one is searched. */
const mostNearest = 2_000;

/**
 * `_bindery/report.json`: the findings of this export for authors. It lists the parts that were left out by code, diagnostics by page, failed pages
 * and broken links. Broken links can be found only when all pages are known, so they are in a separate list; each counts once, as a warning. The
 * summary also counts findings that are not listed. `files`: paths of all files of the bundle. `findings`: numbers of the summary.
 */
export function exportReport(
  model: SiteModel,
  site: ReportedSite,
  files: ReadonlySet<string>,
): { text: string; findings: { errors: number; warnings: number } } {
  const listed: BrokenLink[] = [];
  let brokenCount = 0;
  const fileOf = new Map(model.pages.map(({ path, file }) => [path, file]));
  for (const link of brokenLinksOf(model, site.anchors, site.links, files)) {
    brokenCount += 1;
    site.tally.add([brokenLinkDiagnostic(link, fileOf.get(link.page) ?? link.page)]);
    const { meant: _, ...shown } = link;
    if (listed.length < mostBrokenLinks) listed.push(shown);
  }
  const ofSite = shownDiagnostics(model, site.exported);
  const tally = site.tally.add(ofSite);
  const notListed = site.notListed + brokenCount - listed.length;
  const report = {
    formatVersion: 1,
    summary: {
      pages: site.exported.size,
      failedPages: site.failed.length,
      errors: tally.count('error'),
      warnings: tally.count('warning'),
      infos: tally.count('info'),
      brokenLinks: brokenCount,
      ...(notListed > 0 && { notListed }),
    },
    byCode: tally.rows(),
    failedPages: site.failed,
    brokenLinks: listed,
    site: ofSite,
    pages: Object.fromEntries(site.diagnostics),
  };
  const { errors, warnings } = report.summary;
  return { text: `${JSON.stringify(report, null, 1)}\n`, findings: { errors, warnings } };
}

/** Diagnostics of publication about files of the bundle. Others are left out, because they would reveal pages that are not in it. */
function shownDiagnostics(model: SiteModel, exported: ReadonlySet<string>): Diagnostic[] {
  const isUsed = usedFiles(model, exported);
  const files = importedFiles(model);
  const filesOf = (pages: SiteModel['pages']): Set<string> =>
    reachedNames(files, [...pages.map(({ file }) => file), ...pages.flatMap(({ dependencies }) => dependencies)]);
  const shown = filesOf(model.pages.filter(({ path }) => exported.has(path)));
  const leftOut = filesOf(model.pages.filter(({ path }) => !exported.has(path)));
  for (const { path } of [...model.assets, ...model.specs]) if (!isUsed({ path })) leftOut.add(path);
  return model.diagnostics.filter(({ file }) => shown.has(file) || !leftOut.has(file));
}

/** Links to missing pages, files and anchors, in the order of the pages. `files`: paths of all files of the bundle. */
export function brokenLinks(
  model: Pick<SiteModel, 'pages' | 'redirects'>,
  pages: readonly LinkedPage[],
  files: ReadonlySet<string>,
): Generator<BrokenLink> {
  const anchors = new Map(pages.map((page) => [page.path, page.anchors]));
  const links = pages.map((page) => ({ targets: page.links, linked: () => [page] }));
  return brokenLinksOf(model, anchors, links, files);
}

/** The broken links of some pages. The targets of all these pages are checked first, because most pages have no broken link. */
function* brokenLinksOf(
  model: Pick<SiteModel, 'pages' | 'redirects'>,
  anchors: Anchors,
  links: readonly LinkedPages[],
  files: ReadonlySet<string>,
): Generator<BrokenLink> {
  const described = new Map(model.pages.flatMap((page) => (isOfProject(page) ? [] : [[page.path, page] as const])));
  let nearestLeft = mostNearest;
  const problemOf = linkChecker(anchors, files, model.redirects);
  for (const { targets, linked } of links) {
    const problems = new Map<string, Problem>();
    for (const target of targets) {
      const problem = problemOf(target);
      if (problem !== undefined) problems.set(target, problem);
    }
    if (problems.size === 0) continue;
    for (const page of linked()) {
      for (const [at, target] of page.links.entries()) {
        const problem = problems.get(target);
        if (problem === undefined) continue;
        const { reason, names, anchor, leadsTo } = problem;
        const isCompared = names !== undefined && nearestLeft > 0;
        const nearest = isCompared ? names.nearest(anchor) : undefined;
        const meant = isCompared ? names.meant(anchor) : undefined;
        if (isCompared) nearestLeft -= 1;
        const place = placeOf(described.get(page.path), page.linkLines?.[at] ?? 0, page.linkColumns?.[at] ?? 0);
        const file = page.linkFiles?.[at] ?? '';
        yield {
          page: page.path,
          ...place,
          ...(file !== '' && { file }),
          target,
          reason,
          ...withoutUndefined({ leadsTo, nearest: meant ?? nearest, meant }),
        };
      }
    }
  }
}

/** The place of a finding: `line` and `column` in a page's own file, or `place` in an API description. */
function placeOf(
  described: SiteModel['pages'][number] | undefined,
  line: number,
  column: number,
): Pick<BrokenLink, 'line' | 'column' | 'place'> {
  if (line === 0) return {};
  const place = described && placeInDescription(described, line);
  return place === undefined ? { line, ...(column > 0 && { column }) } : { place };
}

type Problem = { reason: BrokenLink['reason'] } & (
  | { names: AnchorNames; anchor: string; leadsTo: string }
  | { names?: undefined; anchor?: undefined; leadsTo?: undefined }
);

/** Returns a function that checks the target of a link. Many pages link to the same places, so each place is resolved once. */
function linkChecker(
  anchors: Anchors,
  files: ReadonlySet<string>,
  redirects: SiteModel['redirects'],
): (target: string) => Problem | undefined {
  const ends = siteRedirects(redirects, (path) => anchors.has(path));
  /** The place to which a path leads: a page or an address, and the anchor there, if a redirect names one; '' for a file, undefined for nothing. */
  const placeAt = remembered((rooted: string): [end: string, anchor?: string] | undefined => {
    const path = pagePathOfAddress(decoded(rooted));
    const page = namedPage(path, anchors);
    if (page !== undefined) return [page];
    const redirected = ends.endOf(`/${path}`) ?? '';
    if (redirected !== '') return cut(redirected);
    return files.has(path) || files.has(pageFile(path)) ? [''] : undefined;
  });
  const namesOf = remembered((page: string): AnchorNames | undefined => {
    const ids = anchors.get(page);
    return ids && new AnchorNames(ids);
  });
  return (target) => {
    const [rooted, written] = cut(target);
    const place = placeAt(rooted);
    if (place === undefined) return { reason: 'no such page or file' };
    const [end, endHash = ''] = place;
    const anchor = written ?? endHash;
    if (isOfBrowser.test(anchor)) return undefined;
    // The anchors of a page outside of this export are unknown.
    const names = namesOf(end);
    if (names === undefined || names.find(anchor) !== undefined) return undefined;
    return { reason: 'no such anchor', names, anchor, leadsTo: `/${end}#${anchor}` };
  };
}

function remembered<V>(make: (key: string) => V): (key: string) => V {
  const known = new Map<string, V>();
  return (key) => {
    if (!known.has(key)) known.set(key, make(key));
    return known.get(key) as V;
  };
}

/** Anchors that browsers resolve without an id: the empty one, the top of a page, and a text fragment. */
const isOfBrowser = /^$|^top$|^:~:/i;
