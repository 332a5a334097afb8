import { describe, expect, test } from 'vitest';
import { pageKey } from '#shared/docs/render/segment-keys.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { testOptions, testProject } from '#shared/docs/render/test-project.ts';
import type { JsonObject } from '#shared/docs/project/json-values.ts';

const settings = { name: 'Test', theme: 'mint', colors: { primary: '#0f766e' } };
const docs = (navigation: unknown, more: object = {}) => JSON.stringify({ ...settings, navigation, ...more });

const operation = (summary: string, more: object = {}) => ({
  summary,
  responses: { 200: { description: 'Fine' } },
  ...more,
});
const pets: JsonObject = {
  openapi: '3.1.0',
  tags: [{ name: 'pets', 'x-displayName': 'Pets', 'x-group': 'Your pets' }],
  paths: {
    '/pets': {
      get: operation('List pets', { tags: ['pets'] }),
      post: operation('Add a pet', { tags: ['pets'], description: 'Adds one.', deprecated: true }),
    },
    '/secret': { get: operation('Secret', { 'x-excluded': true }) },
    '/quiet': { get: operation('Quiet', { 'x-hidden': true }) },
    '/ping': {
      get: operation('Ping', {
        'x-mint': { href: '/health/ping', content: 'Ask **often**.', metadata: { sidebarTitle: 'Ping it' } },
      }),
    },
  },
  webhooks: { petAdded: { post: operation('A pet was added', { tags: ['pets'] }) } },
};
const specification = JSON.stringify(pets);

