import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import type { FastifyBaseLogger, FastifyReply } from 'fastify';
import type { Turn } from '#shared/aggregates/thread/thread.ts';
import type { AnswerPart } from '#shared/contracts/answer-part.ts';
import type { MessageBody } from '#shared/interfaces/http/assistant.ts';
import { spentTokensTrailer } from '#shared/interfaces/internal/assistant.ts';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import { ownAttributes, type Span, tracingOf } from '#shared/runtime/tracing.ts';
import { answerPrompt, type AnswerPrompt } from './answer-prompt.ts';
import { linkedAsAllowed, ownLinks } from './answer-links.ts';
import { answerTools } from './answer-tools.ts';
import {
  answerFailed,
  type AnswerWire,
  type FinishReason,
  finishReasonOf,
  type FoundSource,
  type TokenCounts,
  type UiChunk,
} from '#shared/interfaces/http/answer-wire.ts';
import { answerCut, answerEmpty, failureFacts, failureSentence, stopSentence } from './model-failures.ts';
import { clientStream } from './client-stream.ts';
import { isExtractive } from './extractive-model.ts';
import { findPassages, foundSource } from './find-passages.ts';
import { AnswerStopped, keepAnswer } from './kept-answer.ts';
import { linkFilter } from './link-filter.ts';
import { modelSteps } from './model-steps.ts';
import type { ModelTool } from './model-tool.ts';
import { type PromptPassage, saysNotInDocumentation, sourcesOf } from './prompt-passages.ts';
import {
  type AssistantContext,
  beingIndexed,
  pagePathOf,
  searchedContent,
  trustedGroups,
  unknownFilter,
} from './retrieval.ts';
import { isCourtesy } from './retrieval-query.ts';
import { guidancePrompt, readGuidance, skillTools } from './site-guidance.ts';
import type { Thread, Threads } from './threads.ts';

export type QuestionToAnswer = {
  caller: Caller;
  body: MessageBody;
  thread: Thread;
  /** The conversation so far, ending with the question. */
  turns: readonly Turn[];
  /** The text of the question in the last turn. */
  question: string;
  wire: AnswerWire;
  /** The chat of a reader who wants to be able to resume the answer, and the kind of client. */
  resumable?: { chat: string; client: AnswerPart['client']; askedAtMs: number } | undefined;
};

/**
 * Takes over the reply and streams the answer. Rejects when retrieval fails, before anything is sent. Later failures are reported in the stream,
 * which then ends as clients expect.
 */
