import type { PageFacts } from '#shared/contracts/stored-objects.ts';
import type { PageEntry, SiteModel } from '#shared/docs/project/site-model.ts';
import { textEnds } from '#shared/export/bundle/packed-segment.ts';
import { inOrder } from '#shared/runtime/in-parallel.ts';
import { bytesOf, type ClosingStore, joined, type ShortTexts, type StoredText } from './closing-store.ts';
import { scriptJson } from './html.ts';
import type { NavigationPlace } from './navigation-places.ts';
import type { SearchIndex, SearchSections } from './site/page-globals.ts';
import { shownNavigation } from './site-index.ts';

/** Limit of the characters of a section in the search index. */
export const maxSearchSection = 1200;
/** Limit of the characters of all texts of one language and version. A reader's browser holds all of them. */
const maxScope = 24 * 1024 * 1024;
const shortestSection = 80;
/** Sections are shortened to a multiple of this length, so that a site that grows by some pages has the same shortened texts. */
const lengthStep = 24;
/** Usual size of a part of the texts. Each part is a separate file, and is searched as soon as it is loaded. */
const usualPartBytes = 768 * 1024;
const readAhead = 4;

type SearchedPage = Pick<PageFacts, 'path' | 'title' | 'description' | 'searchCharacters'> & { search: StoredText };

/**
 * Writes the search index of sites without a search server: `_bindery/search-index.js` with the facts of each page, and `_bindery/search/<n>.js` with
 * the sections of some pages. A part has pages of one language and version, so a reader loads only parts that may have results. If the texts of one
 * language and version exceed the limit, its sections are shortened further.
 */
export async function writeSearchIndex(
  model: SiteModel,
  pages: readonly SearchedPage[],
  store: Pick<ClosingStore, 'text' | 'shortSizes' | 'write'>,
): Promise<void> {
  const entries = new Map(model.pages.map((page) => [page.path, page]));
  const { places } = shownNavigation(model, entries, new Set(pages.map(({ path }) => path)));
  const scopes = searchScopes(entries, pages);
  const parts = [...scopes].flatMap(([, found]) => cutParts(found));
  const counts = parts.map(({ pages: found }) => found.length);
  const head = Buffer.from(searchHead(entries, places, scopes, counts));
  await store.write('_bindery/search-index.js', head.length, [head]);
  for (const [number, { pages: found, share }] of parts.entries()) {
    const texts = found.map(({ search }) => search);
    const { pieces, size } =
      share >= 1 ? { pieces: joined(texts), size: bytesOf(texts) } : await shortened(texts, share, store);
    const begin = Buffer.from(searchPart.begin(number));
    const end = Buffer.from(searchPart.end);
    await store.write(`_bindery/search/${number}.js`, begin.length + size + end.length, [begin, pieces, end]);
  }
}

/** The searchable pages by their languages and versions (JSON of both), in the order of `pages`. */
export function searchScopes<P extends { path: string }>(
  entries: ReadonlyMap<string, PageEntry>,
  pages: readonly P[],
): Map<string, P[]> {
  const scopes = new Map<string, P[]>();
  for (const page of pages) {
    const entry = entries.get(page.path);
    if (entry?.searchable !== true) continue;
    const scope = JSON.stringify([entry.language ?? '', entry.version ?? '']);
    const known = scopes.get(scope);
    if (known === undefined) scopes.set(scope, [page]);
    else known.push(page);
  }
  return scopes;
}

/**
 * `_bindery/search-index.js`. `places`: the places of the pages in the navigation. `counts`: the number of pages of each part, in the order of the
 * scopes and their pages.
 */