describe('pages made from a specification', () => {
  test('are made for all operations and webhooks, in groups by their tags', async () => {
    const { model } = await testProject({
      'docs.json': docs({
        tabs: [
          { tab: 'Guide', pages: ['index'] },
          { tab: 'API', openapi: 'pets.json' },
        ],
      }),
      'index.mdx': 'Hello',
      'pets.json': specification,
    });
    expect(model.diagnostics).toEqual([]);
    expect(model.pages.map(({ path, title, hidden, inNavigation }) => [path, title, hidden, inNavigation])).toEqual([
      ['api-reference/pets/a-pet-was-added', 'A pet was added', false, true],
      ['api-reference/pets/add-a-pet', 'Add a pet', false, true],
      ['api-reference/pets/list-pets', 'List pets', false, true],
      ['api-reference/quiet', 'Quiet', false, false],
      ['health/ping', 'Ping', false, true],
      ['index', 'index', false, true].map((value, at) => (at === 1 ? 'Index' : value)),
    ]);
    const tab = model.navigation[1];
    expect(tab && 'children' in tab ? tab.children : []).toMatchObject([
      {
        kind: 'group',
        title: 'Your pets',
        children: [{ title: 'List pets' }, { title: 'Add a pet' }, { title: 'A pet was added' }],
      },
      { kind: 'page', title: 'Ping it' },
    ]);
    const added = model.pages.find(({ path }) => path.endsWith('add-a-pet'));
    expect(added).toMatchObject({ description: 'Adds one.', deprecated: true, file: 'pets.json' });
  });

  test('are made for a folder, in the directory that the node names', async () => {
    const { model } = await testProject({
      'docs.json': docs({ groups: [{ group: 'API', openapi: { source: '/apis', directory: 'ref' } }] }),
      'apis/a.yaml': 'openapi: 3.0.3\npaths:\n  /a:\n    get: { operationId: listAllOfA }\n',
      'apis/b.json': JSON.stringify({ swagger: '2.0', info: {}, paths: { '/b': { get: { summary: 'B' } } } }),
    });
    expect(model.pages.map(({ path, title }) => [path, title])).toEqual([
      ['ref/b', 'B'],
      ['ref/list-all-of-a', 'List all of a'],
    ]);
  });

  test('are made for entries, with the specification of the nearest node', async () => {
    const { model, render } = await testProject({
      'docs.json': docs(
        {
          groups: [
            {
              group: 'A',
              openapi: 'a.json',
              pages: [{ group: 'In', pages: ['GET /x'] }, 'b.json GET /x', 'GET /none'],
            },
            { group: 'Hooks', pages: ['pets.json webhook petAdded', 'GET /pets'] },
          ],
        },
        { api: { openapi: ['pets.json'] } },
      ),
      'a.json': JSON.stringify({ openapi: '3.0.0', paths: { '/x': { get: { summary: 'X of A' } } } }),
      'b.json': JSON.stringify({ openapi: '3.0.0', paths: { '/x/': { get: { summary: 'X of B' } } } }),
      'pets.json': specification,
    });
    expect(model.pages.map(({ title }) => title)).toEqual(['A pet was added', 'List pets', 'X of A', 'X of B']);
    expect(model.diagnostics).toMatchObject([{ code: 'openapi-operation-missing', file: 'docs.json' }]);
    const html = Buffer.from(render('api-reference/x-of-a').files[0]?.body ?? '').toString();
    expect(html).toContain('<span class="method method-get">GET</span><code tabindex="0">/x</code>');
  });

  test('yield to pages of the project', async () => {
    const { model, render } = await testProject({
      'docs.json': docs({ pages: ['pets.json GET /pets', 'own'] }),
      'api-reference/pets/list-pets.mdx': '---\ntitle: Mine\n---\n\nMy own words.',
      'own.mdx': '---\ntitle: Own\ndescription: Own words.\nopenapi: POST /pets\n---\n\nAbove.\n',
      'pets.json': specification,
    });
    expect(model.pages.map(({ title, description }) => [title, description])).toEqual([
      ['Mine', undefined],
      ['Own', 'Own words.'],
    ]);
    const markdown = Buffer.from(render('own').files[1]?.body ?? '').toString();
    expect(markdown).toContain('> Own words.\n\n`POST /pets`\n\nAbove.\n\n## Responses');
  });

  test('have content and frontmatter from the operation', async () => {
    const { render } = await testProject({ 'docs.json': docs({ pages: ['GET /ping'] }), 'pets.json': specification });
    const { files, page } = render('health/ping');
    expect(page.title).toBe('Ping');
    expect(Buffer.from(files[1]?.body ?? '').toString()).toContain(
      '# Ping\n\n`GET /ping`\n\nAsk **often**.\n\n## Responses',
    );
  });

  test('change only with their own part of the specification', async () => {
    const keys = async (change: (written: JsonObject) => void) => {
      const changed = JSON.parse(specification) as JsonObject;
      change(changed);
      const files = { 'docs.json': docs({ pages: ['GET /pets', 'GET /quiet'] }), 'pets.json': JSON.stringify(changed) };
      const { model } = await testProject(files);
      const index = indexSite(model);
      return model.pages.map(({ path }) => pageKey('r-1', index, path, testOptions));
    };
    const [list, quiet] = await keys(() => undefined);
    const [sameList, otherQuiet] = await keys(({ paths }) => {
      const { get } = (paths as Record<string, { get: JsonObject }>)['/quiet'] ?? {};
      if (get) get['description'] = 'Changed.';
    });
    expect(sameList).toBe(list);
    expect(otherQuiet).not.toBe(quiet);
  });

  test.each([
    ['openapi-not-read', 'broken.json', '{"openapi": "3.0.0", '],
    ['openapi-file-missing', 'none.json', ''],
    ['openapi-not-fetched', 'https://api.example.com/openapi.json', ''],
  ])('are left out with %s', async (code, name, text) => {
    const { model } = await testProject({
      'docs.json': docs({
        groups: [
          { group: 'A', openapi: name },
          { group: 'B', pages: ['index'] },
        ],
      }),
      'index.mdx': 'Hello',
      ...(text === '' ? {} : { [name]: text }),
    });
    expect(model.diagnostics.map((found) => found.code)).toEqual([code]);
    expect(model.diagnostics).toMatchObject([
      code === 'openapi-not-read' ? { file: name } : { file: 'docs.json', line: 1 },
    ]);
    expect(model.pages).toHaveLength(1);
  });
});

test('a description may have its version at the end, as in files with sorted keys', async () => {
  const components = { schemas: { Large: { type: 'string', description: 'x'.repeat(70_000) } } };
  const swagger = { definitions: components.schemas, paths: { '/s': { get: operation('S') } }, swagger: '2.0' };
  const yaml = `components:\n  schemas:\n    Large: { description: ${'y'.repeat(70_000)} }\npaths: { /y: { get: { summary: Y } } }\nopenapi: 3.1.0\n`;
  const { model } = await testProject({
    'docs.json': docs({ pages: ['GET /o', 'GET /s', 'GET /y'] }),
    'o.json': JSON.stringify({ components, paths: { '/o': { get: operation('O') } }, openapi: '3.0.0' }),
    's.json': JSON.stringify(swagger),
    'y.yaml': yaml,
    'none.json': JSON.stringify({ data: 'x'.repeat(70_000), openapi: '3.0.0' }),
  });
  expect(model.diagnostics).toEqual([]);
  expect(model.pages.map(({ title }) => title)).toEqual(['O', 'S', 'Y']);
  expect(model.specs.map(({ path }) => path)).toEqual(['o.json', 's.json', 'y.yaml']);
});

