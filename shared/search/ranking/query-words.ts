import { analyzeQuery, analyzeText } from './analyze-text.ts';
import { builtInSynonyms, type Synonyms } from './synonyms.ts';

/** A word of a question, with all terms that are searched for it and their weights, 0–1. */
export type QueryWord = { word: string; terms: ReadonlyMap<string, number>; idf: number };

/** A question in the form for the search. `title`: all its terms in order, for comparison with titles. */
export type SearchedQuery = { words: readonly QueryWord[]; title: readonly string[] };

/** An engine's information about the words of its index. */
export type Vocabulary = {
  passageCount: number;
  /** Number of passages with each of these terms, in any field: 0 for terms that occur only in links. Terms that occur nowhere are left out. */
  passagesWith(terms: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * A few terms of the index that differ from this one by one letter (two from 8 letters on): inserted, deleted, replaced, or two swapped.
   * The frequent ones come first.
   */
  similarTerms(term: string): Promise<readonly string[]>;
};

/** Weight of a word that is only spelled similarly. */
const similarShare = 0.7;
/**
 * Limit of corrected words, because each correction scans the vocabulary. If more words are unknown, they are not typos, but a log or
 * another language.
 */
const mostCorrected = 8;

/**
 * The words of a question with their synonyms. A word that no page has is replaced by similarly spelled words, up to a limit of such words. A
 * compound name that no page has is searched by its parts. Undefined for a question without terms.
 */
export async function searchedQuery(
  query: string,
  vocabulary: Vocabulary,
  synonyms: Synonyms = builtInSynonyms,
): Promise<SearchedQuery | undefined> {
  const terms = analyzeQuery(query);
  if (terms.length === 0) return undefined;
  const title = analyzeText(query.slice(0, mostTitleCharacters));
  const variants = synonyms.of(title);
  const all = new Set([...terms, ...terms.flatMap((term) => [...(variants.get(term)?.keys() ?? [])])]);
  const having = new Map(await vocabulary.passagesWith([...all]));
  const words: QueryWord[] = [];
  let corrected = 0;
  for (const term of terms) {
    const own = new Map(
      [[term, 1], ...(variants.get(term) ?? [])].filter(([each]) => having.has(each as string)) as [string, number][],
    );
    if (own.size === 0) {
      if (isCompoundOf(term, terms)) continue;
      corrected += 1;
      const similar = corrected > mostCorrected ? [] : await vocabulary.similarTerms(term);
      for (const other of similar) own.set(other, similarShare);
      const counts = similar.length === 0 ? [] : await vocabulary.passagesWith(similar);
      for (const [other, count] of counts) having.set(other, count);
    }
    const count = having.get(term) ?? Math.max(0, ...[...own.keys()].map((each) => having.get(each) ?? 0));
    words.push({ word: term, terms: own, idf: inverseFrequency(vocabulary.passageCount, count) });
  }
  return { words, title };
}

const mostTitleCharacters = 300;

/** True for a compound such as `retrievalpagesize` beside its part `retrieval`: it begins with another term of the question. */
function isCompoundOf(term: string, terms: readonly string[]): boolean {
  return terms.some((part) => part !== term && part.length > 2 && term.startsWith(part));
}

function inverseFrequency(passageCount: number, count: number): number {
  return Math.log(1 + (passageCount - count + 0.5) / (count + 0.5));
}