export async function answerQuestion(
  context: AssistantContext & { threads: Threads; log: FastifyBaseLogger },
  reply: FastifyReply,
  { caller, body, thread, turns, question, wire, resumable }: QuestionToAnswer,
): Promise<void> {
  const { model, log } = context;
  const prepared = await prepareAnswer(context, caller, body, turns);
  const ids = { messageId: `msg_${context.random(22)}`, threadId: thread.threadId };
  const { organization, domain } = caller;
  const keeping =
    context.keeping &&
    resumable &&
    keepAnswer(
      { ...context, ...context.keeping },
      {
        ...resumable,
        key: { organization, domain, chat: resumable.chat, answerId: ids.messageId },
        groups: trustedGroups(caller, body.filter?.groups),
      },
    );
  const asked = await context.threads
    .ask(thread, { messageId: ids.messageId, question, turns }, caller)
    .catch(async (error: unknown) => {
      await (await keeping)?.end();
      throw error;
    });
  const kept = await keeping;
  reply.hijack();
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    ...wire.headers,
    'x-thread-id': ids.threadId,
    ...(thread.newKey === undefined ? {} : { 'x-thread-key': thread.newKey }),
    'x-bindery-prompt-tokens': String(prepared.promptTokens),
    ...(kept && { 'x-bindery-answer': ids.messageId }),
    trailer: spentTokensTrailer,
  });
  const client = clientStream(reply.raw, wire.keepAlive);
  if (kept !== undefined) {
    if (client.gone.aborted) kept.readerLeft();
    else client.gone.addEventListener('abort', () => kept.readerLeft(), { once: true });
  }
  const send = (events: string): Promise<void> | undefined => {
    kept?.write(events, wire.eventCount() - sent);
    sent = wire.eventCount();
    return client.write(events);
  };
  let sent = 0;
  const signal = AbortSignal.any([
    kept?.ended ?? client.gone,
    context.cutAnswers,
    AbortSignal.timeout(context.answerTimeoutMs),
  ]);
  const outcome = newOutcome();
  try {
    await send(wire.start(ids));
    await send(wire.found(prepared.query, prepared.found));
    await traced(caller, outcome, async (span) => {
      for await (const chunk of prepared.chunks(signal, outcome)) {
        if (chunk.type === 'text-delta' && outcome.text === chunk.delta) span.event('first token');
        const room = send(wire.chunk(chunk));
        if (room !== undefined) await room;
      }
    });
  } catch (error) {
    log.error({ err: error, requestId: caller.requestId }, 'an answer failed while it was streamed');
    await send(wire.chunk({ type: 'error', errorText: answerFailed }));
  }
  try {
    // The answer is recorded before `finish` is sent, because a client that has read `finish` may continue the thread at once.
    const answered = {
      messageId: ids.messageId,
      question,
      answer: outcome.text,
      sources: outcome.sources,
      unanswered: saysNotInDocumentation(outcome.text),
      aborted: outcome.aborted,
      model: `${model.provider}/${model.modelId}`,
      tokens: isExtractive(model) ? 0 : outcome.spentTokens,
    };
    await context.threads.record(asked, answered, caller);
  } catch (error) {
    log.error({ err: error, requestId: caller.requestId }, 'an answer could not be recorded');
    await send(wire.chunk({ type: 'error', errorText: notSaved }));
  }
  await send(wire.finish(ids, outcome.finishReason, outcome.tokens));
  reply.raw.addTrailers({ [spentTokensTrailer]: String(outcome.spentTokens) });
  client.end();
  await kept?.end();
}

const tracing = tracingOf('assistant');

/** Runs the stream of an answer in a trace span of its own. */
function traced(caller: Caller, outcome: AnswerOutcome, stream: (span: Span) => Promise<void>): Promise<void> {
  const { organization, domain, traceparent: parent } = caller;
  return tracing.inSpan('answer', { parent, attributes: ownAttributes({ organization, domain }) }, async (span) => {
    await stream(span);
    const { finishReason, tokens } = outcome;
    span.set({
      ...ownAttributes({ finishReason }),
      'gen_ai.usage.input_tokens': tokens.input,
      'gen_ai.usage.output_tokens': tokens.output,
    });
  });
}

const notSaved = 'The answer is complete but could not be saved: this thread cannot be continued.';

type PreparedAnswer = {
  /** The search query and the passages that it found. */
  query: string;
  found: FoundSource[];
  /** Approximate number of tokens in the prompt; 0 without a model. */
  promptTokens: number;
  /** Streams the answer and fills in the outcome meanwhile. */
  chunks(signal: AbortSignal, outcome: AnswerOutcome): AsyncGenerator<UiChunk>;
};

const nothingPublished = 'Nothing has been published and indexed here yet, so there is nothing to answer from.';

/** Answer of the extractive model to a greeting. Other models answer greetings themselves. */
const nothingAsked = 'Ask what you want to know about this documentation, in your own words.';

