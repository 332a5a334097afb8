import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { analyzeQuery } from '#shared/search/analyze-text.ts';
import { exactSpans } from '#shared/search/exact-spans.ts';
import { languageNotice } from '#shared/search/question-language.ts';
import { markdownBlocks, termCount } from './markdown-blocks.ts';
import { markdownAddress, markdownLine } from './markdown-text.ts';
import { notInDocumentation, type PromptPassage, readPromptPassages, seeAlso } from './prompt-passages.ts';
import { type QuestionKind, questionKind, quoteSection } from './quote-section.ts';
import { isAboutPage, retrievalQuery } from './retrieval-query.ts';

/**
 * A language model that cannot make things up: it only quotes the passages in the prompt. It needs no network and no key, and gives the same
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

/** Whether answers cost nothing: this model counts words, not tokens. */
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

/** Counts words: this model has no tokens. */
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
 * Where no passage is rated so high (its relevance and what its title adds), nothing answers. Of 30 questions of newcomers to real sites 29 reach it,
 * and of 10 that nothing answers there none does; the best of those has 0.47 (`npm run bench:assistant-quality`).
 */
const minRelevance = 0.48;
/** What a title that has all words of the question adds. Sections about something else have none of them there. */
const titleBonus = 0.2;
/** What a command or steps add, for a question that asks how. */
const showsHowBonus = 0.05;
const opensBonus = 0.02;
/** What it takes away that a section is not about what its page is about, unless it was asked for. */
const asideMalus = 0.15;
const aside =
  /\b(?:prerequisites?|requirements?|examples|reference|before you (?:begin|start)|next steps?|see also|related(?: .*)?|further reading|limitations?|troubleshooting|faq|resources|where to go next)$/i;
/** What its own heading adds that has all words of the question, beside other sections of its page. */
const headingBonus = 0.15;
/** Where something answers, the page that was found best is quoted already from here on: it was found for more than its words. */
const minOfPage = 0.4;
const mostPages = 3;

/**
 * An answer in Markdown that only quotes: the part of the best section that answers, with its link; then the pages that come next.
 * Where nothing answers it says so, and names the nearest pages. A question in another language than the passages hears that, too.
 * `searched`: what was searched for, with the questions before that it goes on from. Pure.
 */
export function extractAnswer(question: string, passages: readonly PromptPassage[], searched = question): string {
  const terms = new Set(analyzeQuery(searched));
  const about = isAboutPage(question);
  const rated = passages.map((passage) => ({ passage, rating: ratingOf(passage, terms) }));
  const best = Math.max(0, ...rated.map(({ rating }) => rating));
  const notice = languageNotice(question, passages);
  const refusal = [notInDocumentation, ...(notice === undefined ? [] : [notice]), ...nearest(passages)].join('\n\n');
  // In another language words are alike by chance: what they find must be called so.
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

/** Pages in the order in which they were found, each with its sections. */
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

/** Whether a section is called by all words of a follow-up that are its own, and by nothing that was not asked for. */
function isCalled({ passage: { title } }: Rated, own: ReadonlySet<string>, terms: ReadonlySet<string>): boolean {
  const name = analyzeQuery(title.split(' › ').at(-1) ?? '').filter((term) => !/^\d+$/.test(term));
  return own.size > 0 && own.isSubsetOf(new Set(name)) && name.every((term) => terms.has(term));
}

/** Whether a row of a table or an item of a list begins with all that was asked for, and with nothing else: it says what that is. */
function defines({ passage }: Rated, terms: ReadonlySet<string>): boolean {
  return passage.text.split('\n').some((line) => {
    const [, name] = /^\s*(?:\|\s*|[-*]\s+)([^|:–—]{1,120}?)\s*(?:[|:–—]|$)/.exec(line) ?? [];
    if (name === undefined) return false;
    const named = analyzeQuery(name);
    return named.length === terms.size && named.every((term) => terms.has(term));
  });
}

const isWholePage = ({ url, text }: PromptPassage): boolean => !url.includes('#') && text.startsWith('# ');

/** What a page has below its start. */
function sectionsOf({ text }: PromptPassage): string | undefined {
  const headings = markdownBlocks(text).filter((block) => block.kind === 'heading' && block.text.startsWith('## '));
  if (headings.length < 2) return undefined;
  return `Sections: ${headings.map((block) => block.text.replace(/^#+\s+/, '')).join(' · ')}`;
}

const opening = (sections: readonly [Rated, ...Rated[]]): PromptPassage =>
  (sections.find(({ passage }) => !passage.url.includes('#')) ?? sections[0]).passage;

/** Of equal ones that with a command or steps for "how", then what the page begins with, else the one that was found first. */
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
