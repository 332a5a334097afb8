import { analyzeText } from './analyze-text.ts';
import type { SearchPage } from '#shared/search/search-index.ts';

/** Terms of the names of a page. `names`: terms of each other name, joined by a space. */
type PageTerms = { title: string[]; names: string[]; keywords: string[]; path: string[] };

/** The terms that all passages of a page share, for every engine. Terms of other names count as keywords, too. */
export function pageTerms({ title, names, keywords, path }: SearchPage): PageTerms {
  return {
    title: analyzeText(title),
    names: names.map((name) => analyzeText(name).join(' ')).filter((terms) => terms !== ''),
    keywords: analyzeText([...names, ...keywords].join(' \n ')),
    path: analyzeText(path.replaceAll(/[/_-]/g, ' ')),
  };
}

/** Several names in one text, as engines store them. */
export const joinNames = (names: readonly string[]): string => names.join('\n');
export const splitNames = (joined: string): string[][] =>
  joined === '' ? [] : joined.split('\n').map((name) => name.split(' '));
