import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { memoryProject } from '../../../test/support/memory-project.ts';
import type { ProjectFiles } from './project-files.ts';
import { readDocsProject } from './read-docs-project.ts';
import { openReadings } from './readings.ts';

type Contents = Record<string, string | Uint8Array>;

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

/** Repeatable numbers below a limit. */
function dice(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % limit;
  };
}

const png = (width: number): Uint8Array => {
  const bytes = Buffer.alloc(32);
  bytes.write('\u0089PNG\r\n\u001a\n', 'latin1');
  bytes.write('IHDR', 12, 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(10, 20);
  return bytes;
};
const description = (paths: readonly string[]): string =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'API', version: '1' },
    paths: Object.fromEntries(
      paths.map((path) => [`/${path}`, { get: { summary: `Get ${path}`, responses: { 200: { description: 'ok' } } } }]),
    ),
  });

/** One change of a project, as an author makes it. */
function change(before: Contents, roll: (limit: number) => number, round: number): Contents {
  const files = { ...before };
  const names = Object.keys(files).filter((path) => /\.mdx?$/.test(path));
  const some = names[roll(names.length)] ?? 'index.mdx';
  const other = names[roll(names.length)] ?? 'index.mdx';
  const pages = (text: string): string => {
    const config = JSON.parse(text) as { navigation: { pages: unknown[] } };
    config.navigation.pages = names.filter(() => roll(3) > 0).map((path) => path.replace(/\.mdx?$/, ''));
    return JSON.stringify(config);
  };
  const config = JSON.parse(String(files['docs.json'])) as Record<string, unknown>;
  switch (roll(13)) {
    case 0:
      files[`pages/p${round}.mdx`] =
        `---\ntitle: "P${round}"\n---\n\nimport A from '/${other}'\n\n[x](/${some}) {{product}}\n`;
      break;
    case 1:
      if (names.length > 4) delete files[some];
      break;
    case 2:
      files[`moved/m${round}.md`] = files[some] ?? '';
      if (names.length > 4) delete files[some];
      break;
    case 3:
      files['docs.json'] = pages(String(files['docs.json']));
      break;
    case 4:
      files[`snippets/s${roll(3)}.mdx`] = `Snippet of round ${round}. [y](./s${roll(3)}) ![z](/pictures/a.png)\n`;
      break;
    case 5:
      files[some] =
        `import S from '/snippets/s${roll(3)}.mdx'\n\n# Heading ${round}\n\n<Snippet file="s${roll(3)}.mdx" />\n`;
      break;
    case 6:
      config['variables'] = roll(2) === 0 ? { product: `Name ${round}` } : undefined;
      files['docs.json'] = JSON.stringify(config);
      break;
    case 7:
      files['api/openapi.json'] = description(['users', `round${round}`].slice(roll(2)));
      break;
    case 8:
      files['pictures/a.png'] = png(round + 1);
      break;
    case 9:
      files[some] = `---\ntitle: [broken\ngroups: ${'x'.repeat(roll(5))}\n---\n\nText ${round} {{product}}\n`;
      break;
    case 10:
      config['api'] = roll(2) === 0 ? { openapi: 'api/openapi.json' } : undefined;
      config['redirects'] = [{ source: `/old${roll(4)}`, destination: '/index' }];
      files['docs.json'] = JSON.stringify(config);
      break;
    case 11:
      files['.mintignore'] = roll(2) === 0 ? 'pages/*\n' : '';
      break;
    default:
      files[some] = `---\nopenapi: GET /users\n---\n`;
  }
  return files;
}

const start: Contents = {
  'docs.json': JSON.stringify({
    theme: 'mint',
    name: 'Acme',
    colors: { primary: '#112233' },
    navigation: { pages: ['index', 'guides/a'] },
  }),
  'index.mdx': '# Hello\n\n[a](/guides/a)\n',
  'guides/a.mdx': "import S from '/snippets/s0.mdx'\n\n<S />\n",
  'guides/b.md': 'Text\n',
  'snippets/s0.mdx': 'Snippet\n',
  'pictures/a.png': png(5),
  'api/openapi.json': description(['users']),
};

test.each([1, 2, 3, 4])(
  'after random changes the known readings give the same model as reading everything (%i)',
  async (seed) => {
    const roll = dice(seed);
    let contents = start;
    let known = (await analysis(contents)).packed;
    let published = 0;
    for (let round = 0; round < 60; round += 1) {
      contents = change(contents, roll, round);
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

test('only changed files are read, and those that decide about others', async () => {
  const { packed } = await analysis(start);
  const changed = { ...start, 'guides/b.md': 'Other text\n' };
  expect([...(await analysis(changed, packed)).read].sort()).toEqual(['api/openapi.json', 'docs.json', 'guides/b.md']);
});

test('a page is read again when the variables change that it uses', async () => {
  const of = (name: string): Contents => ({
    ...start,
    'docs.json': JSON.stringify({ ...JSON.parse(String(start['docs.json'])), variables: { product: name } }),
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
  const whole = await analysis(start);
  const again = await analysis(start, damage(whole.packed!));
  expect(again.model).toBe(whole.model);
  expect(again.read).toContain('index.mdx');
});

test('readings of other code are as good as none', async () => {
  const { packed } = await analysis(start, undefined, 'before');
  expect((await analysis(start, packed, 'after')).read).toContain('index.mdx');
});
