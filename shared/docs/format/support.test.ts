import { describe, expect, test } from 'vitest';
import { closingFiles, testOptions, testProject } from '#shared/docs/render/test-project.ts';
import { renderSite } from '#shared/docs/render/site/render-site.ts';
import { componentSupport } from './components.ts';
import { frontmatterSupport } from './frontmatter.ts';
import { navigationSupport } from './navigation.ts';
import { settingSupport } from './settings.ts';
import type { SupportTable } from './support.ts';
import { componentExamples } from './test-components.ts';
import { frontmatterExamples, navigationExamples, settingExamples } from './test-examples.ts';

const operation = (summary: string) => ({
  summary,
  description: `${summary} them.`,
  tags: ['Users'],
  parameters: [
    {
      name: 'q',
      in: 'query',
      example: 'a',
      schema: { type: 'object', nullable: true, properties: { b: { type: 'string' } } },
    },
  ],
  responses: {
    200: { description: 'ok', content: { 'application/json': { schema: { $ref: '#/components/schemas/User' } } } },
  },
});
const specification = (summary: string) =>
  JSON.stringify({
    openapi: '3.0.1',
    info: { title: 'T', version: '1' },
    servers: [{ url: 'https://api.example.com' }],
    paths: { '/users': { get: operation(summary) } },
    components: {
      schemas: {
        User: { type: 'object', properties: { id: { type: 'object', properties: { a: { type: 'string' } } } } },
      },
    },
  });
const channels = (title: string) =>
  JSON.stringify({ asyncapi: '3.0.0', channels: { lights: { address: 'lights', title, description: title } } });
const content = 'Words with $x^2$, {{product}} and <Icon icon="bolt" />.\n\n## Head\n\n```js\na()\n```\n';
const docs = {
  name: 'Test',
  theme: 'mint',
  colors: { primary: '#0f766e' },
  navigation: { groups: [{ group: 'Start', pages: ['index', 'more', { group: 'Inner', pages: ['deep'] }] }] },
};
const baseFiles = {
  'more.mdx': '---\ntitle: More\nicon: bolt\nopenapi: GET /users\n---\n',
  'deep.mdx':
    '---\ntitle: Deep\napi: POST /x\nlastUpdatedDate: 2026-01-02\n---\n\n<ParamField body="a" type="string">Text.</ParamField>\n',
  'hidden.mdx': '---\ntitle: Hidden\nasyncapi: lights\n---\n',
  'api.json': specification('List'),
  'other.json': specification('Others'),
  'events.json': channels('Lights'),
  'events2.json': channels('More lights'),
  'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>',
  'dark.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"/>',
  'card.png': Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
  'own.woff2': Buffer.from('wOF2' + '\0'.repeat(60), 'latin1'),
  'snippets/own.mdx': 'Own words.',
  'snippets/other.mdx': 'Other words.',
};

/** Cache of outputs without a setting: most examples are compared with the same one, which is rendered once. */
const outputs = new Map<string, Promise<string>>();

/** The pages and files that readers get from a project, as one text. */
function rendered(config: object, index: string): Promise<string> {
  const key = JSON.stringify([config, index]);
  const output = outputs.get(key) ?? render(config, index);
  outputs.set(key, output);
  return output;
}

async function render(config: object, index: string): Promise<string> {
  const project = await testProject({
    ...baseFiles,
    'docs.json': JSON.stringify({ ...docs, ...config }),
    'index.mdx': index,
  });
  const options = { ...testOptions, deployment: 'cloud' as const };
  const exported = project.model.pages.filter(({ groups }) => groups.length === 0).map(({ path }) => path);
  const pages = exported.map((path) => project.render(path, options));
  const site = renderSite(project.model, options, exported);
  const files = pages.flatMap((each) => each.files);
  const closing = await closingFiles(
    project.model,
    pages.map(({ page }) => page),
    { domain: 'test', site, files },
  );
  const cards = pages.flatMap(({ card }) => (card ? [{ path: card.path, body: card.svg }] : []));
  return [
    ...files,
    ...cards,
    ...site,
    ...closing.filter(({ path }) => !/^_bindery\/(?:manifest|report)\.json$/.test(path)),
  ]
    .map(({ path, body }) => `${path}\n${Buffer.from(body).toString('latin1')}`)
    .sort()
    .concat(`synonyms ${JSON.stringify(project.model.synonyms)}`)
    .join('\n');
}

