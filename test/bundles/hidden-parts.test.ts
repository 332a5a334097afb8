import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { memoryProject } from '../support/memory-project.ts';
import { newFolder } from '../support/new-folder.ts';
import { publishedProject, type PublishedProject } from '../support/published-project.ts';
import { unpackedSite } from '../support/unpacked-site.ts';

/*
 * Parts of an operation that its author hides (`x-hidden`, `x-excluded`) are in no file of a bundle: pages, Markdown, samples, playground, search, llms-full and
 * the API descriptions themselves. Everything hidden here has "hushed" in its name or text, and everything shown has "plain".
 */

const hidden = { 'x-hidden': true, description: 'hushed' };
const excluded = { 'x-excluded': true, description: 'hushed' };
const text = { type: 'string' };
const json = (schema: object) => ({ content: { 'application/json': { schema } } });

const api = {
  openapi: '3.1.0',
  info: { title: 'Users', version: '1' },
  servers: [{ url: 'https://plain.example' }, { url: 'https://hushed.example', 'x-hidden': true }],
  paths: {
    '/users': {
      parameters: [{ name: 'hushedOfPath', in: 'query', schema: text, ...hidden }],
      post: {
        summary: 'Make a user',
        parameters: [
          { name: 'plainQuery', in: 'query', schema: text, description: 'plain' },
          { name: 'hushedQuery', in: 'query', required: true, schema: text, example: 'hushed', ...hidden },
          { name: 'X-Hushed', in: 'header', required: true, schema: text, ...excluded },
          { $ref: '#/components/parameters/HushedCookie' },
          { $ref: '#/components/parameters/PlainCookie' },
        ],
        requestBody: {
          content: {
            'application/json': { schema: { $ref: '#/components/schemas/NewUser' } },
            'application/hushed+json': { schema: text, 'x-hidden': true },
            'multipart/form-data': {
              schema: { type: 'object', properties: { plainFile: text, hushedFile: { ...text, ...excluded } } },
              encoding: { plainFile: { contentType: 'text/plain' }, hushedFile: { contentType: 'text/hushed' } },
            },
          },
        },
        responses: {
          201: {
            description: 'plain',
            headers: { 'X-Plain': { schema: text }, 'X-Hushed': { schema: text, ...hidden } },
            ...json({ $ref: '#/components/schemas/User' }),
          },
          418: { ...json({ $ref: '#/components/schemas/HushedPart' }), ...hidden },
          409: { $ref: '#/components/responses/Hushed' },
        },
      },
      put: {
        summary: 'Replace a user',
        requestBody: { ...json({ $ref: '#/components/schemas/HushedPart' }), ...hidden },
        responses: { 200: { description: 'plain', ...json({ $ref: '#/components/schemas/User' }) } },
      },
    },
  },
  components: {
    parameters: {
      HushedCookie: { name: 'hushedCookie', in: 'cookie', required: true, schema: text, ...hidden },
      PlainCookie: { name: 'plainCookie', in: 'cookie', schema: text },
    },
    responses: { Hushed: { ...json({ $ref: '#/components/schemas/HushedPart' }), ...excluded } },
    schemas: {
      NewUser: {
        type: 'object',
        required: ['plainName', 'hushedName'],
        properties: {
          plainName: text,
          hushedName: { ...text, ...hidden },
          hushedPart: { $ref: '#/components/schemas/HushedPart', 'x-hidden': true },
          'x-hidden': { ...text, description: 'plain' },
        },
      },
      User: {
        allOf: [
          { $ref: '#/components/schemas/NewUser' },
          { type: 'object', properties: { plainId: text }, required: ['plainId', 'hushedName'] },
          { type: 'object', properties: { hushedId: text }, 'x-hidden': true },
        ],
      },
      HushedPart: { type: 'object', properties: { hushedInner: text } },
    },
  },
};

const swagger = `swagger: '2.0'
info: { title: Old, version: '1' }
host: plain.example
paths:
  /old:
    post:
      summary: Make something old
      parameters:
        - { name: plainOld, in: query, type: string }
        - { name: hushedOld, in: query, type: string, x-hidden: true }
        - { name: hushedBody, in: body, x-hidden: true, schema: { type: object, properties: { hushed: { type: string } } } }
      responses: { '200': { description: plain, headers: { X-Hushed: { type: string, x-hidden: true } } } }
`;

const channels = {
  asyncapi: '3.0.0',
  info: { title: 'Events', version: '1' },
  channels: {
    events: {
      address: 'plain.events',
      messages: {
        event: {
          headers: {
            type: 'object',
            properties: { plainHeader: text, hushedHeader: { ...text, ...hidden } },
          },
          payload: {
            type: 'object',
            required: ['hushedField'],
            properties: { plainField: text, hushedField: { ...text, ...excluded } },
          },
        },
      },
    },
  },
  operations: { onEvent: { action: 'receive', channel: { $ref: '#/channels/events' } } },
};

const project = memoryProject({
  'docs.json': JSON.stringify({
    name: 'Acme',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    navigation: {
      groups: [
        { group: 'API', openapi: 'api.json' },
        { group: 'Old', openapi: 'old.yaml' },
        { group: 'Events', asyncapi: 'events.json' },
        { group: 'Schemas', pages: ['new-user'] },
      ],
    },
  }),
  'new-user.mdx': '---\ntitle: New user\nopenapi-schema: NewUser\n---\n',
  'api.json': JSON.stringify(api),
  'old.yaml': swagger,
  'events.json': JSON.stringify(channels),
});

let published: PublishedProject;
const bundle = new Map<string, string>();
beforeAll(async () => {
  published = await publishedProject(project);
  const folder = newFolder();
  await unpackedSite(published, folder);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) bundle.set(path.slice(folder.length + 1), readFileSync(path).toString());
  }
});

test('no file of a bundle has a hidden part of an API description', () => {
  const found = [...bundle].flatMap(([path, text]) => {
    const at = text.search(/hushed/i);
    return at < 0 ? [] : [`${path}: ${text.slice(Math.max(0, at - 60), at + 60)}`];
  });
  expect(found).toEqual([]);
  expect(published.model.diagnostics).toEqual([]);
});

test('the parts from which pages and the search of a platform are made have none either', async () => {
  const parts = await Promise.all((published.model.operations ?? []).map(published.read));
  expect(parts).toHaveLength(5);
  for (const part of parts) expect(Buffer.from(part).toString()).not.toMatch(/hushed/i);
});

test('everything else is shown, and in the files', () => {
  const pages = [...bundle].flatMap(([path, text]) => (path.endsWith('.md') ? [text] : [])).join('\n');
  const shown = 'plainQuery plainCookie plainName plainFile plainId X-Plain plainOld plainHeader plainField'.split(' ');
  expect(shown.filter((name) => !pages.includes(name))).toEqual([]);
  const files = ['api.json', 'old.yaml', 'events.json'].map((path) => bundle.get(path)).join('\n');
  expect(shown.filter((name) => !files.includes(name))).toEqual([]);
  const { components } = JSON.parse(bundle.get('api.json') ?? '') as typeof api;
  expect(Object.keys(components.schemas)).toEqual(['NewUser', 'User']);
  expect(components.schemas.NewUser).toMatchObject({ required: ['plainName'], properties: { 'x-hidden': text } });
});
