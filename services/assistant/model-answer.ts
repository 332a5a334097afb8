import type { LanguageModelV4 } from '@ai-sdk/provider';
import { streamText, toUIMessageStream } from 'ai';
import { saysNotInDocumentation } from '#shared/language-model/not-in-documentation.ts';
import type { PromptPassage } from '#shared/language-model/prompt-passages.ts';
import type { Logger } from '#shared/telemetry/logger.ts';
import type { AnswerOutcome } from './answer-outcome.ts';
import type { AnswerPrompt } from './answer-prompt.ts';
import { finishReasonOf } from './answer-wire.ts';
import type { UiChunk } from './ui-chunk-filter.ts';

/** Readers see no more of a failed model than that. */
const failureText = 'The answer could not be finished. Ask again in a moment.';

/**
 * The model's answer as chunks of one step, with its sources before the step ends. A model that fails ends it with an `error` chunk; it never
 * throws for that. `outcome` is filled in on the way.
 */
export async function* modelAnswer(
  ask: {
    model: LanguageModelV4;
    prompt: AnswerPrompt;
    passages: readonly PromptPassage[];
    signal: AbortSignal;
    logger: Logger;
  },
  outcome: AnswerOutcome,
): AsyncGenerator<UiChunk> {
  const onError = ({ error }: { error: unknown }): void => {
    if (!ask.signal.aborted) ask.logger.warn({ err: error }, 'the language model failed');
  };
  const result = streamText({
    model: ask.model,
    instructions: ask.prompt.instructions,
    messages: ask.prompt.messages,
    abortSignal: ask.signal,
    maxRetries: 2,
    onError,
    onEnd: ({ usage }) => {
      outcome.tokens = { input: usage.inputTokens ?? 0, output: usage.outputTokens ?? 0 };
    },
  });
  const chunks = toUIMessageStream({ stream: result.stream, sendSources: false, onError: () => failureText });
  for await (const chunk of chunks as AsyncIterable<UiChunk>) {
    if (chunk.type === 'text-delta') outcome.text += String(chunk.delta);
    if (chunk.type === 'finish-step') yield* sourceChunks(ask.passages, outcome);
    if (chunk.type === 'finish') {
      outcome.finishReason = finishReasonOf(chunk.finishReason);
      outcome.aborted = outcome.finishReason === 'error';
    } else if (chunk.type === 'abort') {
      yield { type: 'error', errorText: failureText };
      return;
    } else {
      yield chunk;
    }
  }
}

/** The passages that the answer links to; all of them when it answers and links to none. */
function* sourceChunks(passages: readonly PromptPassage[], outcome: AnswerOutcome): Generator<UiChunk> {
  const linked = passages.filter(({ url }) => outcome.text.includes(`(${url})`));
  const used = linked.length > 0 || saysNotInDocumentation(outcome.text) ? linked : passages;
  for (const [at, { url, title }] of uniqueByUrl(used).entries()) {
    outcome.sources.push({ path: url, title });
    yield { type: 'source-url', sourceId: `source-${at + 1}`, url, title };
  }
}

const uniqueByUrl = (passages: readonly PromptPassage[]): PromptPassage[] => [
  ...new Map(passages.map((passage) => [passage.url, passage])).values(),
];
