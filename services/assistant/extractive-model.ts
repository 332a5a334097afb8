import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { analyzeQuery } from '#shared/search/analyze-text.ts';
import { termCount } from './markdown-blocks.ts';
import { markdownAddress, markdownLine } from './markdown-text.ts';
import { notInDocumentation, type PromptPassage, readPromptPassages } from './prompt-passages.ts';
import { type QuestionKind, questionKind, quoteSection } from './quote-section.ts';
import { isAboutPage } from './retrieval-query.ts';

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
  const { passages, question } = readPromptPassages(lastUserText(prompt));
  return extractAnswer(question, passages);
}

function lastUserText(prompt: LanguageModelV4CallOptions['prompt']): string {
  const message = prompt.findLast((candidate) => candidate.role === 'user');
  if (message?.role !== 'user') return '';
  return message.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

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
 * A passage with a smaller share of the question's words is about something else. Of 28 questions that had nothing to do with the site (14 on
 * each of two real sites) 22 stayed below. Of 1,401 questions about the site nine in ten were above.
 */
const minRelevance = 0.48;
/** What a title that has all words of the question adds. Sections about something else have none of them there. */
const titleBonus = 0.2;
/** What a command or steps add, for a question that asks how. */
const showsHowBonus = 0.05;
/** A further passage must come this close to the best one. */
const shareOfBest = 0.8;
const mostQuotes = 2;
const mostPages = 3;

/**
 * An answer in Markdown that only quotes: the parts of the best sections that answer, each with its link, a page once; then the pages that come next.
 * Where nothing answers it says so, and names the nearest pages. Pure.
 */
export function extractAnswer(question: string, passages: readonly PromptPassage[]): string {
  const terms = new Set(analyzeQuery(question));
  const about = isAboutPage(question);
  const rated = passages.map((passage) => ({ passage, rating: ratingOf(passage, terms) }));
  const best = Math.max(0, ...rated.map(({ rating }) => rating));
  if (best < minRelevance) return [notInDocumentation, ...nearest(passages)].join('\n\n');
  const kind = about ? 'start' : questionKind(question);
  const quoted = pagesOf(rated)
    .filter((page) => page.rating >= minRelevance && page.rating >= best * shareOfBest)
    // The first was found best. A further one has to have more of the words.
    .filter((page, at, pages) => at === 0 || page.rating > (pages[0]?.rating ?? 0))
    .slice(0, about ? 1 : mostQuotes)
    .map(({ sections }) => (kind === 'start' ? opening(sections) : bestOf(sections, kind)));
  const quotes = quoted.map((passage) => `${quoteSection(passage.text, terms, kind)}\n\n${linkTo(passage)}`);
  const others = onePerPage(passages).filter(({ url }) => !quoted.some((one) => pageOf(one.url) === pageOf(url)));
  const more = others.slice(0, Math.max(0, mostPages - quoted.length)).map(linkTo);
  return [...quotes, ...(more.length === 0 ? [] : [`See also ${more.join(', ')}.`])].join('\n\n');
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

const opening = (sections: readonly [Rated, ...Rated[]]): PromptPassage =>
  (sections.find(({ passage }) => !passage.url.includes('#')) ?? sections[0]).passage;

/** Of equal ones that with a command or steps for "how", else the one that was found first. */
function bestOf(sections: readonly [Rated, ...Rated[]], kind: QuestionKind): PromptPassage {
  const value = ({ passage, rating }: Rated): number =>
    rating + (kind === 'how' && /^\s*(?:```|1[.)]\s)/m.test(passage.text) ? showsHowBonus : 0);
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
