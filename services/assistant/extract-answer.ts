import { analyzeQuery } from '#shared/search/ranking/analyze-text.ts';
import { exactSpans } from '#shared/search/ranking/exact-spans.ts';
import { languageNotice } from '#shared/search/ranking/language-notice.ts';
import { markdownBlocks, termCount } from './markdown-blocks.ts';
import { markdownAddress, markdownLine } from './markdown-text.ts';
import { asksForInterface, isOperation } from './operation-pages.ts';
import { notInDocumentation, type PromptPart, type PromptPassage, seeAlso } from './prompt-passages.ts';
import { type QuestionKind, questionKind, quoteSection } from './quote-section.ts';
import { mostParts, partQuery, questionParts } from './question-parts.ts';
import { isAboutPage } from './retrieval-query.ts';

/**
 * Minimum rating of a passage (its relevance plus the bonuses of its title) for an answer. This and the next limit are tuned on the questions of
 * `npm run bench:assistant-quality`, so their result there says little about other questions.
 */
const minRelevance = 0.51;
/** The same where passages have only one word of the question: rare words match by chance, such as "France" and the package `franc`. */
const minOfOneWord = 0.6;
/** Bonus for a title that has all words of the question. Titles of unrelated sections have none of them. */
const titleBonus = 0.2;
/** Bonus for a command or steps when the question asks how. */
const showsHowBonus = 0.05;
const opensBonus = 0.02;
/** Penalty for a section that is not about the topic of its page, unless the question asked for it. */
const asideMalus = 0.15;
const aside =
  /\b(?:prerequisites?|requirements?|examples|reference|before you (?:begin|start)|next steps?|see also|related(?: .*)?|further reading|limitations?|troubleshooting|faq|resources|links|learn more|where to go next)$/i;
/** Bonus for a section whose own heading has all words of the question, compared with other sections of its page. */
const headingBonus = 0.15;
/**
 * Minimum rating for quoting the best-ranked page once any passage reaches `minRelevance`. It is lower, because the search ranked the page by more
 * than its words.
 */
const minOfPage = 0.4;
const mostPages = 3;

/** An answer to one question or one part of a question. */
type Quoted = {
  /** The quotation with its link, or the sentence that nothing answers. */
  text: string;
  isRefused: boolean;
  /** Address of the quoted section. */
  url: string | undefined;
  /** The nearest other passages, the best first. */
  others: readonly PromptPassage[];
};

/**
 * An answer in Markdown that only quotes: for each part of the question the relevant part of the best section with its link, then links to the next pages.
 * If no passage is good enough, it says so and names the nearest pages. It adds a notice if the question is in another language than the passages.
 * `earlier`: the earlier questions of the conversation. Pure.
 */
export function extractAnswer(question: string, parts: readonly PromptPart[], earlier: readonly string[] = []): string {
  const passages = parts.flatMap((part) => part.passages);
  const notice = languageNotice(question, passages)?.inOwn;
  const asked = parts.map((part) => part.question);
  const turns = earlier.map((text) => ({ role: 'user' as const, text }));
  const answers = parts.map((part, at) => quoteFor(part, partQuery(asked, at, turns), notice !== undefined));
  const lines = answers.every(({ isRefused }) => isRefused)
    ? [notInDocumentation, notice, ...nearest(passages)]
    : [...(answers.length === 1 ? [answers[0]?.text] : inParts(asked, answers)), seeAlsoOf(answers), notice];
  return [...lines, leftOut(question, parts)].filter((line) => line !== undefined).join('\n\n');
}

/** Each part as a heading with its answer. Adjacent parts with the same answer share it. */
function inParts(asked: readonly string[], answers: readonly Quoted[]): string[] {
  const shown: { names: string[]; text: string }[] = [];
  for (const [at, { text, url, isRefused }] of answers.entries()) {
    const name = `**${markdownLine(asked[at] ?? '').replaceAll('**', '')}**`;
    const last = shown.at(-1);
    if (last?.text === text && !isRefused) last.names.push(name);
    else if (shown.some((one) => one.text === text) && url !== undefined)
      shown.push({
        names: [name],
        text: `The quotation from ${/\[[^\n]*$/.exec(text)?.[0] ?? ''} above answers this, too.`,
      });
    else shown.push({ names: [name], text });
  }
  return shown.map(({ names, text }) => [names.join('\\\n'), text].join('\n\n'));
}

