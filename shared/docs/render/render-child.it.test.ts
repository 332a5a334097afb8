import { afterAll, expect, test } from 'vitest';
import { hostilePages } from '../../../test/hostile/pages.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { withSnapshot } from '#shared/docs/sandbox/child-snapshot.ts';
import { drawCard } from './card/draw-card.ts';
import { closingPart } from './closing-part.ts';
import { pageSlice } from './page-slice.ts';
import { indexSite } from './site-index.ts';
import { closingAnswers, expectedResponse } from './expected-response.ts';
import type { RenderRequest, RenderResponse } from './render-request.ts';
import { testOptions, testProject } from './test-project.ts';

const program = { entry: new URL('./render-child.ts', import.meta.url), addons: true };
const pool = childPool({ ...program, slots: 1, warmSpares: 0 });
const mustWork = {
  info: () => undefined,
  warn(line: string) {
    throw new Error(line);
  },
};
const fromSnapshot = childPool({ ...(await withSnapshot(program, mustWork)), slots: 1, warmSpares: 0 });
afterAll(() => Promise.all([pool.close(), fromSnapshot.close()]));

const ask = (request: RenderRequest, asked = pool): Promise<RenderResponse> =>
  asked.run(request, { deadlineMs: 15_000, affinity: 'acme', expects: expectedResponse(request) });

const source =
  '```ts\nconst a = 1;\n```\n\n<Note>x</Note>\n\n<Icon icon="stripe" /> <Icon icon="refresh-cw" /> <Icon icon="brand-abstract" className="mt-1" />';

test.each([
  ['that loaded its modules', pool],
  ['that started from a snapshot', fromSnapshot],
])('a child %s renders as this process does, down to the byte', async (_name, asked) => {
  const docs = {
    ...{ name: 'Test', theme: 'mint', colors: { primary: '#0f766e' }, navigation: { pages: ['page'] } },
    ...{ thumbnails: {}, seo: { metatags: { canonical: 'https://acme.test' } } },
  };
  const project = await testProject({ 'page.mdx': source, 'docs.json': JSON.stringify(docs) });
  const slice = pageSlice(indexSite(project.model), 'page', testOptions);
  const answer = await ask(
    { kind: 'page', slice, source: Buffer.from(source), dependencies: {}, options: testOptions },
    asked,
  );
  const here = project.render('page');
  if (answer.kind !== 'page') throw new Error(`the child answered ${answer.kind}`);
  expect(answer.page).toEqual(here.page);
  expect(answer.files.map(({ body }) => Buffer.from(body).toString())).toEqual(
    here.files.map(({ body }) => Buffer.from(body).toString()),
  );
  const card = { path: here.card?.path, body: Buffer.from(await drawCard(here.card?.svg ?? '')) };
  expect(answer.pictures?.map(({ path, body }) => ({ path, body: Buffer.from(body) }))).toEqual([card]);
});

test.each([
  ['that loaded its modules', pool],
  ['that started from a snapshot', fromSnapshot],
])('a child %s closes a bundle with the utilities of its pages', async (_name, asked) => {
  const project = await testProject({ 'page.mdx': source });
  const { model } = project;
  const { page } = project.render('page');
  const written: string[] = [];
  const request: RenderRequest = {
    kind: 'closing',
    model: Buffer.from(JSON.stringify(model)),
    plan: {
      domain: 'acme',
      contentVersion: model.contentVersion,
      rendererVersion: 'r-000000000000',
      deployment: 'cloud',
      groups: [],
    },
    runCount: 1,
  };
  const summary = {
    version: 1 as const,
    sha256: '0'.repeat(64),
    crc32: 0,
    rawLength: 0,
    sizeBytes: 0,
    diagnostics: [],
  };
  const closed = await asked.run(request, {
    deadlineMs: 15_000,
    affinity: 'acme',
    expects: expectedResponse(request),
    answers: closingAnswers(
      { segmentCount: 1, runCount: 1, pages: new Set(['page']) },
      () => ({ claimed: [], textBytes: 0, isLast: true }),
      (question) => {
        if (question.kind === 'part') {
          const { part, add } = closingPart('acme/');
          add({ ...summary, files: [], pages: [page] });
          return Promise.resolve({ json: Buffer.from(JSON.stringify(part)), segmentCount: 1, isLast: true });
        }
        if (question.kind === 'texts') return Promise.resolve(Buffer.from(JSON.stringify(page)));
        if (question.kind === 'bytes') written.push(Buffer.from(question.bytes).toString());
        return Promise.resolve('0'.repeat(64));
      },
    ),
  });
  expect(closed).toEqual({ kind: 'closed', lost: [], findings: { errors: 0, warnings: 0 } });
  expect(written[0]).toMatch(/^:is\(.*\) \.mt-1\{margin-top:0\.25rem;\}\n$/);
});

