import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#shared/docs/project/json-values.ts';
import { openSlice } from './open-slice.ts';
import { operationForm } from './operation-form.ts';

/** The form of an operation in a document with the other parts. */
function formOf(operation: JsonObject, rest: JsonObject = {}, path = '/things', method = 'post') {
  const slice = openSlice(JSON.stringify({ openapi: '3.1.0', ...rest, paths: { [path]: { [method]: operation } } }));
  return slice?.operation && operationForm(slice, slice.operation);
}

const content = (mimeType: string, media: JsonObject): JsonObject => ({
  requestBody: { content: { [mimeType]: media } },
});

describe('fields', () => {
  test('have the properties of a parameter that a request needs', () => {
    const form = formOf({
      parameters: [
        {
          name: 'ids',
          in: 'query',
          style: 'pipeDelimited',
          explode: false,
          schema: { type: 'array', items: { enum: ['a', 'b'] } },
        },
        { name: 'filter', in: 'query', style: 'deepObject', schema: { type: 'object', example: { a: 1 } } },
        { name: 'where', in: 'query', content: { 'application/json': { schema: { type: 'string' }, example: 'x' } } },
        { name: 'X-On', in: 'header', deprecated: true, schema: { type: 'boolean', default: false } },
        { name: 'Accept', in: 'header', schema: { type: 'string' } },
        { name: 'raw', in: 'query', allowReserved: true, required: true, schema: { type: ['string', 'null'] } },
      ],
    });
    expect(form?.fields).toEqual([
      {
        in: 'query',
        name: 'ids',
        kind: 'list',
        type: 'enum<string>[]',
        values: ['a', 'b'],
        style: 'pipeDelimited',
        explode: false,
      },
      { in: 'query', name: 'filter', kind: 'object', type: 'object', example: '{"a":1}', style: 'deepObject' },
      { in: 'query', name: 'where', kind: 'object', type: 'string', example: 'x', json: true },
      { in: 'header', name: 'X-On', kind: 'boolean', type: 'boolean', deprecated: true, fallback: 'false' },
      { in: 'query', name: 'raw', kind: 'text', type: 'string | null', required: true, reserved: true },
    ]);
  });

  test('exist for names in a path that have no parameter', () => {
    expect(formOf({}, {}, '/a/{b}/{c}')?.fields.map(({ in: place, name }) => `${place} ${name}`)).toEqual([
      'path b',
      'path c',
    ]);
  });
});

describe('bodies', () => {
  test('may have fields with names that every object inherits', () => {
    const properties = { constructor: { type: 'string' }, toString: { type: 'integer' } };
    const form = formOf(content('multipart/form-data', { schema: { type: 'object', properties } }));
    expect(form?.bodies[0]?.fields).toEqual([
      { in: 'form', name: 'constructor', kind: 'text', type: 'string' },
      { in: 'form', name: 'toString', kind: 'text', type: 'integer' },
    ]);
  });

  test('begin with an example, without read-only fields', () => {
    const schema = {
      type: 'object',
      properties: { id: { type: 'string', readOnly: true }, name: { type: 'string', example: 'Mia' } },
    };
    const form = formOf(content('application/json', { schema }));
    expect(form?.bodies).toEqual([{ mimeType: 'application/json', text: '{\n  "name": "Mia"\n}' }]);
  });

  test('are forms with files', () => {
    const properties = {
      file: { type: 'string', format: 'binary' },
      more: { type: 'array', items: { type: 'string', format: 'binary' } },
      facts: { type: 'object' },
    };
    const encoding = { facts: { contentType: 'application/xml, text/xml' } };
    const [body] =
      formOf(content('multipart/form-data', { schema: { type: 'object', properties }, encoding }))?.bodies ?? [];
    expect(body?.fields?.map(({ name, kind, mimeType }) => [name, kind, mimeType])).toEqual([
      ['file', 'file', undefined],
      ['more', 'files', undefined],
      ['facts', 'object', 'application/xml'],
    ]);
  });

  test('are files, or texts of other kinds', () => {
    const binary = { schema: { type: 'string', format: 'binary' } };
    expect(formOf(content('image/png', binary))?.bodies).toEqual([{ mimeType: 'image/png', file: true }]);
    expect(formOf(content('*/*', binary))?.bodies).toEqual([{ mimeType: 'application/octet-stream', file: true }]);
    const xml = { schema: { type: 'object' }, example: '<a/>' };
    expect(formOf(content('application/xml', xml))?.bodies).toEqual([{ mimeType: 'application/xml', text: '<a/>' }]);
  });
});

