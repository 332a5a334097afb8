import { analyzeQuery, analyzeText } from './analyze-text.ts';
import { builtInSynonyms, type Synonyms } from './synonyms.ts';

/** A word of a question, with all terms that are searched for it and how much each counts, 0–1. */
export type QueryWord = { word: string; terms: ReadonlyMap<string, number>; idf: number };

/** A question as it is searched. `title`: all its terms in their order, to be compared with titles. */
export type SearchedQuery = { words: readonly QueryWord[]; title: readonly string[] };

/** What an engine knows of its words. */
export type Vocabulary = {
  passageCount: number;
  /** How many passages have each of these terms, in any field: 0 for those that only links have. Terms that are nowhere are left out. */
  passagesWith(terms: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Terms of the index that differ from this one by one letter (two from 8 letters on): more, less, another, or two swapped. The frequent ones first, few. */
  similarTerms(term: string): Promise<readonly string[]>;
};

/** How much a word counts that is only written alike. */
const similarShare = 0.7;
/** Looking for similar words goes through the vocabulary. Where more words are unknown they are no typos, but a log or another language. */
const mostCorrected = 8;

/**
 * The words of a question with their synonyms. A word that no page has is searched by words that are written alike, if it is one of the first of
 * these. Compound names that no page has are left to their parts. Undefined when nothing is asked.
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

/** `retrievalpagesize` beside `retrieval`, `page` and `size`: made of other terms of the question. */
function isCompoundOf(term: string, terms: readonly string[]): boolean {
  return terms.some((part) => part !== term && part.length > 2 && term.startsWith(part));
}

function inverseFrequency(passageCount: number, count: number): number {
  return Math.log(1 + (passageCount - count + 0.5) / (count + 0.5));
}
