import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { analyzeQuery } from '#shared/search/ranking/analyze-text.ts';
import { exactSpans } from '#shared/search/ranking/exact-spans.ts';
import { languageNotice } from '#shared/search/ranking/question-language.ts';
import { markdownBlocks, termCount } from './markdown-blocks.ts';
import { markdownAddress, markdownLine } from './markdown-text.ts';
import { notInDocumentation, type PromptPassage, readPromptPassages, seeAlso } from './prompt-passages.ts';
import { type QuestionKind, questionKind, quoteSection } from './quote-section.ts';
import { isAboutPage, retrievalQuery } from './retrieval-query.ts';

/**
 * A language model that cannot invent anything: it only quotes the passages in the prompt. It needs no network and no API key, and gives the same
 * answer to the same prompt.
 */
export function extractiveModel(): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'bindery',
    modelId: 'extractive',
    supportedUrls: {},
    async doGenerate(options) {
      const text = answerTo(options);
      const content: LanguageModelV4Content[] = [{ type: 'text', text }];
      return { content, finishReason: { unified: 'stop', raw: 'stop' }, usage: usageOf(options, text), warnings: [] };
    },
    async doStream(options) {
      return { stream: ReadableStream.from(parts(options)) };
    },
  };
}

/** True for the model whose answers are free: it counts words, not tokens. */
export const isExtractive = ({ provider, modelId }: LanguageModelV4): boolean =>
  provider === 'bindery' && modelId === 'extractive';

async function* parts(options: LanguageModelV4CallOptions): AsyncGenerator<LanguageModelV4StreamPart> {
  const text = answerTo(options);
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: 'answer' };
  for (const delta of text.match(pieces) ?? []) {
    options.abortSignal?.throwIfAborted();
    yield { type: 'text-delta', id: 'answer', delta };
  }
  yield { type: 'text-end', id: 'answer' };
  yield { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: usageOf(options, text) };
}

/** A few words, about as much as other models send at a time. */
const pieces = /\s*(?:\S+\s+){0,2}\S*\s*/g;

function answerTo({ prompt }: LanguageModelV4CallOptions): string {
  const texts = userTexts(prompt);
  const { passages, question } = readPromptPassages(texts.at(-1) ?? '');
  const questions = [...texts.slice(0, -1), question].map((text) => ({ role: 'user' as const, text }));
  return extractAnswer(question, passages, retrievalQuery(questions));
}

const userTexts = (prompt: LanguageModelV4CallOptions['prompt']): string[] =>
  prompt.flatMap((message) =>
    message.role === 'user' ? [message.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')] : [],
  );

const lastUserText = (prompt: LanguageModelV4CallOptions['prompt']): string => userTexts(prompt).at(-1) ?? '';

/** Usage in words, because this model has no tokens. */
function usageOf({ prompt }: LanguageModelV4CallOptions, text: string): LanguageModelV4Usage {
  const count = (value: string): number => value.match(/\S+/g)?.length ?? 0;
  const input = count(lastUserText(prompt));
  const output = count(text);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  };
}

/**
 * Minimum rating of a passage (its relevance plus the bonuses of its title) for an answer. It is reached by 29 of 30 questions of newcomers to
 * real sites, and by none of 10 questions that those sites do not answer: the best of these has 0.47 (`npm run bench:assistant-quality`).
 */
const minRelevance = 0.48;
/** Bonus for a title that has all words of the question. Titles of unrelated sections have none of them. */
const titleBonus = 0.2;
/** Bonus for a command or steps when the question asks how. */
const showsHowBonus = 0.05;
const opensBonus = 0.02;
/** Penalty for a section that is not about the topic of its page, unless the question asked for it. */
const asideMalus = 0.15;
const aside =
  /\b(?:prerequisites?|requirements?|examples|reference|before you (?:begin|start)|next steps?|see also|related(?: .*)?|further reading|limitations?|troubleshooting|faq|resources|where to go next)$/i;
/** Bonus for a section whose own heading has all words of the question, compared with other sections of its page. */
const headingBonus = 0.15;
/**
 * Minimum rating for quoting the best-ranked page once any passage reaches `minRelevance`. It is lower, because the search ranked the page by more
 * than its words.
 */
