import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { memoryProject } from '../../test/support/memory-project.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { onLoopback } from '../../test/support/on-loopback.ts';
import { runCommand } from '../../test/support/start-installation.ts';
import { fetchDescription } from './fetch-description.ts';
import { isPrivate } from './private-networks.ts';
import { remoteDescriptions, withFiles } from './remote-descriptions.ts';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';

const description = (summary = 'List users') =>
  JSON.stringify({ openapi: '3.0.1', info: {}, paths: { '/users': { get: { summary } } } });

type Answer = (response: ServerResponse, request: IncomingMessage) => void;
const answering =
  (body: string | Buffer, headers: Record<string, string> = {}, status = 200): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };

let answers: Record<string, Answer>;
let asked: string[];
let close: () => Promise<void>;
let origin: string;
let cache: string;

beforeEach(async () => {
  answers = { '/openapi.json': answering(description()) };
  asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    (answers[request.url ?? ''] ?? answering('no', {}, 404))(response, request);
  });
  ({ url: origin, close } = await onLoopback(server));
  cache = newFolder();
});
afterEach(() => close());

const docs = (navigation: unknown, more: object = {}) =>
  JSON.stringify({ name: 'A', theme: 'mint', colors: { primary: '#0f766e' }, navigation, ...more });
const options = (more: object = {}) => ({ allowPrivate: true, cache, ...more });
const codesOf = (found: { diagnostics: readonly { code: string }[] }) => found.diagnostics.map(({ code }) => code);

describe('an API description that a project names by address', () => {
  test('is fetched once each, wherever it is named, and its operations have pages that name no time', async () => {
    answers['/own'] = answering(`# Ours\nopenapi: 3.1.0\npaths:\n  /a:\n    get:\n      summary: Get A\n`, {
      'content-type': 'text/plain',
    });
    answers['/events.json'] = answering(
      JSON.stringify({ asyncapi: '3.0.0', channels: { lights: { address: 'lights', title: 'Lights' } } }),
    );
    const project = memoryProject({
      'docs.json': docs(
        {
          tabs: [
            { tab: 'API', openapi: { source: `${origin}/openapi.json`, directory: 'api' } },
            { tab: 'More', groups: [{ group: 'G', pages: ['index', `${origin}/own GET /a`, `${origin}/linked`] }] },
          ],
        },
        { api: { openapi: [`${origin}/openapi.json#part`] } },
      ),
      'index.mdx': `---\nasyncapi: "${origin}/events.json lights"\n---\n`,
      'same.mdx': `---\nopenapi: "${origin}/openapi.json GET /users"\n---\n`,
    });
    const first = await remoteDescriptions(project, options({ now: () => new Date('2026-01-02T03:04:05Z') }));
    expect(asked.sort()).toEqual(['/events.json', '/openapi.json', '/own']);
    expect(first.diagnostics).toEqual([]);
    const model = await readDocsProject(withFiles(project, first.files));
    expect(model.diagnostics).toEqual([]);
    expect(model.pages.map(({ path, title }) => [path, title])).toEqual([
      ['api-reference/get-a', 'Get A'],
      ['api/list-users', 'List users'],
      ['index', 'Lights'],
      ['same', 'List users'],
    ]);
    const later = await remoteDescriptions(project, options());
    expect(await readDocsProject(withFiles(project, later.files))).toEqual(model);
    expect(JSON.stringify(model)).not.toMatch(/2026-01-02|_remote/);
    const manifest = JSON.parse(Buffer.from(first.files.get('_remote/manifest.json') ?? '').toString()) as unknown;
    expect(manifest).toMatchObject({
      formatVersion: 1,
      descriptions: [
        {
          address: `${origin}/openapi.json`,
          fetchedAt: '2026-01-02T03:04:05.000Z',
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
          file: expect.stringMatching(/^_remote\/[0-9a-f]{32}\.json$/) as string,
        },
        { address: `${origin}/own`, file: expect.stringMatching(/\.yaml$/) as string },
        { address: `${origin}/events.json` },
      ],
    });
  });

  test('comes from the last copy where it cannot be fetched, and that is said', async () => {
    const project = memoryProject({ 'docs.json': docs({ openapi: `${origin}/openapi.json` }) });
    const before = await remoteDescriptions(project, options({ now: () => new Date('2026-01-02T03:04:05Z') }));
    await close();
    const after = await remoteDescriptions(project, options());
    expect(after.files).toEqual(before.files);
    expect(after.diagnostics).toMatchObject([
      {
        code: 'openapi-copy-used',
        file: 'docs.json',
        message: expect.stringContaining('2026-01-02T03:04:05') as string,
      },
    ]);
    expect((await remoteDescriptions(project, options({ fetch: false }))).files).toEqual(before.files);
    // An incomplete copy is ignored.
    for (const name of await readdir(cache)) if (name.endsWith('.copy')) await writeFile(join(cache, name), '{}');
    const broken = await remoteDescriptions(project, options());
    expect([broken.files.size, codesOf(broken)]).toEqual([0, ['openapi-fetch-failed']]);
  });

  test('comes from the project itself where there is no other copy, and a fetched one wins over that', async () => {
    const named = memoryProject({ 'docs.json': docs({ openapi: `${origin}/openapi.json` }) });
    const { files } = await remoteDescriptions(named, options());
    cache = newFolder();
    const own = Object.fromEntries([...files].map(([path, bytes]) => [path, bytes]));
    const project = memoryProject({ 'docs.json': docs({ openapi: `${origin}/openapi.json` }), ...own });
    answers['/openapi.json'] = answering(`openapi: 3.0.1\npaths:\n  /users:\n    get: { summary: Changed }\n`);
    const changed = await readDocsProject(withFiles(project, (await remoteDescriptions(project, options())).files));
    expect(changed.pages.map(({ title }) => title)).toEqual(['Changed']);
    cache = newFolder();
    answers['/openapi.json'] = answering('gone', {}, 500);
    const kept = await remoteDescriptions(project, options());
    expect(codesOf(kept)).toEqual(['openapi-copy-used']);
    expect((await readDocsProject(withFiles(project, kept.files))).pages).toMatchObject([{ title: 'List users' }]);
    expect((await readDocsProject(withFiles(project, kept.files))).assets).toEqual([]);
  });
});

