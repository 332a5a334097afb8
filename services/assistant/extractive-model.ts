import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { analyzeQuery, analyzeText } from '#shared/search/analyze-text.ts';
import { markdownAddress, markdownLine, markdownText } from './markdown-text.ts';
import { notInDocumentation, type PromptPassage, readPromptPassages } from './prompt-passages.ts';

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
/** A further passage must come this close to the best one. */
const shareOfBest = 0.8;
const maxQuotes = 3;
const quoteCharacters = 600;

/**
 * An answer in Markdown that only quotes: the parts of the best passages that have most of the question's words, each linked. What passages
 * say stays text, also where it looks like Markdown. Pure.
 */
export function extractAnswer(question: string, passages: readonly PromptPassage[]): string {
  const best = Math.max(0, ...passages.map((passage) => passage.relevance));
  if (best < minRelevance) return notInDocumentation;
  const terms = new Set(analyzeQuery(question));
  const quoted = passages
    .filter((passage) => passage.relevance >= minRelevance && passage.relevance >= best * shareOfBest)
    .slice(0, maxQuotes)
    .map(
      (passage) =>
        `[${markdownLine(passage.title)}](${markdownAddress(passage.url)}):\n\n${asQuote(bestPart(passage.text, terms))}`,
    );
  return `The documentation says:\n\n${quoted.join('\n\n')}`;
}

/** The run of whole paragraphs or lines that fits and has most of the terms; the earliest of equal ones. */
function bestPart(text: string, terms: ReadonlySet<string>): string {
  if (text.length <= quoteCharacters) return text;
  const blocks = text.split(/(?<=\n)/).flatMap((line) => (line.length <= quoteCharacters ? [line] : sentences(line)));
  let best = { part: blocks[0] ?? '', score: -1 };
  for (let start = 0; start < blocks.length; start += 1) {
    let part = '';
    for (
      let end = start;
      end < blocks.length && part.length + (blocks[end]?.length ?? 0) <= quoteCharacters;
      end += 1
    ) {
      part += blocks[end];
    }
    const score = new Set(analyzeText(part).filter((term) => terms.has(term))).size;
    if (score > best.score) best = { part, score };
  }
  return best.part.length <= quoteCharacters ? best.part : `${best.part.slice(0, quoteCharacters)}…`;
}

const sentences = (line: string): string[] => line.split(/(?<=[.!?]\s|[。！？])/);

const asQuote = (text: string): string =>
  markdownText(text.trim())
    .replaceAll(/^/gm, '> ')
    .replaceAll(/[ \t]+$/gm, '');
