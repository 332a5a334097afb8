import { expect, test } from 'vitest';
import { acceptedChunks } from './ui-chunk-filter.ts';

test('keys that some version rejects are left out', () => {
  expect(
    acceptedChunks({ type: 'text-delta', id: '1', delta: 'a', newKey: true, providerMetadata: undefined }),
  ).toEqual([{ type: 'text-delta', id: '1', delta: 'a' }]);
  expect(acceptedChunks({ type: 'data-suggestions', id: '1', data: [], transient: true, other: 1 })).toEqual([
    { type: 'data-suggestions', id: '1', data: [], transient: true },
  ]);
});

test('unknown kinds, and the ends of the message, are not passed on', () => {
  for (const type of ['start', 'finish', 'abort', 'tool-approval-request', 'reset', 'constructor']) {
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
