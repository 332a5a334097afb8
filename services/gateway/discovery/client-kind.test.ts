import { expect, test } from 'vitest';
import { clientKind, readsSources } from './discovery-routes.ts';

const user = { id: 'my-own-id', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };
const stock = { parts: user.parts, id: 'aB3dE6gH9jK2mN5p', role: 'user' };
const body = (messages: unknown[], more: object = {}) => ({ fp: 'anonymous', messages, ...more });
const assistant = (more: object) => ({ id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'Hello' }], ...more });

test.each([
  ['a body as the specification has it', body([user]), {}, 'plain'],
  ['a trigger of a chat', body([user], { trigger: 'submit-message' }), {}, 'ui'],
  ['the other trigger', body([user], { trigger: 'regenerate-message' }), {}, 'ui'],
  ['some other trigger', body([user], { trigger: 'cron' }), {}, 'plain'],
  ['a top-level id beside messages', body([user], { id: 'chat-1' }), {}, 'ui'],
  ['a top-level id without messages', { fp: 'x', id: 'chat-1' }, {}, 'plain'],
  ["the SDK's user agent", body([user]), { 'user-agent': 'ai-sdk/5.0.1' }, 'ui'],
  ["the SDK's newer user agent", body([user]), { 'user-agent': 'ai/7.0.173 browser' }, 'ui'],
  ['another user agent', body([user]), { 'user-agent': 'curl/8.0' }, 'plain'],
  ['a step-start part', body([assistant({ parts: [{ type: 'step-start' }] }), user]), {}, 'ui'],
  ['a part with a state', body([assistant({ parts: [{ type: 'text', text: 'x', state: 'done' }] })]), {}, 'ui'],
  ['a thread id in metadata', body([assistant({ metadata: { threadId: 't' } }), user]), {}, 'ui'],
  ['an assistant message without signs', body([assistant({}), user]), {}, 'plain'],
  ['a stock id with parts as the first key', body([stock]), {}, 'ui'],
  ['a stock id with parts later', body([{ id: stock.id, role: 'user', parts: stock.parts }]), {}, 'plain'],
  ['an own id with parts as the first key', body([{ ...stock, id: 'x' }]), {}, 'plain'],
  ['x-stream-finish: always', body([stock], { trigger: 'submit-message' }), { 'x-stream-finish': 'always' }, 'plain'],
  ['x-stream-finish: metadata', body([user]), { 'x-stream-finish': 'metadata' }, 'ui'],
  ['x-stream-finish with nonsense', body([user]), { 'x-stream-finish': 'maybe' }, 'plain'],
  ['no object', 'text', {}, 'plain'],
  ['messages that are none', { messages: [null, 7, 'x', []] }, {}, 'plain'],
])('%s', (_name, parsed, headers, kind) => {
  expect(clientKind(parsed, headers)).toBe(kind);
});

test.each([
  ['a first question', body([user]), {}, false],
  ['an answer of 4.1.34', body([assistant({ parts: [{ type: 'reasoning', reasoning: 'x' }] }), user]), {}, false],
  ['an answer with a source', body([assistant({ parts: [{ type: 'source', source: {} }] }), user]), {}, true],
  ['an answer with steps', body([assistant({ parts: [{ type: 'step-start' }] }), user]), {}, true],
  ['reasoning with details', body([assistant({ parts: [{ type: 'reasoning', details: [] }] }), user]), {}, true],
  ['a part of a user', body([{ ...user, parts: [{ type: 'step-start' }] }]), {}, false],
  ['x-stream-sources: always', body([user]), { 'x-stream-sources': 'always' }, true],
  [
    'x-stream-sources: never',
    body([assistant({ parts: [{ type: 'step-start' }] })]),
    { 'x-stream-sources': 'never' },
    false,
  ],
  ['messages that are none', { messages: [null, 7, { role: 'assistant', parts: [null] }] }, {}, false],
])('lines of sources for %s', (_name, parsed, headers, reads) => {
  expect(readsSources(parsed, headers)).toBe(reads);
});
