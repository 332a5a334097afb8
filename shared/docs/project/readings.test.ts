import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { changedProject, type Contents, dice, firstProject } from '../../../test/support/changed-project.ts';
import { memoryProject } from '../../../test/support/memory-project.ts';
import type { ProjectFiles } from './project-files.ts';
import { keptReadings } from './kept-readings.ts';
import { readDocsProject } from './read-docs-project.ts';
import { openReadings } from './readings.ts';

/** The model as text, the files that were read, and the readings for the next time. */
async function analysis(contents: Contents, known?: Uint8Array, readerVersion = 'today') {
  const project = memoryProject(contents);
  const read: string[] = [];
  const counting: ProjectFiles = {
    files: project.files,
    read: (path, maxBytes) => {
      read.push(path);
      return project.read(path, maxBytes);
    },
  };
  const readings = openReadings(known, readerVersion);
  const outcome = await readDocsProject(counting, undefined, readings).catch((error: unknown) => String(error));
  return { model: JSON.stringify(outcome), read: new Set(read), packed: readings.packed() };
}

const linesOf = (packed: Uint8Array | undefined): string[] =>
  gunzipSync(packed ?? '')
    .toString()
    .split('\n')
    .sort();

test.each([1, 2, 3, 4])(
  'after random changes the known readings give the same model as reading everything (%i)',
  async (seed) => {
    const roll = dice(seed);
    let contents = firstProject;
    let known = (await analysis(contents)).packed;
    let published = 0;
    for (let round = 0; round < 60; round += 1) {
      contents = changedProject(contents, roll, round);
      const whole = await analysis(contents);
      const again = await analysis(contents, known);
      expect(again.model).toBe(whole.model);
      expect(linesOf(again.packed)).toEqual(linesOf(whole.packed));
      known = again.packed;
      if (whole.model.startsWith('{')) published += 1;
    }
    expect(published).toBeGreaterThan(20);
  },
);

test.each([5, 6, 7])(
  'after random changes the readings and outcomes in memory give the same model as reading everything (%i)',
  async (seed) => {
    const roll = dice(seed);
    const kept = keptReadings();
    let contents = firstProject;
    let published = 0;
    for (let round = 0; round < 80; round += 1) {
      contents = changedProject(contents, roll, round);
      const whole = await analysis(contents);
      const again = await readDocsProject(memoryProject(contents), undefined, kept).catch(String);
      expect(JSON.stringify(again)).toBe(whole.model);
      // A project that cannot be read keeps the readings of the last one that could.
      if (typeof again === 'object') kept.dropUnused();
      if (whole.model.startsWith('{')) published += 1;
    }
    expect(published).toBeGreaterThan(25);
  },
);

test('a reading in memory makes again only the entries of pages that changed', async () => {
  const kept = keptReadings();
  const before = await readDocsProject(memoryProject(firstProject), undefined, kept);
  kept.dropUnused();
  const settings = { ...JSON.parse(String(firstProject['docs.json'])), name: 'Another name' };
  const renamed = { ...firstProject, 'docs.json': JSON.stringify(settings) };
  const after = await readDocsProject(memoryProject(renamed), undefined, kept);
  expect(after.settings.name).toBe('Another name');
  expect(after.pages).toBe(before.pages);
  expect(after.navigation).toBe(before.navigation);
  kept.dropUnused();
  const edited = { ...renamed, 'guides/b.md': '---\ntitle: Another title\n---\n\nOther text.\n' };
  const last = await readDocsProject(memoryProject(edited), undefined, kept);
  const other = last.pages.filter((page) => !after.pages.includes(page)).map(({ path }) => path);
  expect(other).toEqual(['guides/b']);
});

test('only changed files are read, and those that decide about others', async () => {
  const { packed } = await analysis(firstProject);
  const changed = { ...firstProject, 'guides/b.md': 'Other text\n' };
  expect([...(await analysis(changed, packed)).read].sort()).toEqual(['api/openapi.json', 'docs.json', 'guides/b.md']);
});

test('a page is read again when the variables change that it uses', async () => {
  const of = (name: string): Contents => ({
    ...firstProject,
    'docs.json': JSON.stringify({ ...JSON.parse(String(firstProject['docs.json'])), variables: { product: name } }),
    'guides/b.md': 'We make {{product}}.\n',
  });
  const { packed } = await analysis(of('A'));
  expect((await analysis(of('A'), packed)).read).not.toContain('guides/b.md');
  const other = await analysis(of('B'), packed);
  expect(other.read).toContain('guides/b.md');
  expect(other.read).not.toContain('index.mdx');
});

test.each<[string, (packed: Uint8Array) => Uint8Array]>([
  ['cut', (packed) => packed.subarray(0, packed.length / 2)],
  ['not packed', () => Buffer.from('text')],
  ['of another format', () => gzipSync('{"format":2,"reader":"today"}\n')],
  [
    'with values of other types',
    (packed) => gzipSync(gunzipSync(packed).toString().replaceAll('"linkTargets":[', '"linkTargets":[7,')),
  ],
  ['larger than they may be', () => gzipSync(Buffer.alloc(65 * 1024 * 1024, 'x'))],
])('readings that are %s are as good as none', async (_what, damage) => {
  const whole = await analysis(firstProject);
  const again = await analysis(firstProject, damage(whole.packed!));
  expect(again.model).toBe(whole.model);
  expect(again.read).toContain('index.mdx');
});

test('readings of other code are ignored', async () => {
  const { packed } = await analysis(firstProject, undefined, 'before');
  expect((await analysis(firstProject, packed, 'after')).read).toContain('index.mdx');
});
