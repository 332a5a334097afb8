import { describe, expect, it } from 'vitest';
import { localChildren } from '../../../test/support/local-children.ts';
import { cardFile, picturesFolderOf } from './bundle-paths.ts';
import { closingAnswers, expectedResponse } from './expected-response.ts';
import { pageSlice } from './page-slice.ts';
import {
  type ClosingQuestion,
  handleRenderRequest,
  type RenderRequest,
  type RenderResponse,
} from './render-request.ts';
import { indexSite } from './site-index.ts';
import { testOptions, testProject } from './test-project.ts';

const { model } = await testProject({ 'a.mdx': '# A', 'b.mdx': '# B', 'images/x.svg': '<svg/>' });
const slice = pageSlice(indexSite(model), 'a', testOptions);
const page = { kind: 'page', slice, source: '# A', dependencies: {}, options: testOptions } as const;
const site = { kind: 'site', model, options: { ...testOptions, domain: 'docs' } } as const;
const isolated = { kind: 'isolated-file', path: 'images/x.svg', source: Buffer.from('<svg/>') } as const;
const described = {
  kind: 'description',
  path: 'api.json',
  source: Buffer.from('{}'),
  readers: { groups: [], leftOut: [] },
} as const;
const plan = { domain: 'docs', contentVersion: model.contentVersion, rendererVersion: 'r-000000000000' };
const closing: Extract<RenderRequest, { kind: 'closing' }> = {
  kind: 'closing',
  model: Buffer.from(JSON.stringify(model)),
  plan: { ...plan, deployment: 'cloud', groups: [] },
  runCount: 2,
};

/** The response that the service accepts when its child returns the honest response changed by `lie`. */
async function response<R extends RenderRequest>(request: R, lie: (honest: RenderResponse) => unknown) {
  const pool = localChildren(async (asked) =>
    lie(await handleRenderRequest(asked, () => Promise.reject(new Error('there are no answers')))),
  );
  return pool.run(request, { deadlineMs: 1, expects: expectedResponse(request) });
}

const changed = (change: (honest: RenderResponse & { kind: 'page' }) => object) => (honest: RenderResponse) => ({
  ...honest,
  ...change(honest as RenderResponse & { kind: 'page' }),
});
const bytes = Buffer.from('x');
const more = (path: string) => (honest: RenderResponse) => {
  const files = honest.kind === 'files' ? honest.files : [];
  return { kind: 'files', files: [...files, { path, body: bytes }] };
};

