import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { DiagnosticTally } from '#shared/contracts/diagnostic-tally.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { decoded } from '#shared/docs/project/url-policy.ts';
import { pageFile, pageNames, pagePathOfAddress } from './bundle-paths.ts';

/** What a report is made from. */
type ReportedSite = {
  pages: readonly { path: string; links: readonly string[]; anchors: ReadonlySet<string> }[];
  failed: readonly { path: string; reason: string }[];
  diagnostics: readonly (readonly [path: string, found: readonly Diagnostic[]])[];
  /** Of all diagnostics of pages. */
  tally: DiagnosticTally;
  /** How many of them are only counted. */
  notListed: number;
};

type BrokenLink = { page: string; target: string; reason: 'no such page or file' | 'no such anchor' };

/** A report of more would help nobody, and has to be held in memory. */
const mostBrokenLinks = 20_000;

/**
 * `_bindery/report.json`: what authors should know about this export. It has what was left out by code, diagnostics by page, failed pages,
 * and broken links, which can be found only when all pages are there. The summary counts also what is not listed. `files`: paths of all files of the bundle.
 */
export function exportReport(model: SiteModel, site: ReportedSite, files: ReadonlySet<string>): string {
  const listed: BrokenLink[] = [];
  let brokenCount = 0;
  for (const link of brokenLinks(model, site.pages, files)) {
    brokenCount += 1;
    if (listed.length < mostBrokenLinks) listed.push(link);
  }
  const tally = site.tally.add(model.diagnostics);
  const notListed = site.notListed + brokenCount - listed.length;
  const report = {
    formatVersion: 1,
    summary: {
      pages: site.pages.length,
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
    site: model.diagnostics,
    pages: Object.fromEntries(site.diagnostics),
  };
  return `${JSON.stringify(report, null, 1)}\n`;
}

/** Links to pages, files and anchors that are not there, in the order of the pages. `files`: paths of all files of the bundle. */
export function* brokenLinks(
  model: Pick<SiteModel, 'redirects'>,
  pages: ReportedSite['pages'],
  files: ReadonlySet<string>,
): Generator<BrokenLink> {
  const anchors = new Map(pages.map((page) => [page.path, page.anchors]));
  const redirected = new Set(model.redirects.map(({ source }) => source.replace(/\/+$/, '')));
  for (const page of pages) {
    for (const target of page.links) {
      const reason = problemOf(target, anchors, files, redirected);
      if (reason !== undefined) yield { page: page.path, target, reason };
    }
  }
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
