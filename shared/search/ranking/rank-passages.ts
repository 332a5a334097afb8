import { analyzeText, topicalCount, topicalTerms } from './analyze-text.ts';
import type { QueryWord, SearchedQuery } from './query-words.ts';

/** All signals of the ranking, with the maximum contribution of each. Measured on known questions, see `test/bench/search-quality.ts`. */
const signalWeights = {
  /** Match of the page's best passages, relative to the best page: BM25F × covered share of the question. */
  passages: 1,
  /** Match of all passages of the page taken as one, relative to the best page. */
  page: 0.5,
  /** The best match of a link's words: share of the question × share of the words. */
  bestLink: 1.3,
  /** Sum of the matches of all links. */
  links: 0.14,
  /** Logarithm of the number of pages that link to it. */
  linkedFrom: 0.02,
  /** The question is its title or another name of it: word for word, or less for names that differ in stop words and order. */
  exactTitle: 2.4,
  /** Match of its title, or of one of its other names. */
  title: 0.5,
  /** Match of the best of its headings. */
  heading: 0.25,
  /** Share of the question's flags, names in code, addresses and quotations that one of its passages contains literally. See `exactSpans`. */
  exact: 2,
  /** Similarity of meaning of its best passage, if there are vectors. See `meaningOf`. */
  meaning: 2,
};
type Signals = Record<keyof typeof signalWeights, number>;

/**
 * The fields in which words are counted. `title`: title and keywords; `path`: the parts of the path; `heading`: all headings above a
 * passage.
 */
export const fields = ['title', 'path', 'heading', 'text'] as const;
type Field = (typeof fields)[number];

/** The part of a candidate that all passages of a page share. Terms are those of `analyzeText`, in order. */
export type CandidatePage = {
  path: string;
  language: string | undefined;
  version: string | undefined;
  boost: number;
  title: readonly string[];
  /** Terms of each other name of the page. Its keywords include these terms, too. */
  names: readonly (readonly string[])[];
  keywords: readonly string[];
  pathTerms: readonly string[];
  /** Number of terms of all its texts. */
  textLength: number;
  /** Terms of each link from a page that the reader may see and that is not excluded. Links without a term of the question may be left out. */
  links: readonly (readonly string[])[];
  /** Number of such pages with links to it. */
  linkedFrom: number;
};

export type Candidate = {
  page: CandidatePage;
  heading: readonly string[];
  /** The frequency of each searched term that occurs in the text. */
  text: Iterable<readonly [term: string, count: number]>;
  /** Number of terms in the text, with repetitions. */
  textLength: number;
  /** Position in its page. Among equal scores the path and the position decide. */
  position: number;
  /** Share of the question's literal parts that it contains, see `exactSpans`. Absent if the question has none, or if the text was not checked. */
  exact?: number | undefined;
  /** Similarity of its meaning to the question's, 0–1. Absent if it is not known. */
  meaning?: number | undefined;
};

/** Average lengths of passages by field, and of the texts of a page. */
export type CollectionFacts = { averageLength: Record<Field, number>; averagePageLength: number };

/** The page that the reader is on. */
export type Near = { path: string; language: string | undefined; version: string | undefined };

/**
 * `score`: 0–1. `coverage`: share of the question's words in the passage, each weighted by its rarity, 0–1. `signals`: their contributions
 * to the page's score.
 */
export type Ranked<C> = { candidate: C; score: number; coverage: number; signals: Signals };

const fieldWeights: Record<Field, number> = { title: 5, path: 3.5, heading: 2, text: 1 };
/** Penalty for long fields, 0–1. */
const lengthPenalty: Record<Field, number> = { title: 0.9, path: 0.6, heading: 0.6, text: 0.55 };
const pageLengthPenalty = 0.6;
/** Weighted frequencies at which a word has half its weight. */
const saturation = 8.5;
const pageSaturation = 12;
/** Contributions of the page's second-best and third-best passages. */
const supportShares = [0.34, 0.17];
/** Share of the page's score that a passage keeps, however badly it matches itself. */
const pageShare = 0.6;

