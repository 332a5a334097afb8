import { analyzeText } from './analyze-text.ts';
import type { SearchPage } from './search-index.ts';

/** Terms of what names a page. `names`: of each other name, joined by a space. */
type PageTerms = { title: string[]; names: string[]; keywords: string[]; path: string[] };

/** What all passages of a page share, as every engine indexes it: other names count as keywords do, beside what they are for themselves. */
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
