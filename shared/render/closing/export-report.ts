import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { RenderedPage } from '#shared/contracts/segment-sidecar.ts';
import type { SiteModel } from '#shared/docs-project/site-model.ts';

type BrokenLink = { page: string; target: string; reason: 'no such page or file' | 'no such anchor' };

/**
 * `_bindery/report.json`: what authors should know of this export. Diagnostics by page, pages that failed, and links that lead nowhere, which
 * only shows when all pages are there. `files`: paths of all files of the bundle.
 */
export function exportReport(model: SiteModel, pages: readonly RenderedPage[], files: ReadonlySet<string>): string {
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
  const path = decoded(rooted).replace(/^\/+|\/+$/g, '') || 'index';
  const names = [path, `${path}/index`, path.replace(/\.(mdx|html)$/, ''), path.replace(/\/(index|README)$/, '')];
  const page = names.find((name) => anchors.has(name));
  if (page === undefined) {
    const isThere = files.has(path) || files.has(`${path}.html`) || redirected.has(rooted.replace(/\/+$/, ''));
    return isThere ? undefined : 'no such page or file';
  }
  if (hash === undefined || hash === '') return undefined;
  const known = anchors.get(page);
  return known?.has(decoded(hash)) || known?.has(hash) ? undefined : 'no such anchor';
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function countBySeverity(diagnostics: readonly Diagnostic[]) {
  const count = (severity: Diagnostic['severity']) =>
    diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
  return { errors: count('error'), warnings: count('warning'), infos: count('info') };
}