test('fields show the schema keys that the site wants', async () => {
  const schema = {
    type: 'object',
    properties: {
      a: { type: 'string', nullable: true, 'x-level': ['admin', 2], 'x-mint': { post: ['own'] } },
      b: { type: 'object', properties: { c: { type: 'string' }, d: { type: 'string' } } },
    },
  };
  const { render } = await testProject({
    'docs.json': docs({ pages: ['POST /a'] }, { api: { params: { post: ['nullable', 'x-level'], expanded: 'all' } } }),
    'a.json': JSON.stringify({
      openapi: '3.0.0',
      paths: {
        '/a': { post: operation('A', { requestBody: { content: { 'application/json': { schema } } } }) },
      },
    }),
  });
  const html = Buffer.from(render('api-reference/a').files[0]?.body ?? '').toString();
  expect([...html.matchAll(/field-post">([^<]*)</g)].map(([, label]) => label)).toEqual([
    'nullable',
    'admin',
    '2',
    'own',
  ]);
  expect(html).toMatch(/<details[^>]* open/);
});

test('schemas that all reach each other take only as much as each page can show', async () => {
  const schemas = Object.fromEntries(
    Array.from({ length: 200 }, (_, at) => {
      const field = (to: number) => ({ $ref: `#/components/schemas/S${(at * 7 + to) % 200}` });
      const properties = Object.fromEntries(Array.from({ length: 20 }, (_each, to) => [`p${to}`, field(to)]));
      return [`S${at}`, { type: 'object', description: `Words about ${at}. `.repeat(20), properties }];
    }),
  );
  const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/S0' } } } };
  const { model, render } = await testProject({
    'docs.json': docs({ pages: ['GET /a'] }),
    'a.json': JSON.stringify({
      openapi: '3.1.0',
      paths: { '/a': { get: operation('A', { responses: { 200: { description: 'Fine', ...body } } }) } },
      components: { schemas },
    }),
  });
  expect(model.diagnostics).toEqual([]);
  expect(model.operations?.[0]?.sizeBytes).toBeLessThan(80_000);
  const { anchors } = render('api-reference/a').page;
  for (let at = 0; at < 20; at += 1) expect(anchors).toContain(`response-200-p${at}`);
  expect(anchors).toContain('response-200-p1-p0');
});

test('shared parts are read for each operation at a low cost', async () => {
  const shared = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`x-${at}`, 1]));
  const paths = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, at) => [`/${at}`, { $ref: '#/components/pathItems/shared' }]),
  );
  const values = { $ref: '#/components/schemas/Values' };
  const parameters = [{ in: 'query', name: 'q', schema: values }];
  const calls = Object.fromEntries(
    Array.from({ length: 50 }, (_, at) => [`/call/${at}`, { get: operation(`Call ${at}`, { parameters }) }]),
  );
  const { model } = await testProject({
    'docs.json': docs({ openapi: 'a.json' }),
    'a.json': JSON.stringify({
      openapi: '3.1.0',
      paths: { ...paths, '/own': { $ref: '#/components/pathItems/own' }, ...calls },
      components: {
        pathItems: { shared, own: { get: operation('Own', { parameters }) } },
        schemas: { Values: { enum: Array.from({ length: 300_000 }, (_, at) => at) } },
      },
    }),
  });
  const codes = new Set(model.diagnostics.map(({ code }) => code));
  expect([...codes]).toEqual(['openapi-operation-too-large']);
  expect(model.pages).toHaveLength(51);
  expect(model.operations?.[0]?.sizeBytes).toBeLessThan(1_000_000);
});

test('a long title is cut between characters, in the address of its page too', async () => {
  const summary = `a${'\u{20000}'.repeat(500)}`;
  const { model } = await testProject({
    'docs.json': docs({ openapi: 'a.json' }),
    'a.json': JSON.stringify({ openapi: '3.1.0', paths: { '/a': { get: operation(summary) } } }),
  });
  expect(model.diagnostics).toEqual([]);
  expect(model.pages[0]?.path).toBe(`api-reference/a${'\u{20000}'.repeat(39)}`);
  expect(model.pages[0]?.title.length).toBeLessThanOrEqual(300);
});

