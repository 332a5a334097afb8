import { expect, test } from 'vitest';
import { exactShare, exactSpans } from './exact-spans.ts';

const share = (query: string, text: string): number => exactShare(exactSpans(query), text);

test.each([
  'how do I use e-mail and/or step-by-step guides',
  'client/server',
  "what's new? (a list)",
  'docs-theme',
  'i.e. this, e.g. that',
  '',
  '--- ... ``` "" /',
  'API',
])('"%s" has no literal parts', (query) => {
  expect(exactSpans(query)).toEqual([]);
});

test.each([
  ['--force', 'pass --force=true'],
  ['-xzf', 'tar -xzf x'],
  ['$HOME_DIR', 'in HOME_DIR.'],
  ['docs.json', 'Put docs.json there'],
  ['2.30.11', 'from 2.30.11 on'],
  ['GET /v1/jobs/{id}/events', 'at /v1/jobs/:jobId/events it'],
  ['x-thread-id:', 'X-Thread-Id: t'],
  ['/v1/jobs/{id}', "curl 'https://api.example.com/v1/jobs/{jobId}'"],
  ['/v1/jobs/42/events', '`GET https://example.com/api/v1/jobs/{jobId}/events`'],
  ['HTTPS_PROXY=http://10.0.0.1:3128', 'Set HTTPS_PROXY first.'],
  ['--max-size=4096', 'pass --max-size=8192'],
  ['"rotating a key"', 'After you rotate a key, wait.'],
  ['«one  two»', 'one\ntwo'],
])('%s is found in "%s"', (query, text) => {
  expect(share(query, text)).toBe(1);
});

test.each([
  ['useChat', 'useChatbot and reuseChat'],
  ['/v1/jobs/{id}', '/v1/jobs and {id}'],
  ['"one two"', 'two one'],
  ['a.b+c_d', 'a.bbc_d'],
  ['docs.json', 'docsxjson'],
])('%s is not found in "%s"', (query, text) => {
  expect(share(query, text)).toBe(0);
});

test('a text may have some of several literal parts, and hostile questions take no time', () => {
  // The terms are chat, usechat, red and green.
  expect(share('useChat or "red green"', 'useChat alone')).toBe(0.5);
  expect(share('https://x.example/a/b#c', 'see /a/b')).toBeGreaterThan(0);
  expect(share('what does the useChat hook return when it is closed', 'useChat')).toBeLessThan(0.5);
  expect(exactSpans(Array.from({ length: 50 }, (_, at) => `some_name_${at}`).join(' '))).toHaveLength(8);
  for (const part of ['a.', '-a', '/a', '_', '"', '=', '{', '`', 'aB', '@a/'])
    expect(share(part.repeat(5_000), part.repeat(5_000))).toBeGreaterThanOrEqual(0);
});