const otherLanguage = 0.4;
const otherVersion = 0.5;
const samePage = 1.15;

/** Values of a name that differs from the question only in stop words and order, and of one that also has words of presentation. */
const sameTopic = 0.5;
const samePresented = 0.35;

/**
 * The ranking that all search engines share: an engine finds candidates, and this function orders them. A page is scored as a whole by the signals
 * above; its passages are ordered by their own matches (BM25F by Robertson and Zaragoza 2009: weighted frequencies of the fields are added before
 * they saturate). Pure.
 */
export function rankPassages<C extends Candidate>(
  query: SearchedQuery,
  candidates: readonly C[],
  collection: CollectionFacts,
  near?: Near,
): Ranked<C>[] {
  const question = questionOf(query);
  const scored = [...Map.groupBy(candidates, ({ page }) => page)].map(([page, ofPage]) => {
    const frequencies = frequenciesOfPage(page, question, collection);
    const matches = ofPage.map((candidate) => matchPassage(candidate, frequencies, question, collection));
    matches.sort((a, b) => b.match - a.match || a.candidate.position - b.candidate.position);
    const passages = withSupport(matches) * page.boost;
    return { page, matches, passages, whole: matchPage(page, matches, question, collection) };
  });
  const bestPassages = greatest(scored, ({ passages }) => passages) || 1;
  const bestWhole = greatest(scored, ({ whole }) => whole) || 1;
  const certainty = greatest(scored, ({ matches }) => greatest(matches, certaintyOf));
  const asked = askedFor(query.title);

  const ranked: Ranked<C>[] = [];
  for (const { page, matches, passages, whole } of scored) {
    const names = [page.title, ...page.names];
    const nearest = bestMeaning(matches);
    const signals = weighted({
      passages: passages / bestPassages,
      page: whole / bestWhole,
      ...linkSignals(page, question),
      exactTitle: greatest(names, (name) => sameness(name, asked)),
      title: greatest(names, (name) => fit(name, question)),
      heading: greatest(matches, ({ candidate }) => fit(candidate.heading, question)),
      exact: greatest(matches, ({ candidate }) => candidate.exact ?? 0),
      meaning: nearest,
    });
    const sum = Object.values(signals).reduce((total, value) => total + value, 0) * nearness(page, near);
    if (sum === 0) continue;
    const bestMatch = matches[0]?.match || 1;
    for (const { candidate, match, coverage } of matches) {
      const byWords = match / bestMatch;
      // Meaning and words have equal weight, if the meaning is known for the page.
      const fits = nearest === 0 ? byWords : (byWords + (candidate.meaning ?? 0) / nearest) / 2;
      const share = pageShare + (1 - pageShare) * Math.max(fits, candidate.exact ?? 0);
      // Keeps the order of the sums, and is lower when even the best passage covers little of the question.
      const score = 1 - Math.exp(-sum * share * certainty);
      ranked.push({ candidate, score, coverage, signals });
    }
  }
  return ranked.sort((a, b) => b.score - a.score || byPlace(a.candidate, b.candidate));
}

const certaintyOf = ({ coverage, candidate }: PassageMatch<Candidate>): number =>
  Math.max(coverage, candidate.meaning ?? 0);

const bestMeaning = (matches: readonly PassageMatch<Candidate>[]): number =>
  greatest(matches, ({ candidate }) => candidate.meaning ?? 0);

/** The greatest value, or 0. */
function greatest<T>(all: readonly T[], valueOf: (one: T) => number): number {
  let most = 0;
  for (const one of all) most = Math.max(most, valueOf(one));
  return most;
}

function byPlace(a: Candidate, b: Candidate): number {
  if (a.page.path !== b.page.path) return a.page.path < b.page.path ? -1 : 1;
  return a.position - b.position;
}

type Question = {
  words: readonly QueryWord[];
  idfSum: number;
  /** For each searched term, the numbers of the words that it stands for, and its weight for each. */
  sharesOf: ReadonlyMap<string, readonly { word: number; share: number }[]>;
};

