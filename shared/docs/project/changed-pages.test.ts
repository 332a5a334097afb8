import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { changedProject, type Contents, dice, firstProject } from '../../../test/support/changed-project.ts';
import { memoryProject } from '../../../test/support/memory-project.ts';
import { changedPages, revisedModel } from './changed-pages.ts';
import { largeSourceBytes } from './project-files.ts';
import { readDocsProject } from './read-docs-project.ts';
import { openReadings } from './readings.ts';
import { rereadPages } from './reread-pages.ts';
import type { SiteModel } from './site-model.ts';

const contentVersion = 'cv_0';

/** Reads the whole project. Undefined if it cannot be published. */
async function published(contents: Contents) {
  const project = memoryProject(contents);
  const readings = openReadings(undefined, 'today');
  const read = await readDocsProject(project, undefined, readings).catch(() => undefined);
  const packed = readings.packed() ?? new Uint8Array();
  return read && { project, model: { contentVersion, ...read } as SiteModel, readings: packed };
}

type Published = NonNullable<Awaited<ReturnType<typeof published>>>;

/** Publishes a project after `last` by its changed pages alone. Undefined if more changed. */
async function revised(last: Published, contents: Contents, readerVersion = 'today') {
  const project = memoryProject(contents);
  const before = new Map(last.project.files.map((file) => [file.path, file]));
  const changed = changedPages(last.model, before, project.files);
  if (changed === undefined) return undefined;
  const { variables } = last.model.settings;
  const request = { changed, variables, known: last.readings, readerVersion };
  const reread = await rereadPages(request, (path, maxBytes) => project.read(path, maxBytes));
  const model = reread && revisedModel(last.model, changed, reread);
  return model && reread && { model, readings: reread.readings };
}

const linesOf = (packed: Uint8Array): string[] => gunzipSync(packed).toString().split('\n').sort();

/** Edits of a page. Some change only its text. */
const edits: readonly ((text: string, round: number) => string)[] = [
  (text, round) => `${text}\nA sentence of round ${round}.\n`,
  (text, round) => `${text}\n[A link](/guides/of-round-${round})\n`,
  (text) => text.slice(0, Math.ceil(text.length / 2)),
  (text, round) => `${text}\n{{product}} ${round}\n`,
  (text, round) => `${text}\n{{unknown}} ${round}\n`,
  (text, round) => `# Another title ${round}\n\n${text}`,
  (text, round) => `---\ntitle: Title ${round}\nurl: https://example.com/${round}\n---\n${text}`,
  (text) => `import S from '/snippets/s1.mdx'\n\n${text}`,
  (text, round) => `---\ngroups: [staff]\nicon: star\nfoo: ${round}\n---\n${text}`,
];

test.each([1, 2, 3, 4])(
  'a model that is revised from changed pages is that of the whole project (%i)',
  async (seed) => {
    const roll = dice(seed);
    let contents = firstProject;
    let count = 0;
    for (let round = 0; round < 30; round += 1) {
      contents = changedProject(contents, roll, round);
      const last = await published(contents);
      if (last === undefined) continue;
      const pages = Object.keys(contents).filter((path) => /\.mdx?$/.test(path));
      for (const [number, edit] of edits.entries()) {
        const path = pages[roll(pages.length)] ?? '';
        const edited = { ...contents, [path]: edit(String(contents[path]), round) };
        const found = await revised(last, edited);
        const whole = await published(edited);
        if (found === undefined || whole === undefined) {
          expect([number, found]).toEqual([number, undefined]);
          continue;
        }
        count += 1;
        expect(JSON.stringify(found.model)).toBe(JSON.stringify(whole.model));
        expect(linesOf(found.readings)).toEqual(linesOf(whole.readings));
      }
    }
    expect(count).toBeGreaterThan(10);
  },
);

const text = (path: string, content: string): Contents => ({ ...firstProject, [path]: content });

test.each([
  ['a page with other text', text('index.mdx', '# Hello\n\nOther text. [b](/guides/b)\n'), true],
  [
    'a page that imports and has the same links',
    text('guides/a.mdx', "import S from '/snippets/s0.mdx'\n\nText\n"),
    true,
  ],
  [
    'a page that imports and has other links',
    text('guides/a.mdx', "import S from '/snippets/s0.mdx'\n\n[b](/b)\n"),
    false,
  ],
  ['another title', text('index.mdx', '# Another\n\n[a](/guides/a)\n'), false],
  ['a snippet', text('snippets/s0.mdx', 'Other text\n'), false],
  ['an API description', text('api/openapi.json', '{"openapi": "3.1.0"}'), false],
  ['a new page', text('new.mdx', 'Text\n'), false],
  ['a large page', text('index.mdx', `# Hello\n\n${'text '.repeat(largeSourceBytes / 4)}`), false],
  ['nothing', firstProject, false],
])('after a change of %s, changed pages are enough: $2', async (_name, contents, isEnough) => {
  const last = await published(firstProject);
  expect((last && (await revised(last, contents))) !== undefined).toBe(isEnough);
});

test('readings of another program, and damaged ones, are not used', async () => {
  const last = await published(firstProject);
  if (last === undefined) throw new Error('the project cannot be read');
  const contents = text('index.mdx', '# Hello\n\nOther text.\n');
  expect(await revised(last, contents)).toBeDefined();
  expect(await revised(last, contents, 'tomorrow')).toBeUndefined();
  expect(await revised({ ...last, readings: last.readings.subarray(0, 100) }, contents)).toBeUndefined();
});
