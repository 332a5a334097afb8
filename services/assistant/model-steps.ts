import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { AnswerPrompt } from './answer-prompt.ts';
import type { UiChunk } from '#shared/interfaces/http/answer-wire.ts';
import { failureSentence } from './model-failures.ts';
import { type ModelTool, readCall } from './model-tool.ts';
import { openModelStream } from './open-model-stream.ts';

/** Limit of steps in one answer. In the last step the model gets no tools, so it must answer. */
export const mostSteps = 4;

/** The model broke the rules of its provider's interface. The message says how. */
class WrongModelOutput extends Error {
  override name = 'WrongModelOutput';
}

/** Limit of tool calls in one step. A model that asks for thousands at once would hold up all other answers. */
const mostCallsOfStep = 32;

/**
 * A chunk of the UI message stream, or an internal one: `finish-step` has the usage of the step, `failed` has the reason (and the usage, if known),
 * and `abort` is sent when the signal has aborted.
 */
export type StepChunk =
  | UiChunk
  | { type: 'finish-step'; usage: LanguageModelV4Usage | undefined }
  | { type: 'failed'; error: unknown; usage?: LanguageModelV4Usage | undefined };

type Conversation = { model: LanguageModelV4; prompt: AnswerPrompt; tools: readonly ModelTool[]; signal: AbortSignal };

/**
 * Asks a model step by step: it calls tools and is asked again with their results, until it answers. One loop connects the provider's stream with the
 * answer, because each of the dozen stages of `streamText` in the AI SDK adds a cost to every token. The last chunk is `finish`, `failed` or `abort`;
 * this generator does not throw.
 */