function seeAlsoOf(answers: readonly Quoted[]): string | undefined {
  const quoted = new Set(answers.flatMap(({ url }) => (url === undefined ? [] : [pageOf(url)])));
  const others = answers.map(({ others }) => others.filter(({ url }) => !quoted.has(pageOf(url))));
  // The best of each part come first.
  const inTurn = Array.from({ length: mostPages }, (_, rank) =>
    others.flatMap((some) => some.slice(rank, rank + 1)),
  ).flat();
  const more = onePerPage(inTurn).slice(0, mostPages - 1);
  return more.length === 0 ? undefined : `${seeAlso} ${more.map(linkTo).join(', ')}.`;
}

function leftOut(question: string, parts: readonly PromptPart[]): string | undefined {
  if (parts.length < mostParts) return undefined;
  const count = questionParts(question).parts.length - parts.length;
  return count <= 0
    ? undefined
    : `The question has ${parts.length + count} parts. The first ${parts.length} are answered; ask the others again.`;
}

/** `searched`: the search query, which includes earlier questions that this one refers to. `isForeign`: the question is in another language. */
function quoteFor({ question, passages }: PromptPart, searched: string, isForeign: boolean): Quoted {
  const terms = new Set(analyzeQuery(searched));
  const about = isAboutPage(question);
  const rated = passages.map((passage) => ({ passage, rating: ratingOf(passage, terms) }));
  const best = Math.max(0, ...rated.map(({ rating }) => rating));
  const refused: Quoted = { text: noPart, isRefused: true, url: undefined, others: onePerPage(passages) };
  // Words of two languages match by chance, so a passage also needs a title with the words of the question.
  const isCalledSo = passages.some(({ title }) => termCount(title, terms) * 2 >= terms.size);
  const isOneWord = terms.size > 1 && passages.every(({ title, text }) => termCount(`${title} ${text}`, terms) < 2);
  if (best < (isOneWord ? minOfOneWord : minRelevance) || (isForeign && !isCalledSo)) return refused;
  const kind = about ? 'page' : questionKind(question);
  const pages = pagesOf(rated).filter(({ rating }) => rating >= minOfPage);
  const isName = exactSpans(question).length > 0;
  const defining = isName ? pages.find(({ sections }) => sections.some((one) => defines(one, terms))) : undefined;
  const own = new Set(searched === question ? [] : analyzeQuery(question));
  const isGuide = ({ sections }: Page): boolean => !sections.some(({ passage }) => isOperation(passage.text));
  const ofKind = asksForInterface(question) || !pages.some(isGuide) ? pages : pages.filter(isGuide);
  const page =
    defining ??
    ofKind.find(({ sections }) => sections.some((one) => isCalled(one, own, terms))) ??
    (kind === 'how' ? showingHow(pages) : undefined) ??
    pages[0];
  if (page === undefined) return refused;
  const called = page.sections.filter((one) => isCalled(one, own, terms));
  const [first = page.sections[0], ...rest] = called.length > 0 ? called : page.sections;
  const quoted = kind === 'start' || about ? opening(page.sections) : bestOf([first, ...rest], kind, terms);
  const reads = (kind === 'how' || kind === 'other') && isWholePage(quoted) ? 'page' : kind;
  const sections = about ? sectionsOf(quoted) : undefined;
  const text = [quoteSection(quoted.text, terms, reads, new Set(analyzeQuery(question))), sections, linkTo(quoted)]
    .filter((part) => part !== undefined)
    .join('\n\n');
  const others = onePerPage(passages).filter(({ url }) => pageOf(url) !== pageOf(quoted.url));
  return { text, isRefused: false, url: quoted.url, others };
}

/** The sentence for one part of a question that nothing answers, if other parts are answered. */
const noPart = 'Nothing in the documentation answers this part.';

type Rated = { passage: PromptPassage; rating: number };

type Page = { rating: number; sections: readonly [Rated, ...Rated[]] };

/** The first page with code or steps among those that match as well as the first page. */
function showingHow(pages: readonly Page[]): Page | undefined {
  const least = pages[0]?.rating ?? 0;
  return pages.find(({ rating, sections }) => rating >= least && sections.some(({ passage }) => showsHow(passage)));
}

