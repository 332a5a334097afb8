import { expect, test } from 'vitest';
import { acceptedChunks, dataStreamWire, finishReasonOf, uiMessageWire } from './answer-wire.ts';

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
  const wire = dataStreamWire({ sources: true });
  expect(wire.start(ids)).toBe('f:{"messageId":"msg_1"}\n');
  const passage = { content: 'Text', path: 'a', url: '/a#b', metadata: { title: 'A', heading: 'B' } };
  expect(wire.found('how?', [passage])).toBe(
    '9:{"toolCallId":"search","toolName":"search","args":{"query":"how?"}}\n' +
      `a:{"toolCallId":"search","result":[${JSON.stringify(passage)}]}\n` +
      'e:{"finishReason":"tool-calls","isContinued":true}\n',
  );
  expect(wire.chunk({ type: 'start-step' })).toBe('f:{"messageId":"msg_1"}\n');
  expect(wire.chunk({ type: 'text-delta', id: '1', delta: 'a\nb' })).toBe('0:"a\\nb"\n');
  expect(wire.chunk({ type: 'source-url', sourceId: 's1', url: '/a', title: 'A' })).toBe(
    'h:{"sourceType":"url","id":"s1","url":"/a","title":"A"}\n',
  );
  expect(wire.chunk({ type: 'finish-step' })).toBe('e:{"finishReason":"stop","isContinued":false}\n');
  expect(wire.finish(ids, 'stop', tokens)).toBe(
    '2:[{"type":"finish","threadId":"th_1"}]\n' +
      '8:[{"type":"finish","threadId":"th_1"},{"type":"sources","sources":[{"url":"/a","title":"A"}]}]\n' +
      'd:{"finishReason":"stop","usage":{"promptTokens":3,"completionTokens":4},"threadId":"th_1"}\n',
  );
  expect(wire.keepAlive).toBe('\n');
});

test('AI SDK 4 before 4.1.35 gets no lines of sources, and every step ends when the answer breaks off', () => {
  const wire = dataStreamWire({ sources: false });
  const bytes =
    wire.start(ids) +
    wire.chunk({ type: 'source-url', sourceId: 's1', url: '/a', title: 'A' }) +
    wire.chunk({ type: 'error', errorText: 'No.' }) +
    wire.finish(ids, 'error', tokens);
  expect(bytes.replaceAll(/:.*\n/g, '')).toBe('f3e28d');
});

test('finish reasons that some client rejects become other', () => {
  expect(['stop', 'interrupted', 'unknown', undefined].map(finishReasonOf)).toEqual([
    'stop',
    'other',
    'other',
    'other',
  ]);
});

test('keys that some version rejects are left out', () => {
  expect(
    acceptedChunks({ type: 'text-delta', id: '1', delta: 'a', newKey: true, providerMetadata: undefined }),
  ).toEqual([{ type: 'text-delta', id: '1', delta: 'a' }]);
  expect(acceptedChunks({ type: 'data-suggestions', id: '1', data: [], transient: true, other: 1 })).toEqual([
    { type: 'data-suggestions', id: '1', data: [], transient: true },
  ]);
});

test('unknown kinds, and the ends of the message, are not passed on', () => {
  for (const type of ['start', 'finish', 'tool-approval-request', 'reset', 'constructor']) {
    expect(acceptedChunks({ type })).toEqual([]);
  }
});

test("a tool's wrong input becomes an input and an error, without the raw error", () => {
  const chunk = { type: 'tool-input-error', toolCallId: 'c', toolName: 't', input: {}, errorText: 'secret path /etc' };
  expect(acceptedChunks(chunk)).toEqual([
    { type: 'tool-input-available', toolCallId: 'c', toolName: 't', input: {} },
    { type: 'tool-output-error', toolCallId: 'c', errorText: 'The input of the tool was wrong.' },
  ]);
});

test('events have numbers if they can be resumed, and then they are counted', () => {
  const wire = uiMessageWire('ui', { isNumbered: true });
  const text = wire.start(ids) + wire.chunk({ type: 'abort' }) + wire.finish(ids, 'other', { input: 0, output: 0 });
  expect([text.match(/^id: \d$/gm), wire.eventCount()]).toEqual([['id: 1', 'id: 2', 'id: 3', 'id: 4'], 4]);
  expect(text).toContain('id: 2\ndata: {"type":"abort"}\n\n');
  const plain = uiMessageWire('ui');
  expect([plain.start(ids).startsWith('data: '), plain.eventCount()]).toEqual([true, 0]);
  expect(dataStreamWire({ sources: false }).eventCount()).toBe(0);
});
