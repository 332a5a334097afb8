import { setImmediate } from 'node:timers/promises';
import type { SearchIndex, SearchScope } from './search-index.ts';
import type { LinePattern } from './line-pattern.ts';

/** A line with the pattern, numbered from 1, and lines around it. Long lines are cut. */
type FoundLine = { line: number; text: string; before: string[]; after: string[] };

export type FoundLines = {
  /** Pages with the pattern, sorted by the bytes of their paths. `more`: number of further lines of the page with the pattern. */
  pages: { path: string; title: string; lines: FoundLine[]; more: number }[];
  /** Number of pages that were read. */
  searched: number;
  /** The path after which the search goes on; undefined after the last page. */
  next?: string | undefined;
};

export type LineSearch = {
  pattern: LinePattern;
  /** The beginning of the paths of the pages; '' for all. */
  under: string;
  /** The path after which the search begins; '' for the first page. */
  after: string;
  /** Number of lines after which the search ends with the page that it reads. */
  limit: number;
  /** Number of lines before and after each found line. */
  around: number;
};

const mostLinesOfPage = 20;
const longestShown = 500;
const pagesAtOnce = 20;
/** Processor time for comparing lines. A search that needs more ends after the page that it reads. */
const compareWithinMs = 200;
const searchWithinMs = 8_000;

/**
 * Lines of the pages' Markdown that match a pattern, among the pages that the groups may see. The search ends early when it has enough lines or takes
 * too long; `next` continues it. Between pages other work of the process may run.
 */
export async function findLines(
  index: Pick<SearchIndex, 'pagesAfter'>,
  scope: SearchScope,
  groups: readonly string[],
  { pattern, under, after, limit, around }: LineSearch,
): Promise<FoundLines> {
  const found: FoundLines = { pages: [], searched: 0 };
  const end = performance.now() + searchWithinMs;
  let comparedMs = 0;
  let lines = 0;
  for (let last = after; ; ) {
    const pages = await index.pagesAfter(scope, { after: last, under, limit: pagesAtOnce }, groups);
    for (const [at, { path, title, markdown }] of pages.entries()) {
      const startedAt = performance.now();
      const matches = linesWith(markdown, pattern, around, startedAt + compareWithinMs - comparedMs);
      comparedMs += performance.now() - startedAt;
      found.searched += 1;
      lines += matches.lines.length;
      if (matches.lines.length > 0) found.pages.push({ path, title, ...matches });
      last = path;
      const isLast = at === pages.length - 1 && pages.length < pagesAtOnce;
      if (lines < limit && comparedMs < compareWithinMs && startedAt < end) await setImmediate();
      else return isLast ? found : { ...found, next: last };
    }
    if (pages.length < pagesAtOnce) return found;
  }
}

/** The lines of one page. After `until`, on the clock of `performance`, the rest of the page is not compared. */
function linesWith(
  markdown: string,
  pattern: LinePattern,
  around: number,
  until: number,
): { lines: FoundLine[]; more: number } {
  const all = markdown.split('\n');
  const shown = (from: number, to: number): string[] => all.slice(Math.max(0, from), to).map(cut);
  const lines: FoundLine[] = [];
  let more = 0;
  for (const [at, line] of all.entries()) {
    if (!pattern(line)) {
      if (performance.now() > until) break;
      continue;
    }
    if (lines.length === mostLinesOfPage) more += 1;
    else
      lines.push({
        line: at + 1,
        text: cut(line),
        before: shown(at - around, at),
        after: shown(at + 1, at + 1 + around),
      });
  }
  return { lines, more };
}

const cut = (line: string): string =>
  line.length <= longestShown ? line : `${line.slice(0, longestShown).toWellFormed()}…`;
