import type { AnswerWire } from './answer-wire.ts';
import type { UiChunk } from './ui-chunk-filter.ts';

/** The data stream of AI SDK 4: lines of a code, a colon and JSON. A code or comment that it does not know fails the whole message. */
export function dataStreamWire(): AnswerWire {
  return {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-cache',
      'x-vercel-ai-data-stream': 'v1',
      'x-accel-buffering': 'no',
    },
    start: ({ messageId }) => line('f', { messageId }),
    chunk: (chunk) => writeChunk(chunk),
    finish: ({ threadId }, finishReason, tokens) => {
      const usage = { promptTokens: tokens.input, completionTokens: tokens.output };
      const thread = [{ type: 'finish', threadId }];
      return (
        line('e', { finishReason, usage, isContinued: false }) +
        line('2', thread) +
        line('8', thread) +
        line('d', { finishReason, usage, threadId })
      );
    },
    keepAlive: '\n',
  };
}

function writeChunk(chunk: UiChunk): string {
  switch (chunk.type) {
    case 'text-delta':
      return line('0', chunk.delta);
    case 'reasoning-delta':
      return line('g', chunk.delta);
    case 'source-url':
      return line('h', { sourceType: 'url', id: chunk.sourceId, url: chunk.url, title: chunk.title });
    case 'tool-input-available':
      return line('9', { toolCallId: chunk.toolCallId, toolName: chunk.toolName, args: chunk.input });
    case 'tool-output-available':
      return line('a', { toolCallId: chunk.toolCallId, result: chunk.output });
    case 'error':
      return line('3', chunk.errorText);
    default:
      return '';
  }
}

const line = (code: string, value: unknown): string => `${code}:${JSON.stringify(value)}\n`;
