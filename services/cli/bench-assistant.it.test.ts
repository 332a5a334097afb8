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

/** The number of requests before each one for the contents of the domain. */
const contents: number[] = [];
let asked = 0;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/v1/domains/docs/content') {
    contents.push(asked);
    response.writeHead(200, { 'content-type': 'application/json' });
    return void response.end(JSON.stringify({ latest: 'cv_2', searched: contents.length < 3 ? 'cv_1' : 'cv_2' }));
  }
  asked += 1;
  const body = JSON.parse(await text(request)) as { path?: string; messages?: { content: string }[] };
  if (request.url === '/discovery/v1/page/docs') {
    const isThere = body.path !== 'audti';
    response.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json' });
    if (!isThere) return void response.end(JSON.stringify({ error: 'There is no such page.', code: 'not_found' }));
    response.end(JSON.stringify({ path: body.path, content: '# Keys\n\nRotate a key once a year.' }));
    return;
  }
  const isCake = body.messages?.[0]?.content.includes('cake') === true;
  if (body.messages?.[0]?.content.includes('cut') === true) {
    // A server that ends in the middle of a line.
    response.writeHead(200, { 'content-type': 'text/plain' }).write('0:"Half an [answer](/keys)"\n0:"no');
    setImmediate(() => response.end());
    return;
  }
  if (body.messages?.[0]?.content.includes('fail') === true)
    return void response
      .writeHead(200, { 'content-type': 'text/plain' })
      .end('3:"The model failed."\nd:{"finishReason":"error","usage":{"promptTokens":1,"completionTokens":1}}\n');
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
  // The questions wait until the newest publication is searched.
  expect(contents).toEqual([0, 0, 0]);
  expect(good.stdout).toMatch(/right page first +50\.0 %\n/);
  expect(good.stdout).toMatch(/citations true +100\.0 %\n/);
  expect(good.stdout).toMatch(/tokens +300\n {2}"audit\?" → \/audit; named \/keys/);
  const bad = await run('--min-first', '0.6', '--json');
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.stdout)).toMatchObject({ figures: { questions: 3, first: 0.5, unanswerableRefused: 1 } });
  expect((await run('--min-first', '0.6')).stderr).toContain('right page first: 0.500, less than 0.6.');
  expect((await run('--questions', `${file}.none`)).code).not.toBe(0);
});

test('goes on after an answer that fails, and names pages that are not there', async () => {
  const file = join(newFolder(), 'questions.jsonl');
  const lines = [
    { query: 'is it cut?', pages: ['/keys'] },
    { query: 'does it fail?', pages: ['/keys'] },
    { query: 'rotate?', pages: ['/audti'] },
    { query: 'rotate?', pages: ['/keys'] },
  ];
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  const connection = ['--url', server.url, '--key', 'k'];
  const run = await runCommand(['bench', 'assistant', 'docs', '--questions', file, '--misses', ...connection]);
  expect(run.code).toBe(0);
  expect(run.stdout).toMatch(/without a whole answer +2\nright page first +25\.0 %\n/);
  expect(run.stdout).toContain('"is it cut?" → /keys; The answer was cut off.');
  expect(run.stdout).toContain('"does it fail?" → /keys; The model failed.');
  expect(run.stderr).toContain('The key finds no page at /audti');
});
