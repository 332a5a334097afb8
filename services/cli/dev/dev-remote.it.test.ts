import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newFolder } from '../../../test/support/new-folder.ts';
import { onLoopback } from '../../../test/support/on-loopback.ts';
import { lockedFiles } from '../remote/remote-parts.ts';
import { devRemote } from './dev-remote.ts';
import { type DevSite, devSite } from './dev-site.ts';

const description = (summary: string) =>
  JSON.stringify({ openapi: '3.0.1', info: {}, paths: { '/plants': { get: { summary } } } });

let origin: string;
let close: () => Promise<void>;
let folder: string;
let site: DevSite | undefined;
/** Answers that the server keeps back until the test releases them. */
let waiting: ServerResponse[];
let asked: string[];

beforeEach(async () => {
  [waiting, asked] = [[], []];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    waiting.push(response);
  });
  ({ url: origin, close } = await onLoopback(server));
  folder = newFolder();
});
afterEach(async () => {
  await site?.close();
  site = undefined;
  await close();
});

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const docs = (openapi: string) =>
  JSON.stringify({
    ...{ name: 'Plants', theme: 'mint', colors: { primary: '#0f766e' } },
    navigation: {
      groups: [
        { group: 'API', pages: ['index'] },
        { group: 'Made', openapi },
      ],
    },
  });
const flags = { remote: true, refresh: false, privateAddresses: true };

async function open() {
  const opened = (site = await devSite(folder, () => [], { extra: await lockedFiles(folder) }));
  const remote = devRemote(folder, flags, {
    onParts: async (parts) => void (await opened.bring(parts)),
    onError: (error) => {
      throw error;
    },
  });
  const codes = (): string[] => opened.problems().map(({ code }) => code);
  const kindAt = async (target: string) => (await opened.answer(target)).kind;
  return { opened, remote, codes, kindAt };
}
const release = async (body: string): Promise<void> => {
  await expect.poll(() => waiting.length).toBeGreaterThan(0);
  waiting.shift()?.writeHead(200, { 'content-type': 'application/json' }).end(body);
};

test('an API description at an address comes in the background, and from the lock at the next start', async () => {
  write('docs.json', docs(`${origin}/api.json`));
  write('index.mdx', '---\ntitle: Start\n---\n\nWords.');
  const first = await open();
  const fetched = first.remote.begin();
  // The first page does not wait, and a finding names the missing file.
  expect(await first.kindAt('/index.html')).toBe('file');
  await expect.poll(first.codes).toEqual(['remote-not-there-yet']);
  await release(description('List plants'));
  await fetched;
  expect(first.codes()).toEqual([]);
  expect(await first.kindAt('/api-reference/list-plants.html')).toBe('file');
  // Another address is fetched as soon as it is saved.
  write('docs.json', docs(`${origin}/other.json`));
  await first.opened.change(['docs.json']);
  const changed = first.remote.changed(['docs.json']);
  await release(description('Water plants'));
  await changed;
  expect(await first.kindAt('/api-reference/water-plants.html')).toBe('file');
  expect(await first.kindAt('/api-reference/list-plants.html')).toBe('missing');
  expect(asked).toEqual(['/api.json', '/other.json']);
  await first.opened.close();
  await close();
  const second = await open();
  expect(await second.kindAt('/api-reference/water-plants.html')).toBe('file');
  await second.remote.begin();
  expect(second.codes()).toEqual([]);
  expect(readFileSync(join(folder, 'docs.lock.json'), 'utf8')).toContain('/other.json');
});

test('a page that names no new address asks nobody', async () => {
  write('docs.json', docs('api.json'));
  write('api.json', description('List plants'));
  write('index.mdx', '---\ntitle: Start\n---\n\n![A](https://pictures.invalid/a.png)');
  const { remote, codes } = await open();
  await remote.begin();
  await remote.changed(['index.mdx']);
  expect([codes(), asked]).toEqual([[], []]);
});
