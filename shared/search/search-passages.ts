import { exactShare, exactSpans } from '#shared/search/ranking/exact-spans.ts';
import { searchedQuery, type Vocabulary } from '#shared/search/ranking/query-words.ts';
import {
  type Candidate,
  type CollectionFacts,
  type Near,
  rankPassages,
  type Ranked,
} from '#shared/search/ranking/rank-passages.ts';
import type { FoundPassage, SearchQuery } from './search-index.ts';
import type { Synonyms } from '#shared/search/ranking/synonyms.ts';

/**
 * The part of a search that differs between engines, for one question to one content version. This file does the rest, which is the same for all
 * engines.
 */
export type PassageEngine<C extends Candidate> = {
  vocabulary: Vocabulary;
  /** The built-in synonyms and those of the content version. */
  synonyms: Synonyms;
  collection: CollectionFacts;
  /**
   * The best passages by the engine's own measure, of pages that the question's filter admits and that are not excluded: those with one of the terms,
   * and the first ones of pages to which links with one of them lead. There are at most a few hundred. If passages have vectors of the model of the
   * question's `meaning`, each has its `meaning`, and the nearest ones are included, see `onlyByMeaning`.
   */
  candidates(terms: ReadonlyMap<string, number>, query: SearchQuery): Promise<C[]>;
  /** Titles, headings and texts of candidates, in their order. Called only for questions with literal parts. */
  texts(candidates: readonly C[]): Promise<string[]>;
  /** The page that the reader is on. */
  near(path: string): Promise<Near | undefined>;
  /** The shown fields of the found passages, in their order. */
  show(candidates: readonly C[]): Promise<Omit<FoundPassage, 'score' | 'coverage' | 'terms' | 'explanation'>[]>;
};

/** The best passages of the engine's content version, best first. */
export async function searchPassages<C extends Candidate>(
  engine: PassageEngine<C>,
  query: SearchQuery,
): Promise<FoundPassage[]> {
  const searched = await searchedQuery(query.query, engine.vocabulary, engine.synonyms);
  if (searched === undefined) return [];
  const terms = new Map<string, number>();
  for (const word of searched.words) {
    for (const [term, share] of word.terms) terms.set(term, Math.max(share, terms.get(term) ?? 0));
  }
  if (terms.size === 0 && query.meaning === undefined) return [];
  const near = query.near === undefined ? undefined : await engine.near(query.near);
  const rank = (candidates: readonly C[]): Ranked<C>[] => rankPassages(searched, candidates, engine.collection, near);
  const candidates = await engine.candidates(terms, query);
  const ranked = rank(candidates);
  const exact = await exactOf(engine, query.query, ranked);
  const best = firstOf(exact === undefined ? ranked : rank(candidates.map(exact)), query.limit, query.passagesPerPage);
  const shown = await engine.show(best.map(({ candidate }) => candidate));
  const all = new Set(terms.keys());
  const words = query.explain
    ? searched.words.map(({ word, terms }) => ({ word, terms: Object.fromEntries(terms) }))
    : undefined;
  return shown.map((passage, at) => {
    const { score, coverage, signals } = best[at] as Ranked<C>;
    return { ...passage, score, coverage, terms: all, ...(words && { explanation: { signals, words } }) };
  });
}

/** Number of passages whose texts are read. A passage with a literal name also has the terms of that name, so it ranks among them. */
const mostExact = 40;

/** Adds to each candidate its share of the question's literal parts. Undefined if the question has none, or no passage contains one. */
async function exactOf<C extends Candidate>(
  engine: PassageEngine<C>,
  query: string,
  ranked: readonly Ranked<C>[],
): Promise<((candidate: C) => C) | undefined> {
  const spans = exactSpans(query);
  if (spans.length === 0) return undefined;
  const first = ranked.slice(0, mostExact).map(({ candidate }) => candidate);
  const texts = await engine.texts(first);
  const shares = new Map(first.map((candidate, at) => [candidate, exactShare(spans, texts[at] ?? '')] as const));
  if (![...shares.values()].some((share) => share > 0)) return undefined;
  return (candidate) => {
    const exact = shares.get(candidate) ?? 0;
    return exact === 0 ? candidate : { ...candidate, exact };
  };
}

function firstOf<C extends Candidate>(ranked: readonly Ranked<C>[], limit: number, perPage = limit): Ranked<C>[] {
  const counts = new Map<string, number>();
  const first: Ranked<C>[] = [];
  for (const one of ranked) {
    const { path } = one.candidate.page;
    const count = (counts.get(path) ?? 0) + 1;
    if (count > perPage) continue;
    counts.set(path, count);
    first.push(one);
    if (first.length === limit) break;
  }
  return first;
}