export async function* modelSteps({ model, prompt, tools, signal }: Conversation): AsyncGenerator<StepChunk> {
  const stopped = new Promise<never>((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  stopped.catch(() => {});
  const functions = tools.map(({ name, description, inputSchema }) => ({
    ...{ type: 'function' as const, name, description, inputSchema },
  }));
  const messages = promptMessages(prompt);
  const uniqueId = uniqueIds();
  try {
    for (let step = 1; ; step += 1) {
      const isLast = step === mostSteps;
      const options: LanguageModelV4CallOptions = {
        prompt: [...messages],
        tools: functions,
        toolChoice: { type: isLast ? 'none' : 'auto' },
        abortSignal: signal,
      };
      // The race with the signal is needed because a model may ignore it.
      const stream = await Promise.race([openModelStream(model, options), stopped]);
      const asked = yield* stepChunks(stream, isLast ? [] : tools, uniqueId, signal);
      const { said, calls, end, finishReason } = asked;
      if (isLast && calls.length > 0) {
        const error = new WrongModelOutput('The language model called a tool in the last step, in which it has none.');
        yield { type: 'failed', error, usage: end?.usage };
        return;
      }
      const mayCall = finishReason === 'tool-calls' || finishReason === 'stop';
      const results = mayCall ? await Promise.race([Promise.all(calls.map(resultOf)), stopped]) : [];
      for (const { chunk } of results) if (chunk !== undefined) yield chunk;
      yield { type: 'finish-step', usage: end?.usage };
      if (results.length === 0) {
        yield { type: 'finish', finishReason };
        return;
      }
      messages.push({ role: 'assistant', content: said.filter((part) => !('text' in part) || part.text !== '') });
      messages.push({ role: 'tool', content: results.map(({ told }) => told) });
    }
  } catch (error) {
    yield signal.aborted ? { type: 'abort' } : { type: 'failed', error };
  }
}

const promptMessages = ({ instructions, messages }: AnswerPrompt): LanguageModelV4Message[] => [
  { role: 'system', content: instructions },
  ...messages.map(({ role, content }) => ({ role, content: [{ type: 'text' as const, text: content }] })),
];

type Said = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];
type Call = { toolCallId: string; toolName: string; read: ReturnType<typeof readCall> };
type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;
type Asked = {
  /** The output of the model in this step, for the prompt of the next step. */
  said: Said;
  calls: Call[];
  end: Finish | undefined;
  finishReason: Finish['finishReason']['unified'];
};

/** One response of a model, up to its end. Throws an error that the model reports. */
async function* stepChunks(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  tools: readonly ModelTool[],
  uniqueId: (kind: string, id: string) => string,
  signal: AbortSignal,
): AsyncGenerator<StepChunk, Asked> {
  const asked: Asked = { said: [], calls: [], end: undefined, finishReason: 'other' };
  const texts = new Map<string, { id: string; said: { type: 'text' | 'reasoning'; text: string } }>();
  let hasBegun = false;
  const reader = stream.getReader();
  // Cancelling ends the pending read of a stream that ignores the signal.
  const cancel = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for (;;) {
      const { done, value: part } = await reader.read();
      signal.throwIfAborted();
      if (done) break;
      if (part.type === 'stream-start') continue;
      if (!hasBegun) yield { type: 'start-step' };
      hasBegun = true;
      switch (part.type) {
        case 'text-start':
        case 'reasoning-start': {
          const type = part.type === 'text-start' ? 'text' : 'reasoning';
          const text = { id: uniqueId(type, part.id), said: { type, text: '' } } as const;
          texts.set(`${type} ${part.id}`, text);
          asked.said.push(text.said);
          yield { type: part.type, id: text.id };
          break;
        }
        case 'text-delta':
        case 'reasoning-delta': {
          if (part.delta === '') break;
          const text = texts.get(`${part.type === 'text-delta' ? 'text' : 'reasoning'} ${part.id}`);
          if (text === undefined) throw new Error('The language model continues a text that it has not begun.');
          text.said.text += part.delta;
          yield { type: part.type, id: text.id, delta: part.delta };
          break;
        }
        case 'text-end':
        case 'reasoning-end': {
          const key = `${part.type === 'text-end' ? 'text' : 'reasoning'} ${part.id}`;
          const text = texts.get(key);
          texts.delete(key);
          if (text !== undefined) yield { type: part.type, id: text.id };
          break;
        }
        case 'tool-input-start':
          if (tools.length > 0)
            yield { type: 'tool-input-start', toolCallId: part.id, toolName: part.toolName, dynamic: false };
          break;
        case 'tool-input-delta':
          if (tools.length > 0) yield { type: 'tool-input-delta', toolCallId: part.id, inputTextDelta: part.delta };
          break;
        case 'tool-call': {
          const { toolCallId, toolName } = part;
          if (asked.calls.length === mostCallsOfStep)
            throw new Error(`The language model calls more than ${mostCallsOfStep} tools at once.`);
          const read = readCall(tools, toolName, part.input);
          asked.calls.push({ toolCallId, toolName, read });
          const input = typeof read.input === 'object' ? read.input : {};
          asked.said.push({ type: 'tool-call', toolCallId, toolName, input });
          const chunk = { toolCallId, toolName, input: read.input };
          if (tools.length > 0)
            yield 'problem' in read
              ? { type: 'tool-input-error', ...chunk, dynamic: true }
              : { type: 'tool-input-available', ...chunk };
          break;
        }
        case 'error':
          throw part.error;
        case 'finish':
          asked.end = part;
          asked.finishReason = part.finishReason.unified;
      }
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    // The call must not outlive the answer, even if the consumer stops reading.
    cancel();
  }
  if (asked.end === undefined && asked.said.length === 0)
    throw new WrongModelOutput('The language model ended without output.');
  return asked;
}

type CallResult = {
  /** The chunk for the client, or undefined if it already has one. */
  chunk: UiChunk | undefined;
  told: Extract<Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number], { type: 'tool-result' }>;
};

async function resultOf({ toolCallId, toolName, read }: Call): Promise<CallResult> {
  const told = (type: 'text' | 'error-text', value: string): CallResult['told'] => ({
    ...{ type: 'tool-result', toolCallId, toolName, output: { type, value } },
  });
  if ('problem' in read) return { chunk: undefined, told: told('error-text', read.problem) };
  try {
    const { output, told: text } = await read.run();
    return { chunk: { type: 'tool-output-available', toolCallId, output, dynamic: false }, told: told('text', text) };
  } catch (error) {
    const chunk = { type: 'tool-output-error', toolCallId, errorText: failureSentence(error), dynamic: false };
    return { chunk, told: told('error-text', error instanceof Error ? error.message : String(error)) };
  }
}

/** Makes ids of texts unique: a model may reuse ids, and clients treat texts with one id as one text. */
function uniqueIds(): (kind: string, id: string) => string {
  const counts = new Map<string, number>();
  return (kind, id) => {
    const key = `${kind} ${id}`;
    const before = counts.get(key) ?? 0;
    counts.set(key, before + 1);
    return before === 0 ? id : `${id}-${before + 1}`;
  };
}
