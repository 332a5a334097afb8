import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { extractAnswer } from './extract-answer.ts';
import { readPromptPassages } from './prompt-passages.ts';

/**
 * A language model that makes nothing up, because it makes nothing: it quotes the passages that the prompt brings. Needs no network and no
 * key, and gives the same answer to the same prompt.
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

/** About as much as other models send at a time: a few words. */
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

/** Words, as nothing here has tokens. */
function usageOf({ prompt }: LanguageModelV4CallOptions, text: string): LanguageModelV4Usage {
  const count = (value: string): number => value.match(/\S+/g)?.length ?? 0;
  const input = count(lastUserText(prompt));
  const output = count(text);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  };
}