/** Finds the passages and writes the prompt. Without content to search, the answer is a fixed sentence. */
async function prepareAnswer(
  context: AssistantContext,
  caller: Caller,
  body: MessageBody,
  turns: readonly Turn[],
): Promise<PreparedAnswer> {
  const withoutModel = (text: string): PreparedAnswer => ({
    query: turns.at(-1)?.text ?? '',
    found: [],
    promptTokens: 0,
    chunks: (_signal, outcome) => fixedAnswer(text, outcome),
  });
  const scope = await searchedContent(context, caller);
  const facets = scope && (await context.searchIndex.facets(scope));
  if (!scope) return withoutModel(nothingPublished);
  if (!facets) return withoutModel(beingIndexed);
  if (isExtractive(context.model) && isCourtesy(turns.at(-1)?.text ?? '')) return withoutModel(nothingAsked);
  const unknown = unknownFilter(body.filter, facets, trustedGroups(caller, body.filter?.groups));
  if (unknown !== undefined) return withoutModel(unknown);

  const { query, found, passages, parts } = await findPassages(context, caller, scope, body, turns);
  const currentPath = pagePathOf(body.currentPath);
  const guidance = isExtractive(context.model) ? undefined : await readGuidance(context, scope);
  const prompt = answerPrompt(turns, parts, { items: body.context ?? [], currentPath }, guidancePrompt(guidance));
  const isAllowed = ownLinks(context, scope, trustedGroups(caller, body.filter?.groups), passages);
  const tools = [...answerTools(context, caller, scope, body, passages), ...skillTools(guidance)];
  return {
    query,
    found: found.map(foundSource),
    promptTokens: tokensOfPrompt(prompt),
    chunks: (signal, outcome) => modelAnswer(context, { prompt, tools, passages, isAllowed, signal }, outcome),
  };
}

type ModelQuestion = {
  prompt: AnswerPrompt;
  tools: readonly ModelTool[];
  /** The passages in the prompt, and those that tools find later. */
  passages: readonly PromptPassage[];
  /** Tells if the answer may link to this address. */
  isAllowed: (url: string) => Promise<boolean> | boolean;
  signal: AbortSignal;
};

/**
 * The model's answer as chunks. Its sources come before the last step ends. When the model fails, the last chunk is an `error`; this generator does
 * not throw.
 */
async function* modelAnswer(
  { model, logger }: AssistantContext,
  { prompt, tools, passages, isAllowed, signal }: ModelQuestion,
  outcome: AnswerOutcome,
): AsyncGenerator<UiChunk> {
  /** True while a call to the model is in flight. `textBefore` is the length of the text from earlier calls. */
  let isAsking = false;
  let textBefore = 0;
  /** Estimated tokens of a call without a usage report, because it was cut or its provider never sends one. */
  const guess = () => tokensOfPrompt(prompt) + tokensOf(outcome.text.length - textBefore);
  const countStep = (usage: LanguageModelV4Usage | undefined): void => {
    const [input, output] = [credible(usage?.inputTokens.total), credible(usage?.outputTokens.total)];
    outcome.tokens.input += input ?? 0;
    outcome.tokens.output += output ?? 0;
    outcome.spentTokens += input === undefined && output === undefined ? guess() : (input ?? 0) + (output ?? 0);
    textBefore = outcome.text.length;
    isAsking = false;
  };
  let callsTools = false;
  try {
    for await (const chunk of linkedAsAllowed(modelSteps({ model, prompt, tools, signal }), isAllowed)) {
      switch (chunk.type) {
        case 'text-delta':
          outcome.text += String(chunk.delta);
          yield chunk;
          break;
        case 'start-step':
          [callsTools, isAsking] = [false, true];
          yield chunk;
          break;
        case 'tool-input-available':
        case 'tool-input-error':
          callsTools = true;
          yield chunk;
          break;
        case 'finish-step':
          countStep(chunk.usage as LanguageModelV4Usage | undefined);
          if (!callsTools) {
            yield* sourceChunks(passages, outcome);
            yield* suggestionChunks(passages, outcome);
          }
          yield chunk;
          break;
        case 'finish': {
          const cut = chunk.finishReason === 'interrupted';
          const isEmpty = outcome.text.trim() === '';
          if (cut || isEmpty) yield { type: 'error', errorText: cut ? answerCut : answerEmpty };
          outcome.finishReason = cut || isEmpty ? 'error' : finishReasonOf(chunk.finishReason);
          outcome.aborted = outcome.finishReason === 'error';
          break;
        }
        case 'abort':
          if (signal.reason instanceof AnswerStopped) {
            outcome.finishReason = 'other';
            yield chunk;
          } else yield { type: 'error', errorText: stopSentence(signal.reason) };
          break;
        case 'failed':
          if (chunk.usage !== undefined) countStep(chunk.usage as LanguageModelV4Usage);
          logger.warn(failureFacts(chunk.error), 'the language model failed');
          yield { type: 'error', errorText: failureSentence(chunk.error) };
          break;
        default:
          yield chunk;
      }
    }
  } catch (error) {
    logger.warn(failureFacts(error), 'the links of an answer could not be checked');
    yield { type: 'error', errorText: failureSentence(error) };
  } finally {
    // A call costs nothing if it failed before the provider answered.
    if (isAsking && (signal.aborted || outcome.text.length > textBefore)) outcome.spentTokens += guess();
  }
}