const minOfPage = 0.4;
const mostPages = 3;

/**
 * An answer in Markdown that only quotes: the relevant part of the best section with its link, then links to the next pages. If no passage is good
 * enough, it says so and names the nearest pages. It adds a notice if the question is in another language than the passages. `searched`: the search
 * query, which includes earlier questions that this one refers to. Pure.
 */
export function extractAnswer(question: string, passages: readonly PromptPassage[], searched = question): string {
  const terms = new Set(analyzeQuery(searched));
  const about = isAboutPage(question);
  const rated = passages.map((passage) => ({ passage, rating: ratingOf(passage, terms) }));
  const best = Math.max(0, ...rated.map(({ rating }) => rating));
  const notice = languageNotice(question, passages);
  const refusal = [notInDocumentation, ...(notice === undefined ? [] : [notice]), ...nearest(passages)].join('\n\n');
  // Words of two languages match by chance, so a passage also needs a title with the words of the question.
  const isCalledSo = passages.some(({ title }) => termCount(title, terms) * 2 >= terms.size);
  if (best < minRelevance || (notice !== undefined && !isCalledSo)) return refusal;
  const kind = about ? 'page' : questionKind(question);
  const pages = pagesOf(rated).filter(({ rating }) => rating >= minOfPage);
  const isName = exactSpans(question).length > 0;
  const defining = isName ? pages.find(({ sections }) => sections.some((one) => defines(one, terms))) : undefined;
  const own = new Set(searched === question ? [] : analyzeQuery(question));
  const page = defining ?? pages.find(({ sections }) => sections.some((one) => isCalled(one, own, terms))) ?? pages[0];
  if (page === undefined) return refusal;
  const called = page.sections.filter((one) => isCalled(one, own, terms));
  const [first = page.sections[0], ...rest] = called.length > 0 ? called : page.sections;
  const quoted = kind === 'start' || about ? opening(page.sections) : bestOf([first, ...rest], kind, terms);
  const reads = (kind === 'how' || kind === 'other') && isWholePage(quoted) ? 'page' : kind;
  const sections = about ? sectionsOf(quoted) : undefined;
  const quote = [quoteSection(quoted.text, terms, reads, new Set(analyzeQuery(question))), sections, linkTo(quoted)]
    .filter((part) => part !== undefined)
    .join('\n\n');
  const more = onePerPage(passages)
    .filter(({ url }) => pageOf(url) !== pageOf(quoted.url))
    .slice(0, mostPages - 1)
    .map(linkTo);
  const others = more.length === 0 ? undefined : `${seeAlso} ${more.join(', ')}.`;
  return [quote, others, notice].filter((part) => part !== undefined).join('\n\n');
}

type Rated = { passage: PromptPassage; rating: number };

/** Pages in the order of the search results, each with its sections. */
function pagesOf(rated: readonly Rated[]): { rating: number; sections: readonly [Rated, ...Rated[]] }[] {
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

/** True if the section's heading has all words that are new in a follow-up question, and no word that was not asked for. */
function isCalled({ passage: { title } }: Rated, own: ReadonlySet<string>, terms: ReadonlySet<string>): boolean {
  const name = analyzeQuery(title.split(' › ').at(-1) ?? '').filter((term) => !/^\d+$/.test(term));
  return own.size > 0 && own.isSubsetOf(new Set(name)) && name.every((term) => terms.has(term));
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
    const showsHow = kind === 'how' && /^\s*(?:```|1[.)]\s)/m.test(passage.text);
    const opens = !passage.url.includes('#');
    const isAside = aside.test(passage.title) && termCount(aside.exec(passage.title)?.[0] ?? '', terms) === 0;
    const heading =
      headingBonus * (termCount(passage.title.split(' › ').at(-1) ?? '', terms) / Math.max(1, terms.size));
    return rating + heading + (showsHow ? showsHowBonus : 0) + (opens ? opensBonus : 0) - (isAside ? asideMalus : 0);
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
