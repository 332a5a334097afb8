import type { LanguageModelV4 } from '@ai-sdk/provider';
import { streamText, toUIMessageStream } from 'ai';
import type { Turn } from '#shared/aggregates/thread/turns.ts';
import type { MessageBody } from '#shared/contracts/http/assistant.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { SearchIndex } from '#shared/search/search-index.ts';
import { answerPrompt, type AnswerPrompt, promptPassage } from './answer-prompt.ts';
import { type FinishReason, finishReasonOf, type TokenCounts, type UiChunk } from './answer-wire.ts';
import { type PromptPassage, saysNotInDocumentation } from './prompt-passages.ts';
import { pagePathOf, retrievalQuery, searchedContent, trustedGroups, unknownFilter } from './retrieval.ts';

export type AnswerParts = { bus: BusOf<'assistant'>; searchIndex: SearchIndex; model: LanguageModelV4; logger: Logger };

/** Streams the answer and fills in what becomes of it. */
export type PreparedAnswer = (signal: AbortSignal, outcome: AnswerOutcome) => AsyncGenerator<UiChunk>;

const DEFAULT_PASSAGES = 5;
const PASSAGES_PER_PAGE = 3;

const nothingPublished = 'Nothing has been published and indexed here yet, so there is nothing to answer from.';

/** Finds what the answer is made from. Whatever fails here fails before anything has been sent. */
export async function prepareAnswer(
  parts: AnswerParts,
  caller: Caller,
  body: MessageBody,
  turns: readonly Turn[],
): Promise<PreparedAnswer> {
  const scope = await searchedContent(parts.bus.readModels.directoryContents, caller);
  const facets = scope && (await parts.searchIndex.facets(scope));
  if (!scope || !facets) return (_signal, outcome) => fixedAnswer(nothingPublished, outcome);
  const unknown = unknownFilter(body.filter, facets);
  if (unknown !== undefined) return (_signal, outcome) => fixedAnswer(unknown, outcome);

  const currentPath = pagePathOf(body.currentPath);
  const found = await parts.searchIndex.search({
    ...scope,
    query: retrievalQuery(turns),
    limit: body.retrievalPageSize ?? DEFAULT_PASSAGES,
    passagesPerPage: PASSAGES_PER_PAGE,
    filter: {
      version: body.filter?.version || undefined,
      language: body.filter?.language || undefined,
      groups: trustedGroups(caller, body.filter?.groups),
    },
    near: currentPath,
  });
  const passages = found.map(promptPassage);
  const prompt = answerPrompt(turns, passages, { items: body.context ?? [], currentPath });
  return (signal, outcome) =>
    modelAnswer({ model: parts.model, logger: parts.logger, prompt, passages, signal }, outcome);
}

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

/** An answer that needs no model, in the shape of one. */
export async function* fixedAnswer(text: string, outcome: AnswerOutcome): AsyncGenerator<UiChunk> {
  yield { type: 'start-step' };
  yield { type: 'text-start', id: 'answer' };
  yield { type: 'text-delta', id: 'answer', delta: text };
  yield { type: 'text-end', id: 'answer' };
  yield { type: 'finish-step' };
  Object.assign(outcome, { text, finishReason: 'stop', aborted: false });
}

/** What became of an answer; filled in while it streams. */
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