/** Upper bound for the token count of one call. */
const mostTokens = 100_000_000;
/** The reported token count, rounded; undefined if it is missing or not credible. Providers may report any number, and the count is stored. */
const credible = (tokens: number | undefined): number | undefined =>
  tokens === undefined || !(tokens >= 0 && tokens <= mostTokens) ? undefined : Math.round(tokens);

const charactersOfToken = 4;
const tokensOf = (characters: number): number => Math.ceil(characters / charactersOfToken);
const tokensOfPrompt = ({ instructions, messages }: AnswerPrompt): number =>
  tokensOf(messages.reduce((sum, { content }) => sum + content.length, instructions.length));

/** The sources of an answer. One that says that nothing was found has none. */
function* sourceChunks(passages: readonly PromptPassage[], outcome: AnswerOutcome): Generator<UiChunk> {
  if (saysNotInDocumentation(outcome.text)) return;
  for (const [at, { url, title }] of uniqueByUrl(sourcesOf(outcome.text, passages)).entries()) {
    outcome.sources.push({ path: url, title });
    yield { type: 'source-url', sourceId: `source-${at + 1}`, url, title };
  }
}

const mostSuggestions = 3;

/** Suggested next questions: sections that were found and that the answer does not link to. */
function* suggestionChunks(passages: readonly PromptPassage[], outcome: AnswerOutcome): Generator<UiChunk> {
  if (outcome.text === '') return;
  const others = uniqueByUrl(passages).filter(({ url }) => !outcome.text.includes(`(${url})`));
  const data = [...new Set(others.map(({ title }) => title.replaceAll(' › ', ': ')))].slice(0, mostSuggestions);
  if (data.length > 0) yield { type: 'data-suggestions', data };
}

const uniqueByUrl = (passages: readonly PromptPassage[]): PromptPassage[] => [
  ...new Map(passages.map((passage) => [passage.url, passage])).values(),
];

/** An answer without a model, in the same chunks as a model's answer. */
async function* fixedAnswer(sentence: string, outcome: AnswerOutcome): AsyncGenerator<UiChunk> {
  // The sentence may repeat text that the reader wrote.
  const links = linkFilter(() => false);
  const text = (await links.push(sentence)) + (await links.end());
  yield { type: 'start-step' };
  yield { type: 'text-start', id: 'answer' };
  yield { type: 'text-delta', id: 'answer', delta: text };
  yield { type: 'text-end', id: 'answer' };
  yield { type: 'finish-step' };
  Object.assign(outcome, { text, finishReason: 'stop', aborted: false });
}

/** The result of an answer, filled in while it streams. */
type AnswerOutcome = {
  text: string;
  finishReason: FinishReason;
  tokens: TokenCounts;
  /** Tokens that the model reported, plus an estimate for calls without a report. */
  spentTokens: number;
  /** True if the reader disconnected, the time was up, or the model failed. */
  aborted: boolean;
  sources: { path: string; title: string }[];
};

const newOutcome = (): AnswerOutcome => ({
  text: '',
  finishReason: 'error',
  tokens: { input: 0, output: 0 },
  spentTokens: 0,
  aborted: true,
  sources: [],
});
