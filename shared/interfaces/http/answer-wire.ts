const finishReasons = ['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'] as const;
export type FinishReason = (typeof finishReasons)[number];

/** The finish reason of a model in the form for clients. Unknown reasons become `other`, because clients reject them. */
export const finishReasonOf = (reason: unknown): FinishReason =>
  finishReasons.find((known) => known === reason) ?? 'other';

/** A found passage in the form for clients. `path` is the path of the page, `url` the address of the section. */
export type FoundSource = { content: string; path: string; url: string; metadata: { title: string; heading: string } };

type AnswerIds = { messageId: string; threadId: string };
export type TokenCounts = { input: number; output: number };

/** The encoding of an answer for one kind of client. Each function returns the bytes of one network write. */
export type AnswerWire = {
  headers: Readonly<Record<string, string>>;
  start(ids: AnswerIds): string;
  /** The passages found for the question, sent before the model answers. */
  found(query: string, passages: readonly FoundSource[]): string;
  chunk(chunk: UiChunk): string;
  finish(ids: Pick<AnswerIds, 'threadId'>, reason: FinishReason, tokens: TokenCounts): string;
  /** Ends an event that was cut off, and has no effect after a whole one. */
  separator: string;
  /** Number of events written so far, in a stream whose events have numbers; else 0. */
  eventCount(): number;
  /** A text that all clients ignore. It keeps proxies from closing the connection. */
  keepAlive: string;
};

/** The text that readers get when an answer fails. It never contains the cause. */
export const answerFailed = 'The answer could not be finished. Ask again in a moment.';

/** The end of an interrupted answer, however much of it was sent. */
export const brokenOff = (wire: AnswerWire, threadId: string): string =>
  wire.separator +
  wire.chunk({ type: 'error', errorText: answerFailed }) +
  wire.finish({ threadId }, 'error', { input: 0, output: 0 });

/**
 * The UI message stream of AI SDK 5 and later. `ui`: only keys that all its versions accept, so `finish` has no additional keys. `plain`:
 * for clients that read lines, `finish` has `threadId` as the specification says. `isNumbered`: each event has its number as `id`, from 1, so that a
 * client can say which it has.
 */
export function uiMessageWire(client: 'ui' | 'plain', { isNumbered = false } = {}): AnswerWire {
  let count = 0;
  const event = isNumbered
    ? (value: unknown): string => `id: ${(count += 1)}\n${plainEvent(value)}`
    : (value: unknown): string => plainEvent(value);
  const done = (): string => (isNumbered ? `id: ${(count += 1)}\n` : '') + 'data: [DONE]\n\n';
  return {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-vercel-ai-ui-message-stream': 'v1',
      'x-accel-buffering': 'no',
    },
    start: ({ messageId, threadId }) => event({ type: 'start', messageId, messageMetadata: { threadId } }),
    found: () => '',
    chunk: (chunk) => acceptedChunks(chunk).map(event).join(''),
    eventCount: () => count,
    finish: ({ threadId }, finishReason) => {
      const messageMetadata = { threadId, finishReason };
      const finish =
        client === 'ui'
          ? { type: 'finish', messageMetadata }
          : { type: 'finish', threadId, finishReason, messageMetadata };
      return event(finish) + done();
    },
    separator: '\n\n',
    keepAlive: ': ping\n\n',
  };
}

const plainEvent = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

/** A chunk of the UI message stream. */
export type UiChunk = { type: string; [key: string]: unknown };

/** The keys that every released version of the AI SDK since 5.0.0 accepts. Some versions reject the whole message because of other keys. */
const acceptedKeys: Readonly<Record<string, readonly string[]>> = {
  'start-step': [],
  'finish-step': [],
  'text-start': ['id', 'providerMetadata'],
  'text-delta': ['id', 'delta', 'providerMetadata'],
  'text-end': ['id', 'providerMetadata'],
  'reasoning-start': ['id', 'providerMetadata'],
  'reasoning-delta': ['id', 'delta', 'providerMetadata'],
  'reasoning-end': ['id', 'providerMetadata'],
  'source-url': ['sourceId', 'url', 'title', 'providerMetadata'],
  'source-document': ['sourceId', 'mediaType', 'title', 'filename', 'providerMetadata'],
  file: ['url', 'mediaType', 'providerMetadata'],
  'tool-input-start': ['toolCallId', 'toolName', 'providerExecuted', 'dynamic'],
  'tool-input-delta': ['toolCallId', 'inputTextDelta'],
  'tool-input-available': ['toolCallId', 'toolName', 'input', 'providerExecuted', 'providerMetadata', 'dynamic'],
  'tool-output-available': ['toolCallId', 'output', 'providerExecuted', 'dynamic'],
  'tool-output-error': ['toolCallId', 'errorText', 'providerExecuted', 'dynamic'],
  error: ['errorText'],
  abort: [],
};

