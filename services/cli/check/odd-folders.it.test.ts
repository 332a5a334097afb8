import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import { checkedPages } from '#shared/docs/render/checked-page.ts';
import { newFolder } from '../../../test/support/new-folder.ts';
import { folderProject, projectFilesIn } from '../folder-project.ts';
import { type Checker, checkFolder, checkRenderOptions, type FolderCheck } from './check-folder.ts';
import { openChecker } from './open-checker.ts';

const page = (text: string): string => `---\ntitle: A\ndescription: About it.\n---\n\n${text}\n`;

async function folderOf(pages: Record<string, string>): Promise<string> {
  const folder = newFolder();
  const navigation = { pages: Object.keys(pages).map((path) => path.replace(/\.mdx$/, '')) };
  const files = {
    'docs.json': JSON.stringify({ name: 'A', theme: 'mint', colors: { primary: '#123456' }, navigation }),
  };
  for (const [path, text] of Object.entries({ ...files, ...pages })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

async function checked(folder: string): Promise<FolderCheck> {
  const checker = openChecker(() => Promise.reject(new Error('The thread did not answer.')));
  onTestFinished(() => checker.close());
  return await checker.check(folder, { pages: true, added: new Map() });
}

const found = ({ findings }: FolderCheck) =>
  findings.map(({ finding: { code, file, line } }) => [code, file, ...(line === undefined ? [] : [line])]);

/** A checker in this process. */
const here = (): Checker => ({
  known: new Map(),
  read: (project) => readDocsProject(project),
  render: async (inputs) =>
    inputs.flatMap(({ texts, ...input }) => checkedPages({ pages: [input], texts, options: checkRenderOptions })),
});

test('links in circles, links to nothing and the longest names do not end a check', async () => {
  const folder = await folderOf({ 'index.mdx': page('Hello.') });
  await symlink(folder, join(folder, 'circle'));
  await symlink('b.mdx', join(folder, 'a.mdx'));
  await symlink('a.mdx', join(folder, 'b.mdx'));
  await symlink('gone.mdx', join(folder, 'dangling.mdx'));
  await writeFile(join(folder, `${'n'.repeat(251)}.mdx`), page('A name of 255 bytes.'));
  await mkdir(join(folder, 'd'.repeat(200), 'e'.repeat(200)), { recursive: true });
  await writeFile(join(folder, 'd'.repeat(200), 'e'.repeat(200), `${'f'.repeat(200)}.mdx`), page('A long path.'));
  const check = await checked(folder);
  expect(check.pages).toBe(1);
  expect(found(check).map(([code]) => code)).toEqual(expect.arrayContaining(['bad-path', 'name-taken']));
});

test('lines of a file with Windows line ends are counted as an editor counts them', async () => {
  const text = page('First.\n\nSee [nothing](/none).');
  const folder = await folderOf({ 'index.mdx': text, 'windows.mdx': text.replaceAll('\n', '\r\n') });
  const lines = found(await checked(folder)).filter(([code]) => code === 'broken-link');
  expect(lines).toEqual([
    ['broken-link', 'index.mdx', 8],
    ['broken-link', 'windows.mdx', 8],
  ]);
});

test('files that vanish while a check reads them are findings or left out, and the rest is checked', async () => {
  const folder = await folderOf({ 'index.mdx': page('See [nothing](/none).'), 'gone.mdx': page('Hello.') });
  const project = await folderProject(folder);
  let reads = 0;
  const vanishing = {
    ...project,
    read: async (path: string, maxBytes: number) => {
      const bytes = await project.read(path, maxBytes);
      // The page is gone when it is read for the second time, to be rendered.
      if (path === 'gone.mdx' && (reads += 1) === 1) await rm(join(folder, path));
      return bytes;
    },
  };
  expect(found(await checkFolder(vanishing, here(), { pages: true }))).toEqual([
    ['file-not-read', 'gone.mdx'],
    ['broken-link', 'index.mdx', 6],
  ]);
});

test('a folder with more files than a publication may have is refused with a sentence', async () => {
  const folder = await folderOf({ 'index.mdx': page('Hello.'), 'deep/inside/other.mdx': page('Hello.') });
  expect(await projectFilesIn(folder, 3)).toHaveLength(3);
  await expect(projectFilesIn(folder, 2)).rejects.toMatchObject({
    message: expect.stringContaining('more than 2 files') as string,
    exitStatus: 2,
  });
});

test('a project on which the thread hangs is checked by child processes', async () => {
  const folder = await folderOf({ 'index.mdx': page('Hello.') });
  const entry = join(newFolder(), 'hanging.mjs');
  await writeFile(
    entry,
    "import { parentPort } from 'node:worker_threads';\nparentPort.on('message', () => { for (;;); });\n",
  );
  const checker = openChecker(async () => ({ ...here(), close: async () => undefined }), {
    entry: pathToFileURL(entry),
    silentMs: 100,
  });
  onTestFinished(() => checker.close());
  expect((await checker.check(folder, { pages: true, added: new Map() })).pages).toBe(1);
});
