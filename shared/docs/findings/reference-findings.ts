import type { FindingTexts } from './finding-text.ts';

const users = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Users', version: '1' },
  paths: { '/users': { get: { summary: 'List users', responses: { 200: { description: 'ok' } } } } },
});
const lights = JSON.stringify({ asyncapi: '3.0.0', channels: { lights: { address: 'lights' } } });

/** Findings about OpenAPI and AsyncAPI descriptions, and the pages that name them. */
export const referenceFindings = {
  'api-pages-not-rendered': {
    severity: 'warning',
    says: 'a part of the navigation wants pages from a description that cannot have pages.',
    repair: 'Write pages for this part.',
  },
  'bad-openapi-entry': {
    severity: 'warning',
    says: '`openapi` of a page is not written as a method and a path.',
    repair: 'Write `GET /path`, or `file.json GET /path`.',
    example: {
      file: 'list.mdx',
      before: '---\ntitle: List\nopenapi: /users\n---',
      after: '---\ntitle: List\nopenapi: GET /users\n---',
    },
    others: { 'openapi.json': users },
  },
  'openapi-operation-missing': {
    severity: 'warning',
    says: 'no API description of the project has the operation that a page or the navigation names.',
    repair: 'Correct method or path, or add the description.',
    example: {
      file: 'list.mdx',
      before: '---\ntitle: List\nopenapi: GET /user\n---',
      after: '---\ntitle: List\nopenapi: GET /users\n---',
    },
    others: { 'openapi.json': users },
  },
  'openapi-schema-missing': {
    severity: 'warning',
    says: 'no API description of the project has the schema that a page names.',
    repair: 'Correct the name of the schema, or add the description.',
    example: {
      file: 'user.mdx',
      before: '---\ntitle: User\nopenapi-schema: User\n---',
      after: '---\ntitle: User\n---',
    },
    others: { 'openapi.json': users },
  },
  'asyncapi-channel-missing': {
    severity: 'warning',
    says: 'no AsyncAPI description of the project has the channel that a page names.',
    repair: 'Correct the name of the channel, or add the description.',
    example: {
      file: 'lights.mdx',
      before: '---\ntitle: Lights\nasyncapi: light\n---',
      after: '---\ntitle: Lights\nasyncapi: lights\n---',
    },
    others: { 'events.json': lights },
  },
  'openapi-file-missing': {
    severity: 'warning',
    says: 'the configuration or a page names an API description that the project does not have, or a name that several have.',
    repair: 'Add the file, or correct its path.',
    example: {
      file: 'list.mdx',
      before: '---\ntitle: List\nopenapi: none.json GET /users\n---',
      after: '---\ntitle: List\nopenapi: openapi.json GET /users\n---',
    },
    others: { 'openapi.json': users },
  },
  'openapi-not-read': {
    severity: 'warning',
    says: 'an API description cannot be read, so its pages are missing. The message has the reason.',
    repair: 'Correct the file.',
    example: {
      file: 'openapi.json',
      before: '{ "openapi": "3.1.0", "paths": {',
      after: users,
    },
    others: {
      'list.mdx': '---\ntitle: List\nopenapi: openapi.json GET /users\n---',
    },
  },
  'openapi-reference-missing': {
    severity: 'warning',
    says: 'a `$ref` of an API description leads out of its file or to nothing.',
    repair: 'Bundle the description into one file, and correct the reference.',
  },
  'openapi-too-large': {
    severity: 'warning',
    says: 'API descriptions are too large together, and the last ones are left out.',
    repair: 'Publish fewer descriptions.',
  },
  'openapi-operation-too-large': {
    severity: 'warning',
    says: 'the schemas of an operation are too large, and their deepest parts are not shown.',
    repair: 'Use smaller schemas, or describe free-form objects as such.',
  },
  'openapi-not-fetched': {
    severity: 'warning',
    says: 'the project names an API description by its address, and there is no copy of it. Servers do not fetch descriptions.',
    repair:
      'Publish with `bindery publish`, which fetches it, or add the file to the project. `bindery check` and `bindery dev` fetch it, too, unless `--no-remote` is set.',
    example: {
      file: 'list.mdx',
      before: '---\ntitle: List\nopenapi: https://example.com/openapi.json GET /users\n---',
      after: '---\ntitle: List\nopenapi: openapi.json GET /users\n---',
    },
    others: { 'openapi.json': users },
  },
  'example-not-made': {
    severity: 'warning',
    says: 'no example could be made for a value of an operation.',
    repair: 'Write an example in the description, or check whether the schema allows any value.',
  },
} satisfies FindingTexts;
