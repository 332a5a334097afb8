/**
 * The ranking that all search adapters share: an engine finds candidates, this orders them. The base is BM25F (Robertson and Zaragoza 2009:
 * weighted term frequencies of the fields are added before they saturate). It is multiplied by the share of the question that the passage
 * covers: a passage with all words beats one that repeats a rare word. Then a share of the page's other passages is added: a page about the
 * topic beats one that mentions it. The weights are measured, see `test/bench/search-quality.ts`. Pure. Terms are those of `analyzeText`, scores
 * are 0–1.
 */
export function rankPassages<C extends RankedCandidate>(
  queryTerms: readonly string[],
  candidates: readonly C[],
  collection: CollectionFacts,
  near?: Near,
): Ranked<C>[] {
  const idf = new Map(queryTerms.map((term) => [term, inverseFrequency(collection, term)]));
  const idfSum = [...idf.values()].reduce((sum, value) => sum + value, 0);
  if (idfSum === 0) return [];
  const matches = candidates.map((candidate) => matchScore(candidate, idf, idfSum, collection));
  const support = pageSupport(
    candidates,
    matches.map(({ match }) => match),
  );
  return candidates
    .map((candidate, at) => {
      const { match, coverage } = matches[at] ?? { match: 0, coverage: 0 };
      const supported = (match + (support[at] ?? 0)) / (1 + maxSupport);
      return { candidate, coverage, score: Math.min(1, supported * candidate.boost * nearness(candidate, near)) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.candidate.order - b.candidate.order);
}

/** The page that the reader is on. */
export type Near = { path: string; language: string | undefined; version: string | undefined };

/** `coverage`: share of the question that the passage has, each term by how rare it is, 0–1. */
export type Ranked<C> = { candidate: C; score: number; coverage: number };

export type RankedCandidate = {
  path: string;
  language: string | undefined;
  version: string | undefined;
  boost: number;
  /** Terms by field. `title` has the title's terms and the page's keywords, `path` those of the page's path. */
  terms: Record<Field, readonly string[]>;
  /** Position in the index; decides between equal scores. */
  order: number;
};

export type CollectionFacts = {
  passageCount: number;
  /** How many passages have a term, in any field. */
  passagesWith(term: string): number;
  averageLength: Record<Field, number>;
};

export const fields = ['title', 'path', 'heading', 'text'] as const;
export type Field = (typeof fields)[number];

const weights: Record<Field, number> = { title: 5, path: 3.5, heading: 2, text: 1 };
/** How much a longer field counts less, 0–1. */
const lengthPenalty: Record<Field, number> = { title: 0.9, path: 0.6, heading: 0.6, text: 0.55 };
/** Weighted frequency at which a term has half its weight. */
const saturation = 8.5;
const coverageExponent = 0.4;
/** What the page's second-best and third-best passages add. */
const supportShares = [0.34, 0.17];
const maxSupport = 0.51;

const otherLanguage = 0.4;
const otherVersion = 0.5;
const samePage = 1.15;

function matchScore(
  candidate: RankedCandidate,
  idf: ReadonlyMap<string, number>,
  idfSum: number,
  collection: CollectionFacts,
): { match: number; coverage: number } {
  const frequencies = new Map<string, number>();
  for (const field of fields) {
    const terms = candidate.terms[field];
    const relativeLength = terms.length / (collection.averageLength[field] || 1);
    const unit = weights[field] / (1 - lengthPenalty[field] + lengthPenalty[field] * relativeLength);
    for (const term of terms) if (idf.has(term)) frequencies.set(term, (frequencies.get(term) ?? 0) + unit);
  }
  let score = 0;
  let covered = 0;
  for (const [term, frequency] of frequencies) {
    const worth = idf.get(term) ?? 0;
    score += worth * (frequency / (frequency + saturation));
    covered += worth;
  }
  const coverage = covered / idfSum;
  return { match: (score / idfSum) * coverage ** coverageExponent, coverage };
}

/** By candidate, what the best others of its page add to it. */
function pageSupport(candidates: readonly RankedCandidate[], matches: readonly number[]): number[] {
  const bestOfPage = new Map<string, { at: number; match: number }[]>();
  for (const [at, { path }] of candidates.entries()) {
    const best = bestOfPage.get(path) ?? [];
    best.push({ at, match: matches[at] ?? 0 });
    best.sort((a, b) => b.match - a.match);
    bestOfPage.set(path, best.slice(0, supportShares.length + 1));
  }
  return candidates.map(({ path }, at) => {
    const others = (bestOfPage.get(path) ?? []).filter((other) => other.at !== at);
    return supportShares.reduce((sum, share, rank) => sum + share * (others[rank]?.match ?? 0), 0);
  });
}

function inverseFrequency(collection: CollectionFacts, term: string): number {
  const count = collection.passagesWith(term);
  return Math.log(1 + (collection.passageCount - count + 0.5) / (count + 0.5));
}

function nearness(candidate: RankedCandidate, near: Near | undefined): number {
  if (!near) return 1;
  let factor = candidate.path === near.path ? samePage : 1;
  if (near.language !== undefined && candidate.language !== undefined && candidate.language !== near.language)
    factor *= otherLanguage;
  if (near.version !== undefined && candidate.version !== undefined && candidate.version !== near.version)
    factor *= otherVersion;
  return factor;
}
