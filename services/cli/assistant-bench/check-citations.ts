import { subjectTerms } from '#shared/search/ranking/analyze-text.ts';

/** A statement of an answer, with the page that it names as its source. */
export type Citation = { page: string; statement: string };

const link = /\[([^\]]*)\]\((\/[^)\s]*)\)/g;

/** The statements of an answer by the links below or inside them. Links for further reading are no citations. Pure. */
export function citationsOf(text: string): Citation[] {
  const citations: Citation[] = [];
  let before: string[] = [];
  for (const paragraph of text.split('\n\n')) {
    if (paragraph.startsWith('See also [')) continue;
    const pages = [...paragraph.matchAll(link)].map(([, , url = '']) => url.replace(/[#?].*$/s, ''));
    const own = paragraph.replaceAll(link, '$1');
    if (pages.length === 0) {
      before.push(paragraph);
      continue;
    }
    // A paragraph that is only a link is the source of those before it.
    const isAlone = paragraph.replaceAll(link, '').trim() === '';
    const statement = isAlone ? before.join('\n\n') : own;
    for (const page of new Set(pages)) citations.push({ page, statement });
    if (isAlone) before = [];
  }
  return citations;
}

/** Minimum share of a statement's words that its page has. A model says things in its own words. */
const leastShare = 0.5;

/** True if the page has at least half of the words of the statement. Pure. */
export function isSupported(statement: string, page: string): boolean {
  const terms = subjectTerms(statement);
  const known = new Set(subjectTermsOfPage(page));
  return terms.length === 0 || terms.filter((term) => known.has(term)).length >= terms.length * leastShare;
}

/** Pages are longer than the limit of `subjectTerms`. */
const subjectTermsOfPage = (page: string): string[] =>
  Array.from({ length: Math.ceil(page.length / pieceCharacters) }, (_, at) =>
    subjectTerms(page.slice(at * pieceCharacters, (at + 1) * pieceCharacters + overlap)),
  ).flat();
const pieceCharacters = 1_800;
const overlap = 100;