test('servers have http addresses or relative ones, with their variables', () => {
  const servers = [
    {
      url: 'https://{region}.example.com',
      description: 'One',
      variables: { region: { default: 'eu', enum: ['eu', 'us'] }, other: { default: 'x' } },
    },
    { url: '/v1' },
    { url: 'javascript:alert(1)' },
    { url: 'data:text/html,x' },
    { url: 'file:///etc' },
  ];
  expect(formOf({}, { servers })?.servers).toEqual([
    {
      url: 'https://{region}.example.com',
      description: 'One',
      variables: { region: { value: 'eu', values: ['eu', 'us'] } },
    },
    { url: '/v1' },
  ]);
});

test('credentials are tokens, names with passwords, or keys, in alternative sets', () => {
  const securitySchemes = {
    oauth: { type: 'oauth2', flows: {} },
    basic: { type: 'http', scheme: 'Basic' },
    key: { type: 'apiKey', in: 'query', name: 'api_key' },
    own: { type: 'http', scheme: 'Token' },
  };
  const security = [{ oauth: [] }, { basic: [], key: [] }, {}, { own: [] }];
  expect(formOf({ security }, { components: { securitySchemes } })?.auth).toEqual([
    [{ kind: 'token', title: 'oauth', in: 'header', name: 'Authorization', scheme: 'Bearer' }],
    [
      { kind: 'basic', title: 'basic', in: 'header', name: 'Authorization' },
      { kind: 'key', title: 'key', in: 'query', name: 'api_key' },
    ],
    [],
    [{ kind: 'token', title: 'own', in: 'header', name: 'Authorization', scheme: 'Token' }],
  ]);
});

test('a large description has a small form', () => {
  const many = <T>(make: (at: number) => T): T[] => Array.from({ length: 120 }, (_, at) => make(at));
  const named = <T>(value: T) => Object.fromEntries(many((at) => [`n${at}`, value]));
  const [long, fits] = ['x'.repeat(10_000), 'x'.repeat(190)];
  const values = Array.from({ length: 50 }, (_, at) => `${at}${fits}`);
  const form = formOf(
    {
      parameters: many((at) => ({
        name: `p${at}`,
        in: 'query',
        example: fits,
        schema: { enum: values, default: long },
      })),
      requestBody: {
        content: {
          'application/json': { example: many(() => long) },
          'multipart/form-data': {
            schema: { type: 'object', properties: { ...named({ enum: values, default: long }), [long]: {} } },
          },
          [long]: {},
        },
      },
      security: [named([])],
    },
    {
      servers: many((at) => ({
        url: `https://${at}.example.com/{n1}`,
        description: long,
        variables: { n1: { default: long, enum: values } },
      })),
      components: { securitySchemes: named({ type: 'apiKey', name: long, in: 'header' }) },
    },
  );
  expect(JSON.stringify(form).length).toBeLessThan(40_000);
  expect(form?.fields).toHaveLength(30);
});

test('a webhook has no form', () => {
  const slice = openSlice(JSON.stringify({ openapi: '3.1.0', webhooks: { added: { post: {} } } }));
  expect(slice?.operation && operationForm(slice, slice.operation)).toBeUndefined();
});