describe('the archive is not believed', () => {
  test('a copy is read for the address of its name alone, whatever a manifest says', async () => {
    const { files } = await remoteDescriptions(
      memoryProject({ 'docs.json': docs({ openapi: `${origin}/openapi.json` }) }),
      options(),
    );
    const forged = memoryProject({
      'docs.json': docs({ pages: ['index'], openapi: 'https://other.example/openapi.json' }),
      'index.mdx': '---\nopenapi: GET /users\n---\n',
      ...Object.fromEntries(files),
      '_remote/manifest.json': JSON.stringify({
        formatVersion: 1,
        descriptions: [{ address: 'https://other.example/openapi.json', file: [...files.keys()][0], sha256: 'x' }],
      }),
    });
    const model = await readDocsProject(forged);
    expect(model.pages.map(({ path, reference }) => [path, reference])).toEqual([['index', undefined]]);
    expect(codesOf(model)).toEqual(expect.arrayContaining(['openapi-not-fetched', 'openapi-operation-missing']));
    expect([...model.assets, ...model.specs]).toEqual([]);
  });
});

describe('fetching is bounded', () => {
  const allowed = { allowPrivate: true };
  const fetched = (path: string, bounds: object = {}) => fetchDescription(origin + path, { ...allowed, ...bounds });

  test('by size, also of what is packed on the way', async () => {
    answers['/large'] = answering(description('x'.repeat(200_000)));
    answers['/torn'] = answering(gzipSync(description('x'.repeat(200_000))).subarray(0, 90), {
      'content-encoding': 'gzip',
    });
    await expect(fetched('/torn')).rejects.toThrow('unexpected end of file');
    answers['/packed'] = answering(gzipSync(description('x'.repeat(200_000))), { 'content-encoding': 'gzip' });
    await expect(fetched('/large', { maxBytes: 100_000 })).rejects.toThrow('it has more than 100 kB');
    await expect(fetched('/packed', { maxBytes: 100_000 })).rejects.toThrow('it has more than 100 kB');
    await expect(fetchDescription(`${origin}/packed`, allowed)).resolves.toMatchObject({ format: 'json' });
  });

  test('by time, for the whole of it', async () => {
    answers['/slow'] = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    };
    answers['/silent'] = () => undefined;
    await expect(fetched('/slow', { withinMs: 200 })).rejects.toThrow('it took longer than 0.2 s');
    await expect(fetched('/silent', { withinMs: 200 })).rejects.toThrow('it took longer than 0.2 s');
  });

  test('by redirects, each of which is looked at', async () => {
    answers['/loop'] = answering('', { location: '/loop' }, 302);
    answers['/moved'] = answering('', { location: '/openapi.json' }, 308);
    answers['/file'] = answering('', { location: 'file:///etc/passwd' }, 302);
    answers['/secret'] = answering('', { location: 'http://user:word@127.0.0.1/' }, 302);
    await expect(fetched('/loop')).rejects.toThrow('it redirects more than 5 times');
    expect(asked).toHaveLength(6);
    await expect(fetched('/file')).rejects.toThrow('file: is not supported');
    await expect(fetched('/secret')).rejects.toThrow('has a password in it');
    await expect(fetchDescription(`${origin}/moved`, allowed)).resolves.toMatchObject({ format: 'json' });
  });

  test.each([
    ['/page', answering('<html>', { 'content-type': 'text/html; charset=utf-8' }), 'the answer is text/html'],
    ['/other', answering('{"a": 1}'), 'the answer is no API description: it does not say "openapi"'],
    ['/broken', answering('{"openapi": "3.0.0"'), 'the answer is no API description: it is not valid JSON'],
    [
      '/bomb',
      answering(`openapi: 3.0.0\na: &a [x]\nb: ${'[*a, '.repeat(300)}${']'.repeat(300)}\n`),
      'no API description',
    ],
    ['/away', answering('gone', {}, 410), 'answered 410'],
    ['/zip', answering('x', { 'content-encoding': 'zstd-x' }), 'the content encoding zstd-x'],
    ['/part', answering('x', { 'content-encoding': 'constructor' }), 'the content encoding constructor'],
  ])('%s is refused', async (path, answer, why) => {
    answers[path] = answer;
    await expect(fetched(path)).rejects.toThrow(why);
  });

  test('to public addresses, unless the author says otherwise', async () => {
    const { port } = new URL(origin);
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '0x7f.1', '[::ffff:127.0.0.1]', '169.254.169.254']) {
      await expect(fetchDescription(`http://${host}:${port}/openapi.json`, { allowPrivate: false })).rejects.toThrow(
        /private network, which needs --private-addresses/,
      );
    }
    expect(asked).toEqual([]);
  });

  test('never to link-local addresses, where clouds keep their credentials', async () => {
    answers['/away'] = answering('', { location: 'http://169.254.169.254/latest/meta-data' }, 302);
    await expect(fetched('/away')).rejects.toThrow('169.254.169.254 is a link-local address');
  });

  test.each([
    ['93.184.216.34', false],
    ['2606:2800:220:1::1', false],
    ['10.1.2.3', true],
    ['100.64.0.1', true],
    ['172.31.255.255', true],
    ['172.32.0.1', false],
    ['192.168.0.1', true],
    ['224.0.0.1', true],
    ['255.255.255.255', true],
    ['0.0.0.0', true],
    ['::', true],
    ['fd00::1', true],
    ['fe80::1%eth0', true],
    ['64:ff9b::a00:1', true],
    ['2002:7f00:1::', true],
    ['no address', true],
  ])('%s is private: %s', (address, expected) => {
    expect(isPrivate(address)).toBe(expected);
  });
});

