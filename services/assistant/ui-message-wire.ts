import type { AnswerWire } from './answer-wire.ts';
import { acceptedChunks } from './ui-chunk-filter.ts';

/**
 * The UI message stream of AI SDK 5 and later. `ui`: what all its versions accept, so `finish` has no keys of its own. `plain`: for
 * everyone who reads lines, `finish` has `threadId` as the specification says.
 */
export function uiMessageWire(client: 'ui' | 'plain'): AnswerWire {
  return {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-vercel-ai-ui-message-stream': 'v1',
      'x-accel-buffering': 'no',
    },
    start: ({ messageId, threadId }) => event({ type: 'start', messageId, messageMetadata: { threadId } }),
    chunk: (chunk) => acceptedChunks(chunk).map(event).join(''),
    finish: ({ threadId }, finishReason) => {
      const messageMetadata = { threadId, finishReason };
      const finish =
        client === 'ui'
          ? { type: 'finish', messageMetadata }
          : { type: 'finish', threadId, finishReason, messageMetadata };
      return `${event(finish)}data: [DONE]\n\n`;
    },
    keepAlive: ': ping\n\n',
  };
}

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
