import { reachableImports, type ReadSource } from './read-sources.ts';
import type { PageEntry } from './site-model.ts';

type PageImports = Pick<PageEntry, 'dependencies' | 'linkTargets'>;

/** Limit of the names that the entries of all pages together repeat from files that the pages import. */
const mostRepeated = 200_000;

/**
 * The files that each page imports and its link targets, by the page's file. Versions before November 2026 do not find the link targets of imported
 * files unless the entry of the page repeats them, so an entry has the names of all files that the page reaches. If there are too many, because
 * thousands of pages reach thousands of snippets, each entry has only the page's own names, and readers follow the imports. Pure.
 */
export function importsOfPages(
  pages: readonly string[],
  sources: ReadonlyMap<string, Pick<ReadSource, 'imports' | 'linkTargets'>>,
): Map<string, PageImports> {
  const own = new Map(
    pages.map((file) => {
      const { imports = [], linkTargets = [] } = sources.get(file) ?? {};
      return [file, { dependencies: imports.filter((path) => path !== file), linkTargets }];
    }),
  );
  const whole = new Map<string, PageImports>();
  let repeated = 0;
  for (const [file, { dependencies, linkTargets }] of own) {
    if (dependencies.length === 0) {
      whole.set(file, { dependencies, linkTargets });
      continue;
    }
    const reached = reachableImports(file, (path) => sources.get(path)?.imports ?? []);
    const targets = new Set(linkTargets);
    for (const path of reached) for (const target of sources.get(path)?.linkTargets ?? []) targets.add(target);
    repeated += reached.length - dependencies.length + targets.size - linkTargets.length;
    if (repeated > mostRepeated) return own;
    whole.set(file, { dependencies: reached, linkTargets: [...targets].sort() });
  }
  return whole;
}