export function searchHead(
  entries: ReadonlyMap<string, PageEntry>,
  places: ReadonlyMap<string, NavigationPlace>,
  scopes: ReadonlyMap<string, readonly Pick<SearchedPage, 'path' | 'title' | 'description'>[]>,
  counts: readonly number[],
): string {
  const trails = new Map<string, number>([['', 0]]);
  const numberOf = (trail: string): number => {
    const known = trails.get(trail) ?? trails.size;
    trails.set(trail, known);
    return known;
  };
  const rows = [...scopes.values()].flatMap((found, scope) =>
    found.map((page) => {
      const entry = entries.get(page.path) as PageEntry;
      const trail =
        places
          .get(page.path)
          ?.groups.map(({ title }) => title)
          .join(' › ') ?? '';
      const row: SearchIndex['pages'][number] = [page.path, page.title, page.description ?? '', scope, numberOf(trail)];
      const keywords = keywordsOf(entry);
      const boost = boostOf(entry.frontmatter['boost']);
      if (keywords !== '' || boost !== 1) row.push(keywords);
      if (boost !== 1) row.push(boost);
      return scriptJson(row);
    }),
  );
  const lists = {
    scopes: [...scopes.keys()].map((name) => JSON.parse(name) as unknown),
    trails: [...trails.keys()],
    parts: counts,
  };
  return `window.binderySearchIndex=${scriptJson(lists).slice(0, -1)},"pages":[\n${rows.join(',\n')}\n]};\n`;
}

/** `_bindery/search/<number>.js` around the lines of its pages. */
export const searchPart = { begin: (number: number): string => `binderySearchPart(${number},[\n`, end: ']);\n' };

/** Splits the pages of one language and version into parts. `share`: the fraction of the maximum section length at which the texts fit the limit. */
function cutParts(pages: readonly SearchedPage[]): { pages: SearchedPage[]; share: number }[] {
  const share = maxScope / pages.reduce((sum, page) => sum + page.searchCharacters, 0);
  const parts: { pages: SearchedPage[]; share: number }[] = [];
  let room = 0;
  for (const page of pages) {
    const { segment, begin, end } = page.search;
    const last = parts.at(-1);
    // Texts of a segment are already deflated, so a segment stays in one part unless it is large.
    const isApart = last?.pages.at(-1)?.search.segment !== segment || room <= -usualPartBytes;
    if (last === undefined || (isApart && end - begin > room)) {
      parts.push({ pages: [page], share });
      room = usualPartBytes;
    } else last.pages.push(page);
    room -= end - begin;
  }
  return parts;
}

/** Words that find a page without being shown on it. */
function keywordsOf({ keywords, frontmatter }: PageEntry): string {
  const operations = [frontmatter['openapi'], frontmatter['api'], frontmatter['asyncapi']];
  return [...keywords, ...operations.filter((value) => typeof value === 'string')].join(' ');
}

const boostOf = (value: unknown): number =>
  typeof value === 'number' && value > 0 ? Math.min(3, Math.max(0.1, value)) : 1;

/** The lines of the pages, with sections cut to a fraction of the maximum length. Those that are kept from an earlier closing segment are not made. */
async function shortened(
  texts: readonly StoredText[],
  share: number,
  store: Pick<ClosingStore, 'text' | 'shortSizes'>,
): Promise<{ pieces: ShortTexts; size: number }> {
  const steps = Math.floor((maxSearchSection * share) / lengthStep);
  const longest = Math.max(shortestSection, steps * lengthStep);
  const ranges = joined(texts);
  const kept = await store.shortSizes(longest, ranges);
  const made: (Uint8Array | null)[] = ranges.map(() => null);
  const missing = [...ranges.keys()].filter((at) => (kept[at] ?? null) === null);
  const read = (at: number) => store.text(ranges[at] as StoredText);
  for await (const [at, bytes] of inOrder(missing, readAhead, read)) {
    const { segment, begin, end } = ranges[at] as StoredText;
    const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const own = texts.filter((text) => text.segment === segment && text.begin >= begin && text.end <= end);
    made[at] = Buffer.from(
      own.map((text) => shortLine(lines.subarray(text.begin - begin, text.end - begin), longest)).join(''),
    );
  }
  const size = ranges.reduce((sum, _, at) => sum + (made[at]?.length ?? kept[at] ?? 0), 0);
  return { pieces: { longest, texts: ranges, made }, size };
}

/** The line of a page with sections of at most `longest` characters. The renderer wrote the line, so it is not validated again. */
function shortLine(line: Buffer, longest: number): string {
  const sections = JSON.parse(line.toString().slice(0, -textEnds.search.length)) as SearchSections[number];
  const short = sections.map(([anchor, heading, text]) => [anchor, heading, text.slice(0, longest).toWellFormed()]);
  return scriptJson(short) + textEnds.search;
}
