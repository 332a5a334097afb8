import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { newFolder } from '../../../test/support/new-folder.ts';
import { writeLock } from '../remote/lock-file.ts';
import { projectEngine } from './project-engine.ts';
import type { ProjectAnswers, ProjectOutline } from './project-questions.ts';

const pages = 30;
const docs = {
  name: 'A',
  theme: 'mint',
  colors: { primary: '#123456' },
  navigation: { pages: Array.from({ length: pages }, (_, at) => `p${at}`) },
};

/** A project with a chain of links, and the pages that are rendered. */
function openProject(
  skipped: readonly string[] = [],
  more: Record<string, string> = {},
  { folder = newFolder(), parts = newFolder() } = {},
) {
  mkdirSync(join(folder, 'snippets'));
  const texts: Record<string, string> = {
    'docs.json': JSON.stringify(docs),
    'snippets/s.mdx': 'Words.',
    ...Object.fromEntries(
      docs.navigation.pages.map((name, at) => [
        `${name}.mdx`,
        `---\ntitle: P ${at}\n---\n\n## Part ${at}\n\n[The next](/p${at + 1}#part-${at + 1})\n`,
      ]),
    ),
    ...more,
  };
  for (const [path, text] of Object.entries(texts)) writeFileSync(join(folder, path), text);
  const rendered: string[] = [];
  const answer = projectEngine((page) => void (page && rendered.push(page.file)), parts);
  const findings = async (open: string[]): Promise<Record<string, string[]>> => {
    const found = (await answer({ kind: 'findings', open })) as ProjectAnswers['findings'];
    return Object.fromEntries(found.map(([file, own]) => [file, own.map(({ finding }) => finding.code)]));
  };
  const change = (texts: [string, string | undefined][]): Promise<unknown> =>
    answer({ kind: 'change', change: { texts, disk: [] } });
  return {
    answer,
    folder,
    rendered,
    findings,
    change,
    opened: answer({ kind: 'open', folder, skipped }) as Promise<ProjectOutline>,
    texts,
  };
}

test('only open documents and the pages whose anchors they name are rendered, each version once', async () => {
  const { opened, rendered, findings, change, texts } = openProject();
  expect((await opened).pages).toHaveLength(pages);
  expect(rendered).toEqual([]);
  expect(await findings(['p3.mdx'])).toEqual({ 'p3.mdx': [], 'docs.json': [] });
  expect(rendered).toEqual(['p3.mdx', 'p4.mdx']);
  await findings(['p3.mdx']);
  await change([['p3.mdx', `${texts['p3.mdx'] ?? ''}\nMore words.`]]);
  expect(await findings(['p3.mdx'])).toEqual({ 'p3.mdx': [], 'docs.json': [] });
  expect(rendered).toEqual(['p3.mdx', 'p4.mdx', 'p3.mdx']);
  // Another name of a heading concerns the page that links to it.
  await change([['p3.mdx', (texts['p3.mdx'] ?? '').replace('## Part 3', '## Chapter')]]);
  expect(await findings(['p3.mdx'])).toEqual({ 'p3.mdx': [], 'docs.json': [], 'p2.mdx': ['broken-anchor'] });
  expect(rendered.slice(3)).toEqual(['p3.mdx', 'p2.mdx']);
  await change([['p3.mdx', undefined]]);
  expect(await findings(['p2.mdx'])).toEqual({ 'p2.mdx': [], 'docs.json': [] });
});

test('a source whose rendering did not end is not rendered again before it changes', async () => {
  const hanging = '---\ntitle: Hanging\n---\n\nWords.\n';
  const { opened, rendered, findings, change } = openProject([sha256Of(hanging)], { 'p0.mdx': hanging });
  await opened;
  expect(await findings(['p0.mdx'])).toEqual({ 'p0.mdx': ['page-not-rendered'], 'docs.json': [] });
  expect(rendered).toEqual([]);
  await change([['p0.mdx', `${hanging}\nMore.`]]);
  expect(await findings(['p0.mdx'])).toEqual({ 'p0.mdx': [], 'docs.json': [] });
});