const indexPage = (frontmatter = '', body = content): string => `---\ntitle: Start\n${frontmatter}\n---\n\n${body}`;

const namesOf = (table: SupportTable, ...kinds: string[]): string[] =>
  Object.entries(table).flatMap(([name, { is }]) => (kinds.includes(is) ? [name] : []));

describe.each([
  ['settings', settingSupport, settingExamples],
  ['nodes of the navigation', navigationSupport, navigationExamples],
] as const)('%s', (_what, table, examples) => {
  test.each(namesOf(table, 'done', 'partly'))('%s changes the rendered output', async (name) => {
    const example = examples[name];
    expect(example, `add an example of ${name} to shared/docs/format/test-examples.ts`).toBeDefined();
    expect(await rendered(example?.on ?? {}, indexPage())).not.toBe(await rendered(example?.off ?? {}, indexPage()));
  });
  test('settings that are not done have no example', () => {
    expect(namesOf(table, 'not').filter((name) => name in examples)).toEqual([]);
  });
});

test('settings without effect are reported once, frontmatter keys with a count, and properties at their place', async () => {
  const { model, render } = await testProject({
    ...baseFiles,
    'docs.json': JSON.stringify({
      ...docs,
      styling: { codeblocks: 'dark' },
      seo: { trailingSlash: true },
      errors: { 404: { redirect: false } },
      navigation: { groups: [{ group: 'G', directory: 'card', pages: ['index', 'more'] }] },
    }),
    'index.mdx': indexPage('related: true\npublic: false', '<Tabs borderBottom>\n<Tab title="A">x</Tab>\n</Tabs>'),
    'more.mdx': '---\nrelated: true\n---\n',
  });
  const said = model.diagnostics.filter(({ code }) => code === 'setting-without-effect');
  expect(said.map(({ file, message }) => [file, message.replace(/(effect):.*$/, '$1')])).toEqual([
    ['docs.json', '"styling.codeblocks" has no effect'],
    ['docs.json', '"seo.trailingSlash" has no effect'],
    ['docs.json', '"navigation: group.directory" has no effect'],
    ['index.mdx', '"related" in the frontmatter of this page and 1 more has no effect'],
  ]);
  expect(render('index').page.diagnostics).toMatchObject([
    {
      code: 'property-without-effect',
      line: 7,
      message: expect.stringMatching(/^"borderBottom" of <Tabs>/) as string,
    },
  ]);
});

describe('frontmatter', () => {
  test.each(namesOf(frontmatterSupport, 'done', 'partly'))('%s changes the rendered output', async (name) => {
    const [on = '', off = ''] = frontmatterExamples[name] ?? [];
    expect(on, `add an example of ${name} to shared/docs/format/test-examples.ts`).not.toBe('');
    const page = (written: string) => (name === 'title' ? `---\n${written}\n---\n\nx` : indexPage(written));
    expect(await rendered({}, page(on))).not.toBe(await rendered({}, page(off)));
  });
});

describe('components', () => {
  test.each(namesOf(componentSupport, 'done', 'partly'))('%s changes the rendered output', async (name) => {
    const [on = '', off] = componentExamples[name] ?? [];
    expect(on, `add an example of ${name} to shared/docs/format/test-components.ts`).not.toBe('');
    expect(await rendered({}, indexPage('', on))).not.toBe(await rendered({}, indexPage('', off)));
  });
});