test('a page takes two million characters at most, however often an alias repeats a text, a key or the words of a server', async () => {
  const { model, render } = await testProject({
    'docs.json': docs({ openapi: 'a.yaml' }),
    'a.yaml': `openapi: 3.1.0
x-long: &long ${'x'.repeat(100_000)}
x-key: &key { ${'k'.repeat(100_000)}: 1 }
servers: [${"{ url: 'https://a.example', description: *long }, ".repeat(30)}]
paths:
  /a:
    get:
      summary: A
      parameters: [${'{ in: query, name: q, description: *long, schema: { enum: [*long], default: *key } }, '.repeat(60)}]
`,
  });
  expect(model.diagnostics.map(({ code }) => code)).toEqual(['openapi-operation-too-large']);
  expect(model.operations?.[0]?.sizeBytes).toBeLessThan(2_100_000);
  expect(render('api-reference/a').page.title).toBe('A');
});

describe('references of path items', () => {
  const titles = async (paths: JsonObject, more: JsonObject = {}) => {
    const { model } = await testProject({
      'docs.json': docs({ openapi: 'a.json' }),
      'a.json': JSON.stringify({ openapi: '3.1.0', paths, ...more }),
    });
    return {
      titles: model.pages.map(({ title }) => title),
      messages: model.diagnostics.map(({ code, message }) => `${code}: ${message}`),
    };
  };

  test('are followed through one another, and end at a cycle', async () => {
    const pathItems = {
      one: { $ref: '#/components/pathItems/a%20two' },
      'a two': { $ref: '#/components/pathItems/th%7E1ree', get: operation('Get it') },
      'th/ree': {
        $ref: '#/components/pathItems/one',
        get: operation('Hidden by the nearer one'),
        put: operation('Put it'),
      },
    };
    expect(await titles({ '/a': { $ref: '#/components/pathItems/one' } }, { components: { pathItems } })).toEqual({
      titles: ['Get it', 'Put it'],
      messages: [],
    });
  });

  test('to other files and without a target are reported', async () => {
    const paths = {
      '/a': { get: operation('A') },
      '/b': { $ref: './paths/b.yaml' },
      '/c': { $ref: '#/components/pathItems/c' },
      '/d': { $ref: 'file:///etc/passwd' },
    };
    const { titles: made, messages } = await titles(paths);
    expect(made).toEqual(['A']);
    expect(messages).toHaveLength(3);
    for (const [at, path] of ['/b', '/c', '/d'].entries())
      expect(messages[at]).toMatch(new RegExp(`^openapi-reference-missing: "${path}" refers to .* has no page`));
  });
});

const minimal = (...entries: [path: string, method: string, summary: string, more?: object][]): string =>
  JSON.stringify({
    openapi: '3.0.1',
    info: { title: 'T', version: '1' },
    paths: Object.fromEntries(
      entries.map(([path, method, summary, more]) => [path, { [method]: operation(summary, more) }]),
    ),
  });
const page = (openapi: string) => `---\nopenapi: ${JSON.stringify(openapi)}\n---\n`;

describe('an API description beside entries', () => {
  const api = minimal(
    ['/things', 'get', 'List things', { tags: ['Things'] }],
    ['/users', 'get', 'List users', { tags: ['Users'] }],
  );
  const tab = (groups: unknown, more: object = {}) => ({
    tabs: [{ tab: 'API', groups, openapi: { source: '/api/openapi.json', directory: 'api' }, ...more }],
  });

  test('is followed by pages of its operations, by tag, if the entries name none of them', async () => {
    const { model } = await testProject({
      'docs.json': docs(tab([{ group: 'First steps', pages: ['api/introduction', 'GET /other'] }])),
      'api/introduction.mdx': 'Words.',
      'api/openapi.json': api,
      'other.json': minimal(['/other', 'get', 'Other']),
    });
    expect(model.diagnostics).toEqual([]);
    const node = model.navigation[0];
    expect(node && 'children' in node ? node.children : []).toMatchObject([
      { kind: 'group', title: 'First steps', children: [{ path: 'api/introduction' }, { path: 'api/other' }] },
      { kind: 'group', title: 'Things', children: [{ path: 'api/things/list-things' }] },
      { kind: 'group', title: 'Users', children: [{ path: 'api/users/list-users' }] },
    ]);
    expect(model.pages.find(({ path }) => path === 'api/users/list-users')?.inNavigation).toBe(true);
  });

  test.each([
    ['an entry', ['GET /things'], {}],
    ['a page', ['list'], { 'list.mdx': page('GET /things') }],
    ['an entry further down', [{ group: 'Inner', pages: ['GET /things'] }], {}],
  ])('has only the operations that %s names', async (_what, pages, files) => {
    const { model } = await testProject({
      'docs.json': docs(tab([{ group: 'First steps', pages }])),
      'api/openapi.json': api,
      ...files,
    });
    expect(model.pages).toHaveLength(1);
  });

  test('of AsyncAPI has pages of its channels', async () => {
    const channels = { asyncapi: '3.0.0', channels: { lights: { address: 'lights' } }, operations: {} };
    const { model } = await testProject({
      'docs.json': docs({ groups: [{ group: 'Events', pages: ['index'], asyncapi: 'events.json' }] }),
      'index.mdx': 'Words.',
      'events.json': JSON.stringify(channels),
    });
    expect(model.pages.map(({ path }) => path)).toEqual(['api-reference/lights', 'index']);
  });
});

