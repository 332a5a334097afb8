import { expect, test } from 'vitest';
import { finishReasonOf } from './answer-wire.ts';
import { dataStreamWire } from './data-stream-wire.ts';
import { uiMessageWire } from './ui-message-wire.ts';

const ids = { messageId: 'msg_1', threadId: 'th_1' };
const tokens = { input: 3, output: 4 };
const events = (bytes: string): unknown[] =>
  bytes
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)) as unknown);

test('a line reader finds threadId on finish, an AI SDK client in the metadata alone', () => {
  expect(events(uiMessageWire('plain').finish(ids, 'stop', tokens))).toEqual([
    {
      type: 'finish',
      threadId: 'th_1',
      finishReason: 'stop',
      messageMetadata: { threadId: 'th_1', finishReason: 'stop' },
    },
  ]);
  expect(events(uiMessageWire('ui').finish(ids, 'stop', tokens))).toEqual([
    { type: 'finish', messageMetadata: { threadId: 'th_1', finishReason: 'stop' } },
  ]);
});

test('every write of a stream ends with an empty line, the last with [DONE]', () => {
  const wire = uiMessageWire('ui');
  expect(wire.start(ids)).toBe('data: {"type":"start","messageId":"msg_1","messageMetadata":{"threadId":"th_1"}}\n\n');
  expect(wire.chunk({ type: 'text-delta', id: '1', delta: 'a\n\nb', secret: 1 })).toBe(
    'data: {"type":"text-delta","id":"1","delta":"a\\n\\nb"}\n\n',
  );
  expect(wire.chunk({ type: 'unknown' })).toBe('');
  expect(wire.finish(ids, 'error', tokens).endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
});

test('AI SDK 4 gets code lines, with the thread in each place that it can be read from', () => {
  const wire = dataStreamWire();
  expect(wire.start(ids)).toBe('f:{"messageId":"msg_1"}\n');
  expect(wire.chunk({ type: 'text-delta', id: '1', delta: 'a\nb' })).toBe('0:"a\\nb"\n');
  expect(wire.chunk({ type: 'source-url', sourceId: 's1', url: '/a', title: 'A' })).toBe(
    'h:{"sourceType":"url","id":"s1","url":"/a","title":"A"}\n',
  );
  expect(wire.chunk({ type: 'start-step' })).toBe('');
  expect(wire.finish(ids, 'stop', tokens)).toBe(
    'e:{"finishReason":"stop","usage":{"promptTokens":3,"completionTokens":4},"isContinued":false}\n' +
      '2:[{"type":"finish","threadId":"th_1"}]\n' +
      '8:[{"type":"finish","threadId":"th_1"}]\n' +
      'd:{"finishReason":"stop","usage":{"promptTokens":3,"completionTokens":4},"threadId":"th_1"}\n',
  );
  expect(wire.keepAlive).toBe('\n');
});

test('finish reasons that some client rejects become other', () => {
  expect(['stop', 'interrupted', 'unknown', undefined].map(finishReasonOf)).toEqual([
    'stop',
    'other',
    'other',
    'other',
  ]);
});