test('a project that cannot be read at first has only that finding, and is read once it is repaired', async () => {
  const { opened, findings, change, answer, texts } = openProject([], { 'docs.json': '{ "name": ' });
  expect((await opened).pages).toEqual([]);
  expect(await findings(['p0.mdx'])).toEqual({ 'p0.mdx': [], 'docs.json': ['bad-config'] });
  expect(await answer({ kind: 'links', file: 'p0.mdx' })).toEqual([]);
  expect(await answer({ kind: 'rename', files: [{ from: 'p0.mdx', to: 'q.mdx' }] })).toEqual([]);
  await change([['docs.json', JSON.stringify(docs)]]);
  expect(await findings(['p0.mdx'])).toEqual({ 'p0.mdx': [], 'docs.json': [] });
  expect(texts['docs.json']).toBe('{ "name": ');
});

test('a snippet gets the findings of the pages that include it', async () => {
  const { opened, findings, rendered } = openProject([], {
    'snippets/s.mdx': '[Somewhere](/gone)\n',
    'p0.mdx': "import S from '/snippets/s.mdx';\n\n<S />\n",
  });
  await opened;
  expect(await findings(['snippets/s.mdx'])).toEqual({ 'snippets/s.mdx': ['broken-link'], 'docs.json': [] });
  expect(rendered).toEqual(['p0.mdx']);
});

test('a font and an API description that only the lock has are there, and come with a lock that another program writes', async () => {
  const description = Buffer.from('openapi: 3.0.1\npaths:\n  /users:\n    get: { summary: List users }\n');
  const font = Buffer.from('wOF2'.padEnd(64, '\0'));
  const elsewhere = 'https://files.example';
  const config = {
    ...docs,
    fonts: { family: 'Own', source: `${elsewhere}/own.woff2` },
    navigation: {
      groups: [
        { group: 'All', pages: ['p0'] },
        { group: 'API', openapi: `${elsewhere}/api.yaml` },
      ],
    },
  };
  const [folder, parts] = [newFolder(), newFolder()];
  const keep = (bytes: Buffer): void => writeFileSync(join(parts, sha256Of(bytes)), bytes);
  const lock = (files: Record<string, [Buffer, string]>): Promise<void> =>
    writeLock(folder, {
      pictures: false,
      parts: new Map(
        Object.entries(files).map(([path, [bytes, type]]) => [
          elsewhere + path,
          { sha256: sha256Of(bytes), sizeBytes: bytes.length, type },
        ]),
      ),
    });
  const seen = (answer: ReturnType<typeof openProject>['answer']): Promise<unknown> =>
    answer({ kind: 'change', change: { texts: [], disk: ['docs.lock.json'] } });
  keep(description);
  keep(font);
  await lock({ '/api.yaml': [description, 'application/yaml'], '/own.woff2': [font, 'font/woff2'] });
  const more = { 'docs.json': JSON.stringify(config), 'p0.mdx': '[Users](/api-reference/list-users)\n' };
  const { opened, findings, answer } = openProject([], more, { folder, parts });
  expect((await opened).pages.map(({ path }) => path)).toContain('api-reference/list-users');
  expect((await opened).files).toEqual(['docs.json']);
  expect(await findings(['p0.mdx'])).toEqual({ 'p0.mdx': [], 'docs.json': [] });
  // A lock that lacks the description, as after a change of the branch.
  await lock({ '/own.woff2': [font, 'font/woff2'] });
  await seen(answer);
  expect(await findings(['p0.mdx'])).toEqual({ 'p0.mdx': ['broken-link'], 'docs.json': ['openapi-not-fetched'] });
  await lock({ '/api.yaml': [description, 'application/yaml'], '/own.woff2': [font, 'font/woff2'] });
  await seen(answer);
  expect(await findings(['p0.mdx'])).toEqual({ 'p0.mdx': [], 'docs.json': [] });
  // A machine that has the lock without the bytes.
  rmSync(parts, { recursive: true });
  await seen(answer);
  expect((await findings(['p0.mdx']))['docs.json']).toEqual(['remote-not-there-yet', 'remote-not-there-yet']);
});