const showsHow = ({ text }: PromptPassage): boolean => /^\s*(?:```|1[.)]\s)/m.test(text);

/** Pages in the order of the search results, each with its sections. */
function pagesOf(rated: readonly Rated[]): Page[] {
  const pages = new Map<string, [Rated, ...Rated[]]>();
  for (const one of rated) {
    const known = pages.get(pageOf(one.passage.url));
    if (known === undefined) pages.set(pageOf(one.passage.url), [one]);
    else known.push(one);
  }
  return [...pages.values()].map((sections) => ({
    rating: Math.max(...sections.map(({ rating }) => rating)),
    sections,
  }));
}

/**
 * True if the section's heading has all words that are new in a follow-up question, and no word that was not asked for, unless its page is about the
 * subject of the earlier question.
 */
function isCalled({ passage: { title } }: Rated, own: ReadonlySet<string>, terms: ReadonlySet<string>): boolean {
  const names = title.split(' › ');
  const name = analyzeQuery(names.at(-1) ?? '').filter((term) => !/^\d+$/.test(term));
  const earlier = terms.difference(own);
  const isOfSubject = names.length > 1 && analyzeQuery(names[0] ?? '').some((term) => earlier.has(term));
  return own.size > 0 && own.isSubsetOf(new Set(name)) && (isOfSubject || name.every((term) => terms.has(term)));
}

/** True if a row of a table or an item of a list begins with exactly the words that were asked for, so that it defines them. */
function defines({ passage }: Rated, terms: ReadonlySet<string>): boolean {
  return passage.text.split('\n').some((line) => {
    const [, name] = /^\s*(?:\|\s*|[-*]\s+)([^|:–—]{1,120}?)\s*(?:[|:–—]|$)/.exec(line) ?? [];
    if (name === undefined) return false;
    const named = analyzeQuery(name);
    return named.length === terms.size && named.every((term) => terms.has(term));
  });
}

const isWholePage = ({ url, text }: PromptPassage): boolean => !url.includes('#') && text.startsWith('# ');

/** The headings of a page below its start, as one line. */
function sectionsOf({ text }: PromptPassage): string | undefined {
  const headings = markdownBlocks(text).filter((block) => block.kind === 'heading' && block.text.startsWith('## '));
  if (headings.length < 2) return undefined;
  return `Sections: ${headings.map((block) => block.text.replace(/^#+\s+/, '')).join(' · ')}`;
}

const opening = (sections: readonly [Rated, ...Rated[]]): PromptPassage =>
  (sections.find(({ passage }) => !passage.url.includes('#')) ?? sections[0]).passage;

/**
 * The section with the best rating. Ties go to one with a command or steps for "how", then to one from the start of the page, then to the one that
 * was found first.
 */
function bestOf(sections: readonly [Rated, ...Rated[]], kind: QuestionKind, terms: ReadonlySet<string>): PromptPassage {
  const value = ({ passage, rating }: Rated): number => {
    const doesShow = kind === 'how' && showsHow(passage);
    const opens = !passage.url.includes('#');
    const isAside = aside.test(passage.title) && termCount(aside.exec(passage.title)?.[0] ?? '', terms) === 0;
    const heading =
      headingBonus * (termCount(passage.title.split(' › ').at(-1) ?? '', terms) / Math.max(1, terms.size));
    return rating + heading + (doesShow ? showsHowBonus : 0) + (opens ? opensBonus : 0) - (isAside ? asideMalus : 0);
  };
  return sections.reduce((best, one) => (value(one) > value(best) ? one : best)).passage;
}

function ratingOf({ title, relevance }: PromptPassage, terms: ReadonlySet<string>): number {
  return relevance + (titleBonus * termCount(title, terms)) / Math.max(1, terms.size);
}

function nearest(passages: readonly PromptPassage[]): string[] {
  const links = onePerPage(passages)
    .slice(0, mostPages)
    .map((passage) => `- ${linkTo(passage)}`);
  return links.length === 0 ? [] : [`The nearest pages are:\n\n${links.join('\n')}`];
}

const onePerPage = (passages: readonly PromptPassage[]): PromptPassage[] =>
  passages.filter(({ url }, at) => passages.findIndex((other) => pageOf(other.url) === pageOf(url)) === at);

const pageOf = (url: string): string => url.split('#')[0] ?? '';

const linkTo = ({ title, url }: PromptPassage): string => `[${markdownLine(title)}](${markdownAddress(url)})`;
