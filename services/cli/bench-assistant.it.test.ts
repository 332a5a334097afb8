import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newFolder } from '../../test/support/new-folder.ts';
import { type LoopbackServer, onLoopback } from '../../test/support/on-loopback.ts';
import { runCommand } from '../../test/support/start-installation.ts';

let server: LoopbackServer;
beforeAll(async () => {
  server = await onLoopback(createServer((request, response) => void answer(request, response)));
});
afterAll(() => server.close());

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = JSON.parse(await text(request)) as { path?: string; messages?: { content: string }[] };
  if (request.url === '/discovery/v1/page/docs') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ path: body.path, content: '# Keys\n\nRotate a key once a year.' }));
    return;
  }
  const isCake = body.messages?.[0]?.content.includes('cake') === true;
  const said = isCake ? 'This is not in the documentation.' : 'Rotate a key once a year.\n\n[Keys](/keys#rotate)';
  response.writeHead(200, { 'content-type': 'text/plain' });
  response.write(`0:${JSON.stringify(said)}\n`);
  response.write(
    `8:${JSON.stringify([{ type: 'sources', sources: isCake ? [] : [{ url: '/keys#rotate', title: 'Keys' }] }])}\n`,
  );
  response.end(`d:${JSON.stringify({ finishReason: 'stop', usage: { promptTokens: 90, completionTokens: 10 } })}\n`);
}

test('prints the figures, and ends with 1 where one is below its threshold', async () => {
  const file = join(newFolder(), 'questions.jsonl');
  const lines = [
    { query: 'rotate?', pages: ['/keys'] },
    { query: 'audit?', pages: ['/audit'] },
    { query: 'bake a cake?' },
  ];
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  const run = (...more: string[]) =>
    runCommand(['bench', 'assistant', 'docs', '--questions', file, '--url', server.url, '--key', 'k', ...more]);
  const good = await run('--min-first', '0.5', '--min-refused', '1', '--min-citations', '1', '--misses');
  expect([good.code, good.stderr]).toEqual([0, '']);
  expect(good.stdout).toMatch(/right page first +50\.0 %\n/);
  expect(good.stdout).toMatch(/citations true +100\.0 %\n/);
  expect(good.stdout).toMatch(/tokens +300\n {2}"audit\?": rank 0/);
  const bad = await run('--min-first', '0.6', '--json');
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.stdout)).toMatchObject({ figures: { questions: 3, first: 0.5, unanswerableRefused: 1 } });
  expect((await run('--min-first', '0.6')).stderr).toContain('right page first: 0.500, less than 0.6.');
  expect((await run('--questions', `${file}.none`)).code).not.toBe(0);
});
