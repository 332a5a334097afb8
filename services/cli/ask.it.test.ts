import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type LoopbackServer, onLoopback } from '../../test/support/on-loopback.ts';
import { runCommand } from '../../test/support/start-installation.ts';
import { sourceText } from './commands/ask.ts';

type Body = { threadId?: string; messages: { parts: { text: string }[] }[] };

let server: LoopbackServer;
let asked: { path: string; body: Body }[] = [];

beforeAll(async () => {
  server = await onLoopback(createServer((request, response) => void answer(request, response)));
});
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  asked.push({ path: request.url ?? '', body: JSON.parse(await text(request)) as Body });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of [
    { type: 'text-delta', id: '1', delta: `Answer ${asked.length} \u001b[31mred` },
    { type: 'source-url', sourceId: 's', url: '/keys#rotate', title: 'Keys' },
    { type: 'finish', threadId: 'th_1' },
  ])
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  response.end('data: [DONE]\n\n');
}
beforeEach(() => {
  asked = [];
});
afterAll(() => server.close());

const run = (args: readonly string[], input?: string) =>
  runCommand(['ask', ...args, '--url', server.url, '--key', 'k'], {}, input);

test('lines of the input are questions of one conversation', async () => {
  const { code, stdout, stderr } = await run(['docs'], 'How?\n\n  And why?  \n');
  expect([code, stderr]).toEqual([0, '']);
  expect(asked.map(({ body }) => [body.messages[0]?.parts[0]?.text, body.threadId])).toEqual([
    ['How?', undefined],
    ['And why?', 'th_1'],
  ]);
  expect(stdout).toBe(
    [1, 2].map((count) => `Answer ${count} [31mred\n\n→ Keys (/keys#rotate)\nthread th_1\n`).join(''),
  );
});

test('a question alone is one question, also when nobody could ask another', async () => {
  expect((await run(['docs', 'How?', '--thread', 'th_9'], 'And why?\n')).code).toBe(0);
  expect(asked.map(({ path, body }) => [path, body.threadId])).toEqual([
    ['/discovery/v2/assistant/docs/message', 'th_9'],
  ]);
});

test('with --json each answer is a line', async () => {
  const { stdout } = await run(['docs', '--json'], 'How?\nWhy?\n');
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { threadId: string });
  expect(answers.map(({ threadId }) => threadId)).toEqual(['th_1', 'th_1']);
});

test('sources are links where the host of the site is known', () => {
  const source = { title: 'Keys', url: '/keys#rotate' };
  expect(sourceText(source, 'docs', true)).toBe('Keys (/keys#rotate)');
  const address = 'https://docs.acme.com/keys#rotate';
  expect(sourceText(source, 'docs.acme.com', false)).toBe(`Keys (${address})`);
  expect(sourceText(source, 'docs.acme.com', true)).toBe(
    `\u001b]8;;${address}\u001b\\Keys (${address})\u001b]8;;\u001b\\`,
  );
  expect(sourceText({ title: 'Ke\u001b]8;;x', url: '/a' }, 'docs', true)).toBe('Ke ]8;;x (/a)');
});