test('check --remote fetches, reports failures, and asks no private address by default', async () => {
  const folder = newFolder();
  await writeFile(join(folder, 'docs.json'), docs({ openapi: `${origin}/openapi.json` }));
  await writeFile(join(folder, 'index.mdx'), 'Hello.');
  const env = { BINDERY_CACHE: cache };
  const without = await runCommand(['check', folder], env);
  expect(without.stdout).toMatch(/^docs\.json\n {2}\d+(?::\d+)? {2}warning {2}.* Publish with "bindery publish"/m);
  expect(without.stdout).toMatch(/^API descriptions that are named by address were not fetched/m);
  const careful = await runCommand(['check', folder, '--remote'], env);
  expect(careful.stdout).toMatch(/^ {2}[\d:]+ {2}warning {2}.* needs --private-addresses\. Its pages are missing\./m);
  expect(careful.stdout).not.toContain('openapi-not-fetched');
  expect(asked).toEqual([]);
  const fetched = await runCommand(['check', folder, '--remote', '--private-addresses'], env);
  expect(fetched.stdout).toBe('2 pages: no problems.\n');
  expect(asked).toEqual(['/openapi.json']);
  expect(await readFile(join(folder, 'docs.json'), 'utf8')).toContain(origin);
  expect(await readdir(folder)).toHaveLength(2);
});
