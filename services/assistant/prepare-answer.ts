import { streamText, toUIMessageStream } from 'ai';
import type { Turn } from '#shared/aggregates/thread/thread.ts';
import type { MessageBody } from '#shared/contracts/http/assistant.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import { answerPrompt, type AnswerPrompt, promptPassage } from './answer-prompt.ts';
import { type FinishReason, finishReasonOf, type TokenCounts, type UiChunk } from './answer-wire.ts';
import { type PromptPassage, saysNotInDocumentation } from './prompt-passages.ts';
import {
  type AssistantContext,
  pagePathOf,
  retrievalQuery,
  retrievePassages,
  searchedContent,
  unknownFilter,
} from './retrieval.ts';

/** Streams the answer, and fills in the outcome on the way. */
export type PreparedAnswer = (signal: AbortSignal, outcome: AnswerOutcome) => AsyncGenerator<UiChunk>;

const defaultPassages = 5;
const passagesPerPage = 3;

const nothingPublished = 'Nothing has been published and indexed here yet, so there is nothing to answer from.';

/** Finds what the answer is made from. Whatever fails here fails before anything has been sent. */
export async function prepareAnswer(
  context: AssistantContext,
  caller: Caller,
  body: MessageBody,
  turns: readonly Turn[],
): Promise<PreparedAnswer> {
  const scope = await searchedContent(context, caller);
  const facets = scope && (await context.searchIndex.facets(scope));
  if (!scope || !facets) return (_signal, outcome) => fixedAnswer(nothingPublished, outcome);
  const unknown = unknownFilter(body.filter, facets);
  if (unknown !== undefined) return (_signal, outcome) => fixedAnswer(unknown, outcome);

  const currentPath = pagePathOf(body.currentPath);
  const found = await retrievePassages(context, caller, scope, {
    query: retrievalQuery(turns),
    limit: body.retrievalPageSize ?? defaultPassages,
    passagesPerPage,
    filter: body.filter,
    near: currentPath,
  });
  const passages = found.map(promptPassage);
  const prompt = answerPrompt(turns, passages, { items: body.context ?? [], currentPath });
  return (signal, outcome) => modelAnswer(context, { prompt, passages, signal }, outcome);
}

/** All that readers see of a failed model. */
export const answerFailed = 'The answer could not be finished. Ask again in a moment.';

/**
 * The model's answer as chunks of one step, with its sources before the step ends. When the model fails, the last chunk is an `error`; this
 * does not throw.
 */
async function* modelAnswer(
  { model, logger }: AssistantContext,
  { prompt, passages, signal }: { prompt: AnswerPrompt; passages: readonly PromptPassage[]; signal: AbortSignal },
  outcome: AnswerOutcome,
): AsyncGenerator<UiChunk> {
  const onError = ({ error }: { error: unknown }): void => {
    if (!signal.aborted) logger.warn({ err: error }, 'the language model failed');
  };
  const result = streamText({
    model,
    ...prompt,
    abortSignal: signal,
    maxRetries: 2,
    onError,
    onEnd: ({ usage }) => {
      outcome.tokens = { input: usage.inputTokens ?? 0, output: usage.outputTokens ?? 0 };
    },
  });
  const chunks = toUIMessageStream({ stream: result.stream, sendSources: false, onError: () => answerFailed });
  for await (const chunk of chunks as AsyncIterable<UiChunk>) {
    if (chunk.type === 'text-delta') outcome.text += String(chunk.delta);
    if (chunk.type === 'finish-step') yield* sourceChunks(passages, outcome);
    if (chunk.type === 'finish') {
      outcome.finishReason = finishReasonOf(chunk.finishReason);
      outcome.aborted = outcome.finishReason === 'error';
    } else if (chunk.type === 'abort') {
      yield { type: 'error', errorText: answerFailed };
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

/** An answer that needs no model, in the shape of one. */
async function* fixedAnswer(text: string, outcome: AnswerOutcome): AsyncGenerator<UiChunk> {
  yield { type: 'start-step' };
  yield { type: 'text-start', id: 'answer' };
  yield { type: 'text-delta', id: 'answer', delta: text };
  yield { type: 'text-end', id: 'answer' };
  yield { type: 'finish-step' };
  Object.assign(outcome, { text, finishReason: 'stop', aborted: false });
}

/** What came of an answer; filled in while it streams. */
export type AnswerOutcome = {
  text: string;
  finishReason: FinishReason;
  tokens: TokenCounts;
  /** The reader went away, the time was up, or the model failed. */
  aborted: boolean;
  sources: { path: string; title: string }[];
};

export const newOutcome = (): AnswerOutcome => ({
  text: '',
  finishReason: 'error',
  tokens: { input: 0, output: 0 },
  aborted: true,
  sources: [],
});
