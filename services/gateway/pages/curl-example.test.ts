import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { Operation } from '../openapi.ts';
import { curlExample } from './curl-example.ts';

const operation = (changes: Partial<Operation>): Operation => ({
  operationId: 'x',
  tags: [],
  summary: '',
  security: [],
  parameters: [],
  responses: {},
  ...changes,
});

/** The arguments that a shell passes to curl. */
function argumentsOf(example: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${example}`;
  const env = { ...process.env, BASE: 'http://b', KEY: 'svc_k', ASSISTANT_KEY: 'svc_dsc_k', OPERATOR_TOKEN: 'token' };
  return spawnSync('sh', ['-c', script], { env, encoding: 'utf8' }).stdout.split('\0').slice(0, -1);
}

test('a shell gives curl the address, the key and the body of the example', () => {
  const body = { question: "What's `this`, $KEY?\n" };
  const domain = { name: 'domain', in: 'path', required: true, schema: {}, example: 'docs.acme.com' } as const;
  const example = curlExample(
    'POST',
    '/v1/ask/{domain}',
    operation({
      security: [{ assistantKey: [] }, { adminKey: [] }],
      parameters: [domain, { name: 'limit', in: 'query', required: false, schema: {}, example: 3 }],
      requestBody: { required: true, content: { 'application/json': { schema: {}, example: body } } },
      responses: { 200: { description: '', headers: {}, content: { 'text/event-stream': { 'x-stream': 'chunks' } } } },
    }),
  );
  const [stream, flag, method, url, h1, key, h2, type, d, sent = ''] = argumentsOf(example);
  expect([stream, flag, method, url]).toEqual(['-N', '-X', 'POST', 'http://b/v1/ask/docs.acme.com']);
  expect([h1, key, h2, type, d]).toEqual([
    ...['-H', 'Authorization: Bearer svc_dsc_k'],
    ...['-H', 'Content-Type: application/json', '-d'],
  ]);
  expect(JSON.parse(sent)).toEqual(body);
});

test('a route without key and body is one line', () => {
  expect(curlExample('GET', '/openapi.json', operation({}))).toBe('curl "$BASE/openapi.json"');
});

test('an archive is sent from a file', () => {
  const content = { 'application/gzip': {} };
  const example = curlExample('PUT', '/v1/x', operation({ requestBody: { required: true, content } }));
  expect(argumentsOf(example).slice(-2)).toEqual(['--data-binary', '@docs.tar.gz']);
});