test('a page that exceeds a limit is shown as its plain source with a notice, alone and in a chunk, for every onPageError', async () => {
  const { model } = await testProject({ 'page.mdx': source, 'second.mdx': 'Second' });
  const [slice, second] = ['page', 'second'].map((path) => pageSlice(indexSite(model), path, testOptions));
  if (slice === undefined || second === undefined) throw new Error('the project has fewer than two pages');
  for (const [large, code] of [
    [Buffer.alloc(8 * 1024 * 1024 + 1, 'word '), 'page-too-large'],
    [Buffer.from(`|${'a|'.repeat(2000)}\n|${'-|'.repeat(2000)}\n${'|b|\n'.repeat(200)}`), 'page-too-large'],
    [Buffer.from('{'.repeat(100_000)), 'expression-too-deep'],
    [
      Buffer.from('{[1,2,3,4,5,6,7,8,9].map((a) => [1,2,3,4,5,6,7,8,9].map((b) => "x"))}\n\n'.repeat(3_000)),
      'page-too-large',
    ],
  ] as const) {
    const asked = { kind: 'page', slice, source: large, dependencies: {}, options: testOptions } as const;
    const answer = await ask(asked);
    if (answer.kind !== 'page') throw new Error(`the child answered ${answer.kind}`);
    expect(answer.page).toMatchObject({
      failure: expect.stringMatching(/^This page is shown as plain text: /),
      diagnostics: [{ severity: 'error', code, file: 'page.mdx' }],
    });
    expect(answer.files[0]?.body).toMatch(/could not be rendered.*<pre class="plain-source"/s);
    expect(answer.files[0]?.body.length).toBeLessThan(1_000_000);
    const pages = [asked, { slice: second, source: 'Second' }];
    const chunk = await ask({ kind: 'chunk', domain: 'test', pages, texts: {}, options: testOptions });
    expect(chunk.kind).toBe('packed');
  }
  const reason = 'it was not rendered within 10 s, twice';
  expect(await ask({ kind: 'failed-page', slice, source, reason })).toMatchObject({ page: { failure: reason } });
  expect(await ask({ kind: 'site', model, options: testOptions })).toMatchObject({ kind: 'files' });
});

test('a source of several megabytes with pictures in it is rendered, and the pictures become files', async () => {
  const { model } = await testProject({ 'page.mdx': 'x' });
  const slice = pageSlice(indexSite(model), 'page', testOptions);
  const [png, svg] = [
    Buffer.alloc(2_900_000, 'picture'),
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><script>1</script>${'<g/>'.repeat(2_000)}</svg>`),
  ];
  const inline = (type: string, bytes: Buffer) => `data:image/${type};base64,${bytes.toString('base64')}`;
  const text = `## Before\n\n![plot](${inline('png', png)})\n\n<img src="${inline('svg+xml', svg)}" alt="d" />\n\n![plot](${inline('png', png)})\n\n## After\n\n\`\`\`html\n<img src="${inline('gif', svg)}">\n\`\`\`\n\n![html](${inline('bmp', svg)})\n`;
  const options = { ...testOptions, allowTenantScripts: false };
  const answer = await ask({ kind: 'page', slice, source: Buffer.from(text), dependencies: {}, options });
  if (answer.kind !== 'page') throw new Error(`the child answered ${answer.kind}`);
  const { page, files, pictures = [] } = answer;
  expect(page.failure).toBeUndefined();
  expect(page.anchors).toEqual(['before', 'after']);
  expect(pictures.map(({ path }) => path)).toEqual([
    expect.stringMatching(/^_bindery\/pictures\/[0-9a-f]{16}\/[0-9a-f]{32}\.png$/),
    expect.stringMatching(/\.svg$/),
  ]);
  const [plot, drawing] = pictures;
  expect(Buffer.from(plot?.body ?? []).equals(png)).toBe(true);
  expect(Buffer.from(drawing?.body ?? []).toString()).not.toContain('script');
  expect(files[0]?.body.split(`src="./${plot?.path}"`)).toHaveLength(3);
  expect(files[0]?.body).toContain('data:image/gif;base64,');
  expect(files[0]?.body).not.toContain('data:image/bmp');
  expect(files[1]?.body).toContain(`![plot](/${plot?.path})`);
  const chunk = await ask({ kind: 'chunk', domain: 'test', pages: [{ slice, source: text }], texts: {}, options });
  expect(chunk.kind).toBe('packed');
});

test('a page of almost two megabytes is rendered in the memory of a child', async () => {
  const { model } = await testProject({ 'page.mdx': source });
  const slice = pageSlice(indexSite(model), 'page', testOptions);
  const paragraph = `${'A generated page has many words. '.repeat(30)}\n\n`;
  const large = Buffer.from(paragraph.repeat(Math.floor(1_950_000 / paragraph.length)));
  const answer = await ask({ kind: 'page', slice, source: large, dependencies: {}, options: testOptions });
  expect(answer).toMatchObject({ kind: 'page', page: { diagnostics: [] } });
});
test.each([
  ['slow-grammar.mdx', 1],
  ['slow-pieces.mdx', 3],
  ['many-blocks.mdx', 1],
])(
  'hostile code stays within the time limit of a page: %s',
  async (name, times) => {
    const { model } = await testProject({ 'page.mdx': source });
    const slice = pageSlice(indexSite(model), 'page', testOptions);
    // The limit of characters that are coloured.
    const hostile = String(hostilePages[name]?.source ?? '').repeat(times);
    // Rejects if the page takes more processor time than its deadline allows.
    const answer = await ask({ kind: 'page', slice, source: hostile, dependencies: {}, options: testOptions });
    expect(answer.kind).toBe('page');
  },
  60_000,
);