function questionOf({ words }: SearchedQuery): Question {
  const sharesOf = new Map<string, { word: number; share: number }[]>();
  for (const [word, { terms }] of words.entries()) {
    for (const [term, share] of terms) sharesOf.set(term, [...(sharesOf.get(term) ?? []), { word, share }]);
  }
  return { words, sharesOf, idfSum: words.reduce((sum, { idf }) => sum + idf, 0) || 1 };
}

/** Weighted frequency of each word of the question, and the greatest weight of its terms. */
class Frequencies {
  readonly #question: Question;
  readonly #frequencies: number[];
  readonly #shares: number[];

  constructor(question: Question, from?: Frequencies) {
    this.#question = question;
    this.#frequencies = from ? [...from.#frequencies] : question.words.map(() => 0);
    this.#shares = from ? [...from.#shares] : question.words.map(() => 0);
  }

  add(term: string, count: number): void {
    const shares = this.#question.sharesOf.get(term);
    if (shares === undefined) return;
    for (const { word, share } of shares) {
      this.#frequencies[word] = (this.#frequencies[word] ?? 0) + share * count;
      this.#shares[word] = Math.max(share, this.#shares[word] ?? 0);
    }
  }

  /** Adds each of the terms once, even if it is repeated. */
  addOnce(terms: readonly string[], count: number): void {
    for (let at = 0; at < terms.length; at += 1) {
      const term = terms[at] ?? '';
      if (this.#question.sharesOf.has(term) && terms.indexOf(term) === at) this.add(term, count);
    }
  }

  /** BM25 of the frequencies × the share of the question that they cover. */
  match(saturation: number): { match: number; coverage: number } {
    const { words, idfSum } = this.#question;
    let score = 0;
    let covered = 0;
    for (let word = 0; word < words.length; word += 1) {
      const idf = words[word]?.idf ?? 0;
      const frequency = this.#frequencies[word] ?? 0;
      score += idf * (frequency / (frequency + saturation));
      covered += idf * (this.#shares[word] ?? 0);
    }
    const coverage = covered / idfSum;
    return { match: (score / idfSum) * coverage, coverage };
  }
}

/** Frequencies of the fields that all passages of a page share. */
function frequenciesOfPage(page: CandidatePage, question: Question, { averageLength }: CollectionFacts): Frequencies {
  const frequencies = new Frequencies(question);
  const ofTitle = unit('title', page.title.length + page.keywords.length, averageLength);
  for (const term of page.title) frequencies.add(term, ofTitle);
  for (const term of page.keywords) frequencies.add(term, ofTitle);
  const ofPath = unit('path', page.pathTerms.length, averageLength);
  for (const term of page.pathTerms) frequencies.add(term, ofPath);
  return frequencies;
}

function unit(field: Field, length: number, averageLength: CollectionFacts['averageLength']): number {
  const relative = length / (averageLength[field] || 1);
  return fieldWeights[field] / (1 - lengthPenalty[field] + lengthPenalty[field] * relative);
}

type PassageMatch<C> = { candidate: C; match: number; coverage: number };

function matchPassage<C extends Candidate>(
  candidate: C,
  ofPage: Frequencies,
  question: Question,
  { averageLength }: CollectionFacts,
): PassageMatch<C> {
  const { heading, text, textLength } = candidate;
  const frequencies = new Frequencies(question, ofPage);
  const ofHeading = unit('heading', heading.length, averageLength);
  for (const term of heading) frequencies.add(term, ofHeading);
  const ofText = unit('text', textLength, averageLength);
  for (const [term, count] of text) frequencies.add(term, ofText * count);
  return { candidate, ...frequencies.match(saturation) };
}

function withSupport(matches: readonly PassageMatch<Candidate>[]): number {
  const [best, ...others] = matches.map(({ match }) => match);
  const support = supportShares.reduce((sum, share, rank) => sum + share * (others[rank] ?? 0), 0);
  return (best ?? 0) + support;
}

function matchPage(
  page: CandidatePage,
  matches: readonly PassageMatch<Candidate>[],
  question: Question,
  { averagePageLength }: CollectionFacts,
): number {
  const frequencies = new Frequencies(question);
  const one = 1 / (1 - pageLengthPenalty + pageLengthPenalty * (page.textLength / (averagePageLength || 1)));
  frequencies.addOnce(page.title, one * fieldWeights.title);
  for (const term of new Set(page.keywords))
    if (!page.title.includes(term)) frequencies.add(term, one * fieldWeights.title);
  for (const term of page.pathTerms) frequencies.add(term, one * fieldWeights.path);
  for (const { candidate } of matches) {
    frequencies.addOnce(candidate.heading, one * fieldWeights.heading);
    for (const [term, count] of candidate.text) frequencies.add(term, one * fieldWeights.text * count);
  }
  return frequencies.match(pageSaturation).match;
}

function linkSignals(
  { links, linkedFrom }: CandidatePage,
  question: Question,
): Pick<Signals, 'bestLink' | 'links' | 'linkedFrom'> {
  let best = 0;
  let sum = 0;
  for (const link of links) {
    const fits = fit(link, question);
    best = Math.max(best, fits);
    sum += fits;
  }
  return { bestLink: best, links: sum / (1 + sum), linkedFrom: Math.log(1 + linkedFrom) };
}

/** Share of the question that a name covers × share of the name that is about the question, 0–1. Stop words of the name do not count. */
function fit(name: readonly string[], { words, sharesOf, idfSum }: Question): number {
  let covered: number[] | undefined;
  let fitting = 0;
  for (let at = 0; at < name.length; at += 1) {
    const shares = sharesOf.get(name[at] ?? '');
    if (shares === undefined || name.indexOf(name[at] ?? '') < at) continue;
    covered ??= words.map(() => 0);
    let most = 0;
    for (const { word, share } of shares) {
      covered[word] = Math.max(share, covered[word] ?? 0);
      most = Math.max(share, most);
    }
    fitting += most;
  }
  if (covered === undefined) return 0;
  const sum = covered.reduce((total, share, word) => total + share * (words[word]?.idf ?? 0), 0);
  return (sum / idfSum) * Math.min(1, fitting / topicalCount(name));
}

function weighted(values: Signals): Signals {
  const result = { ...values };
  for (const signal of Object.keys(signalWeights) as (keyof Signals)[]) result[signal] *= signalWeights[signal];
  return result;
}

/** Words that present the subject of a title: "Welcome to X" is about X. */
const presentation = new Set(analyzeText('welcome introduction introducing overview documentation docs'));

function withoutPresentation(terms: readonly string[]): readonly string[] {
  const rest = terms.filter((term) => !presentation.has(term));
  return rest.length === 0 ? terms : rest;
}

/** True if a title names just the subject of a question: "Welcome to X" for a question about X. Pure. */
export const isTitleOf = (title: string, question: string): boolean =>
  sameness(analyzeText(title), askedFor(analyzeText(question))) > 0;

/** A question prepared for comparison with names. `topic`: its terms without stop words. */
type Asked = { terms: readonly string[]; all: ReadonlySet<string>; topic: readonly string[] };

const askedFor = (terms: readonly string[]): Asked => ({ terms, all: new Set(terms), topic: topicalTerms(terms) });

/** Similarity of a question to a name, 0–1. */
function sameness(name: readonly string[], asked: Asked): number {
  if (!name.some((term) => asked.all.has(term))) return 0;
  if (name.length === asked.terms.length && name.every((term, at) => term === asked.terms[at])) return 1;
  const topic = topicalTerms(name);
  if (isSameSet(topic, asked.topic)) return sameTopic;
  return isSameSet(withoutPresentation(topic), withoutPresentation(asked.topic)) ? samePresented : 0;
}

const isSameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length > 0 && a.length === b.length && a.every((term) => b.includes(term));

function nearness(page: CandidatePage, near: Near | undefined): number {
  if (!near) return 1;
  let factor = page.path === near.path ? samePage : 1;
  if (near.language !== undefined && page.language !== undefined && page.language !== near.language)
    factor *= otherLanguage;
  if (near.version !== undefined && page.version !== undefined && page.version !== near.version) factor *= otherVersion;
  return factor;
}