describe('a rendering child', () => {
  it('may send a correct response', async () => {
    expect(await response(page, (honest) => honest)).toMatchObject({ kind: 'page', page: { path: 'a' } });
    expect(await response(site, (honest) => honest)).toMatchObject({ kind: 'files' });
    expect(await response(isolated, (honest) => honest)).toMatchObject({ files: [{ path: 'images/x.svg' }] });
    expect(await response(described, (honest) => honest)).toMatchObject({ files: [] });
  });

  it('may send the navigation of divisions with long titles, and with names of devices', async () => {
    const long = 'A division with a title of eighty characters, as products and versions have it ';
    const tabs = [`${long}1`, `${long}2`, 'Con', 'a', 'a'].map((tab, at) => ({ tab, pages: [`page-${at}`] }));
    const pages = tabs.map((_tab, at) => [`page-${at}.mdx`, '# Page'] as const);
    const { model: divided } = await testProject({
      'docs.json': JSON.stringify({ name: 'A', theme: 'mint', colors: { primary: '#000' }, navigation: { tabs } }),
      ...Object.fromEntries(pages),
    });
    const { files } = (await response({ ...site, model: divided }, (honest) => honest)) as {
      files: { path: string }[];
    };
    const made = files.flatMap(({ path }) => /^_bindery\/navigation\/(.*)\.js$/.exec(path)?.[1] ?? []);
    expect(made).toHaveLength(tabs.length);
    expect(made.filter((id) => id.length > 64 || id === 'con')).toEqual([]);
  });

  it('may send files that only some pages have', async () => {
    const source = '<style>\n.soft { color: red }\n</style>\n\nText.';
    const styled = await testProject({ 'a.mdx': source });
    const asked = { ...page, slice: pageSlice(indexSite(styled.model), 'a', testOptions), source } as const;
    const answer = await response(asked, (honest) => honest);
    expect(answer).toMatchObject({
      kind: 'page',
      files: [{}, {}, { path: expect.stringMatching(/^_bindery\/styles\//) }],
    });
  });

  const lies: [string, RenderRequest, (honest: RenderResponse) => unknown][] = [
    ['respond with null', page, () => null],
    ['respond to another kind of request', page, () => ({ kind: 'closed', lost: [] })],
    ['respond for another page', page, changed(({ page: told }) => ({ page: { ...told, path: 'b' } }))],
    [
      'name the file of another page',
      page,
      changed(({ files }) => ({ files: [{ ...files[0], path: 'b.html' }, files[1]] })),
    ],
    [
      'name a file outside of the bundle',
      page,
      changed(({ files }) => ({ files: [...files, { path: '../x', body: '' }] })),
    ],
    [
      'name a generated file',
      page,
      changed(({ files }) => ({ files: [...files, { path: '_bindery/site.js', body: '' }] })),
    ],
    ['leave a file out', page, changed(({ files }) => ({ files: files.slice(1) }))],
    ['state another length of a text', page, changed(({ page: told }) => ({ page: { ...told, fullTextBytes: 1 } }))],
    ['state a negative length of a text', page, changed(({ page: told }) => ({ page: { ...told, searchBytes: -1 } }))],
    ['state invalid anchors', page, changed(({ page: told }) => ({ page: { ...told, anchors: [{}] } }))],
    [
      'add the picture of another page',
      page,
      changed(() => ({
        pictures: [{ path: `${picturesFolderOf('z')}/${'0'.repeat(32)}.png`, body: new Uint8Array() }],
      })),
    ],
    [
      'add an invalid picture',
      page,
      changed(() => ({ pictures: [{ path: `${picturesFolderOf('a')}/x.js`, body: new Uint8Array() }] })),
    ],
    ['make the file of a page', site, more('a.html')],
    ['make a file of the project', site, more('images/x.svg')],
    ['make a file twice', site, more('_bindery/site.js')],
    ['make a file outside of its folder', site, more('_bindery/../../x.js')],
    ['make a file outside of the bundle', site, more('/etc/passwd')],
    ['make the manifest', site, more('_bindery/manifest.json')],
    ['make the script of a page', site, more('_bindery/islands/0000000000000000.js')],
    ['make the style sheet of a page', site, more('_bindery/styles/0000000000000000.css')],
    ['make the card of a page', site, more('_bindery/cards/0000000000000000.png')],
    [
      'add the card of another page',
      page,
      changed(() => ({ pictures: [{ path: cardFile('z'), body: new Uint8Array() }] })),
    ],
    ['make a file of the closing segment', site, more('llms-full.txt')],
    ['isolate another file', isolated, () => ({ kind: 'files', files: [{ path: 'images/y.svg', body: bytes }] })],
    ['isolate a second file', isolated, more('images/y.svg')],
    ['isolate no file', isolated, () => ({ kind: 'files', files: [] })],
    ['describe another file', described, more('other.json')],
    [
      'return no file for a missing description',
      { ...described, source: undefined },
      () => ({ kind: 'files', files: [] }),
    ],
  ];
  it.each(lies)('may not %s', async (_what, request, lie) => {
    await expect(response(request, lie)).rejects.toThrow(/^it [a-z]/);
  });

  it.each([[[2]], [[-1]], [['0']], [undefined]])('may not lose the segments %j', async (lost) => {
    const pool = localChildren(() => ({ kind: 'closed', lost }));
    const run = pool.run(closing, { deadlineMs: 1, expects: expectedResponse(closing) });
    await expect(run).rejects.toThrow(/^it [a-z]/);
  });
});

describe('a child that renders the closing segment', () => {
  const part = (run: number) => ({ kind: 'part', run });
  const both = [part(0), part(1), part(1)];
  const begin = (path: string) => ({ kind: 'begin', path, size: 1 });
  const [piece, end] = [{ kind: 'bytes', bytes }, { kind: 'end' }];
  const parts = (count: number) => Array.from({ length: count }, (_, at) => begin(`_bindery/search/x${at}.js`));
  const text = { kind: 'text', segment: 0, of: 'search', begin: 0, end: 1 };

  /** Sends the questions one after the other, and returns those that the service answered. */
  async function asked(questions: readonly unknown[]): Promise<ClosingQuestion[]> {
    const heard: ClosingQuestion[] = [];
    let given = 0;
    const { answer } = closingAnswers(
      { segmentCount: 2, runCount: 2, pages: new Set(['blog']) },
      (run) => ({ claimed: ['_bindery/search/7.js'], textBytes: 100, isLast: run === 0 || (given += 1) > 1 }),
      (question) => Promise.resolve(heard.push(question)),
    );
    for (const question of questions) await answer(question);
    return heard;
  }

  it('may read all parts and write its files', async () => {
    const questions = [...both, text, begin('llms-full.txt'), piece, end, begin('blog/rss.xml'), piece, piece, end];
    expect(await asked(questions)).toEqual(questions);
  });

  it.each<[string, unknown[]]>([
    ['ask for null', [null]],
    ['ask for something else', [{ kind: 'file', path: '/etc/passwd' }]],
    ['ask for a part that does not exist', [part(2)]],
    ['ask for a part before the first', [part(-1)]],
    ['ask for a part again and again', [part(0), part(0)]],
    ['ask for the text of a segment that does not exist', [...both, { ...text, segment: 2 }]],
    ['ask for a text that ends before it begins', [...both, { ...text, begin: 2 }]],
    ['write before it has read', [part(0), begin('llms-full.txt')]],
    ['write before it has read all parts of a run', [part(0), part(1), begin('llms-full.txt')]],
    ['write without a file', [...both, piece]],
    ['end no file', [...both, end]],
    ['write two files at once', [...both, begin('llms-full.txt'), begin('blog/rss.xml')]],
    ['write a file twice', [...both, begin('llms-full.txt'), end, begin('llms-full.txt')]],
    ['write a file that another segment has', [...both, begin('_bindery/search/7.js')]],
    ['write the file of a page', [...both, begin('b.html')]],
    ['write the feed of a page that does not exist', [...both, begin('other/rss.xml')]],
    ['write the configuration', [...both, begin('_bindery/config.js')]],
    ['write a file outside of the bundle', [...both, begin('../../x')]],
    ['write a file of gigabytes', [...both, { kind: 'begin', path: 'llms-full.txt', size: 2 ** 31 }]],
    [
      'write a thousand files of megabytes',
      [...both, ...parts(1_100).flatMap(({ path }) => [{ kind: 'begin', path, size: 2 ** 20 }, end])],
    ],
    ['write tens of thousands of files', [...both, ...parts(20_002).flatMap((part) => [part, end])]],
    ['write a file of a negative size', [...both, { kind: 'begin', path: 'llms-full.txt', size: -1 }]],
  ])('may not %s', async (_what, questions) => {
    await expect(asked(questions)).rejects.toThrow(/^it [a-z]/);
  });
});