describe('a page finds its operation', () => {
  const files = {
    'api/thing.json': minimal(['/v2/things', 'post', 'Create']),
    'platform.json': minimal(['/v1/networks/', 'post', 'Make']),
    'api/openapi.json': minimal(['/things', 'get', 'List']),
  };
  const settingsOfApi = { api: { openapi: ['api/openapi.json'] } };
  test.each([
    ['by a path from its folder', '../thing.json post /v2/things', 'Create'],
    ['by a path from the root', 'api/thing.json post /v2/things', 'Create'],
    ['by the name of the file', 'thing.json POST /v2/things', 'Create'],
    ['by that name without its ending', 'thing POST /v2/things', 'Create'],
    ['in a description that nothing names', 'post /v1/networks/', 'Make'],
  ])('%s', async (_how, openapi, title) => {
    const { model } = await testProject({
      'docs.json': docs({ pages: ['api/endpoints/own'] }, settingsOfApi),
      'api/endpoints/own.mdx': page(openapi),
      ...files,
    });
    expect(model.diagnostics).toEqual([]);
    expect(model.pages).toMatchObject([{ path: 'api/endpoints/own', title }]);
  });

  test('in the description that its place in the navigation names, with precedence', async () => {
    const { model } = await testProject({
      'docs.json': docs({
        versions: ['v1', 'v2'].map((version) => ({ version, openapi: `${version}.json`, pages: [`${version}/own`] })),
      }),
      'v1/own.mdx': page('GET /a'),
      'v2/own.mdx': page('GET /a'),
      'v1.json': minimal(['/a', 'get', 'First']),
      'v2.json': minimal(['/a', 'get', 'Second']),
    });
    expect(model.pages.map(({ title }) => title)).toEqual(['First', 'Second']);
  });

  test('not by a name that two files have, and a warning names them', async () => {
    const { model } = await testProject({
      'docs.json': docs({ pages: ['own'] }),
      'own.mdx': page('thing GET /a'),
      'a/thing.json': minimal(['/a', 'get', 'A']),
      'b/thing.yaml': minimal(['/a', 'get', 'A']),
    });
    expect(model.diagnostics).toMatchObject([
      { code: 'openapi-file-missing', message: expect.stringContaining('"a/thing.json", "b/thing.yaml"') as string },
      { code: 'openapi-operation-missing' },
    ]);
  });

  test('schemas and channels are found in the same way', async () => {
    const { model } = await testProject({
      'docs.json': docs({ pages: ['api/schema', 'api/channel'] }, settingsOfApi),
      'api/schema.mdx': '---\nopenapi-schema: "things Pet"\n---\n',
      'api/channel.mdx': '---\nasyncapi: "../events.json lights"\n---\n',
      'api/openapi.json': files['api/openapi.json'],
      'specs/things.json': JSON.stringify({
        openapi: '3.1.0',
        paths: {},
        components: { schemas: { Pet: { type: 'object', title: 'A pet' } } },
      }),
      'events.json': JSON.stringify({
        asyncapi: '3.0.0',
        channels: { lights: { address: 'lights', title: 'Lights' } },
      }),
    });
    expect(model.diagnostics).toEqual([]);
    expect(model.pages.map(({ title }) => title)).toEqual(['Lights', 'A pet']);
    expect(model.pages.every(({ reference }) => reference !== undefined)).toBe(true);
  });
});