/**
 * The chunks that every client accepts in place of this one: none, one, or two for a tool's wrong input. `start` and `finish` come from the
 * wire.
 */
export function acceptedChunks(chunk: UiChunk): UiChunk[] {
  if (chunk.type === 'tool-input-error') {
    return [
      { ...chunk, type: 'tool-input-available' },
      { ...chunk, type: 'tool-output-error', errorText: 'The input of the tool was wrong.' },
    ].flatMap(acceptedChunks);
  }
  const keys = chunk.type.startsWith('data-')
    ? ['id', 'data', 'transient']
    : Object.hasOwn(acceptedKeys, chunk.type)
      ? acceptedKeys[chunk.type]
      : undefined;
  if (!keys) return [];
  const accepted: UiChunk = { type: chunk.type };
  for (const key of keys) if (chunk[key] !== undefined) accepted[key] = chunk[key];
  return [accepted];
}

/**
 * The data stream of AI SDK 4: lines of a code, a colon and JSON. An unknown code or comment fails the whole message. The found passages
 * are sent as the result of a tool `search` in a separate step: every version shows tools, but only 4.1.35 and later support lines of
 * sources. `sources`: true if the client supports those.
 */
export function dataStreamWire({ sources }: { sources: boolean }): AnswerWire {
  let messageId = '';
  let step: 'none' | 'open' | 'has-called-tools' = 'none';
  const startStep = (): string => {
    if (step !== 'none') return '';
    step = 'open';
    return line('f', { messageId });
  };
  // Versions before 4.1 begin another message after a step without continuation.
  const finishStep = (finishReason: FinishReason, isContinued: boolean): string => {
    if (step === 'none') return '';
    step = 'none';
    return line('e', { finishReason, isContinued });
  };
  const used: UiChunk[] = [];
  const writeChunk = (chunk: UiChunk): string => {
    switch (chunk.type) {
      case 'start-step':
        return startStep();
      case 'finish-step':
        return step === 'has-called-tools' ? finishStep('tool-calls', true) : finishStep('stop', false);
      case 'text-delta':
        return line('0', chunk.delta);
      case 'reasoning-delta':
        return line('g', chunk.delta);
      case 'source-url':
        used.push(chunk);
        return sources ? line('h', { sourceType: 'url', id: chunk.sourceId, url: chunk.url, title: chunk.title }) : '';
      case 'tool-input-available':
        step = 'has-called-tools';
        return line('9', { toolCallId: chunk.toolCallId, toolName: chunk.toolName, args: chunk.input });
      case 'tool-output-available':
        return line('a', { toolCallId: chunk.toolCallId, result: chunk.output });
      case 'tool-output-error':
        return line('a', { toolCallId: chunk.toolCallId, result: [] });
      case 'data-suggestions':
        return line('8', [{ type: 'suggestions', suggestions: chunk.data }]);
      case 'error':
        return line('3', chunk.errorText);
      default:
        return '';
    }
  };
  return {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-cache',
      'x-vercel-ai-data-stream': 'v1',
      'x-accel-buffering': 'no',
    },
    start: (ids) => {
      messageId = ids.messageId;
      return startStep();
    },
    found: (query, passages) =>
      [
        { type: 'start-step' },
        { type: 'tool-input-available', toolCallId: 'search', toolName: 'search', input: { query } },
        { type: 'tool-output-available', toolCallId: 'search', output: passages },
        { type: 'finish-step' },
      ]
        .map(writeChunk)
        .join(''),
    chunk: (chunk) => acceptedChunks(chunk).map(writeChunk).join(''),
    finish: ({ threadId }, finishReason, tokens) => {
      const thread = { type: 'finish', threadId };
      const annotations = used.map(({ url, title }) => ({ url, title }));
      return (
        finishStep(finishReason, false) +
        line('2', [thread]) +
        line('8', [thread, ...(used.length === 0 ? [] : [{ type: 'sources', sources: annotations }])]) +
        line('d', {
          finishReason,
          usage: { promptTokens: tokens.input, completionTokens: tokens.output },
          threadId,
        })
      );
    },
    eventCount: () => 0,
    separator: '\n',
    keepAlive: '\n',
  };
}

const line = (code: string, value: unknown): string => `${code}:${JSON.stringify(value)}\n`;
