import { describe, expect, test } from 'vitest';
import { parseSpecification } from './parse-specification.ts';

const parse = (text: string, file = 'a.yaml') => parseSpecification(Buffer.from(text), file);

describe('specifications', () => {
  test('are read from JSON and YAML', () => {
    const made = { openapi: '3.1.0', paths: { '/x': {} } };
    expect(parse(JSON.stringify(made), 'a.json')).toEqual(made);
    expect(parse('openapi: 3.1.0\npaths:\n  /x: {}\n')).toEqual(made);
  });

  test('of AsyncAPI are read too', () => {
    for (const asyncapi of ['2.6.0', '3.0.0']) expect(parse(`asyncapi: ${asyncapi}`)).toEqual({ asyncapi });
    expect(() => parse('asyncapi: 1.2.0')).toThrow('does not say');
  });

  test('of Swagger 2 become OpenAPI 3', () => {
    const swagger = `swagger: "2.0"
info: { title: T, version: "1" }
host: api.example.com
basePath: /v1
schemes: [https]
paths:
  /pets:
    post:
      consumes: [application/json]
      parameters:
        - { in: body, name: pet, required: true, schema: { $ref: "#/definitions/Pet" } }
      responses: { 201: { description: Made, schema: { $ref: "#/definitions/Pet" } } }
definitions:
  Pet: { type: object, required: [name], properties: { name: { type: string } } }
`;
    expect(parse(swagger)).toMatchObject({
      servers: [{ url: 'https://api.example.com/v1' }],
      paths: { '/pets': { post: { requestBody: { required: true } } } },
      components: { schemas: { Pet: { required: ['name'] } } },
    });
  });

  test('may have a number as their version', () => {
    expect(JSON.stringify(parse('openapi: 3.0\n'))).toBe('{"openapi":3.0}');
    expect(() => parse('openapi: 30.0')).toThrow('does not say');
    const swagger = 'swagger: 2.0\nhost: api.example.com\nbasePath: /v1\npaths: {}\n';
    expect(parse(swagger)).toMatchObject({ servers: [{ url: 'http://api.example.com/v1' }] });
  });

  test('of Swagger 2 may have empty parts, and keep null as a value', () => {
    const swagger = `swagger: "2.0"
paths:
  /nothing:
  /pets:
    parameters: [null]
    get:
    post:
      parameters:
        -
        - { in: query, name: kind, type: string, enum: [null, cat] }
      responses:
        204:
        200: { description: Made }
definitions: { Nothing: null, Pet: { type: string, example: null } }
securityDefinitions: { none: }
`;
    const { paths, components } = parse(swagger) as Record<string, Record<string, unknown>>;
    expect(paths).toMatchObject({
      '/pets': {
        post: {
          parameters: [{ name: 'kind', schema: { enum: [null, 'cat'] } }],
          responses: { 200: { description: 'Made' } },
        },
      },
    });
    expect(components?.['schemas']).toEqual({ Pet: { type: 'string', example: null } });
  });

  test('keep keys that reach prototypes as keys, and share no objects', () => {
    const names = '{"__proto__":{"a":1},"constructor":1,"prototype":2}';
    const openapi = parse(`{"openapi":"3.1.0","x":${names}}`, 'a.json')['x'];
    const schema = `{"type":"object","properties":${names}}`;
    const swagger = parse(`{"swagger":"2.0","info":{},"paths":{},"definitions":{"D":${schema}}}`, 'a.json');
    const schemas = (swagger['components'] as { schemas: { D: { properties: unknown } } }).schemas;
    for (const read of [openapi, schemas.D.properties]) {
      expect(JSON.stringify(read)).toBe(names);
      expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    }
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
    const { x, y } = parse('openapi: 3.1.0\nx: &a { b: 1 }\ny: *a\n');
    expect(x).toEqual(y);
    expect(x).not.toBe(y);
  });

  test("in YAML may merge keys, within the parser's bound", () => {
    const { b } = parse('openapi: 3.1.0\na: &a { c: 1, __proto__: { d: 2 } }\nb: { <<: *a, c: 3 }\n');
    expect(JSON.stringify(b)).toBe('{"c":3,"__proto__":{"d":2}}');
    const many = Array.from({ length: 2_000 }, (_, at) => `k${at}: 1`).join(', ');
    const merges = Array.from({ length: 100 }, (_, at) => `b${at}: { <<: *a }`).join('\n');
    expect(() => parse(`openapi: 3.1.0\na: &a { ${many} }\n${merges}\n`)).toThrow('merge keys exceeded');
  });

  test('in YAML may end a list in brackets with less indentation than its start, as other parsers allow', () => {
    const list = (name: string) => `    ${name}:\n      enum: [\n        a,\n        { b: 1 },\n    ]\n`;
    const { x } = parse(`openapi: 3.1.0\nx:\n  y:\n${list('one')}${list('two')}    z: |\n      ]\n`);
    expect(x).toEqual({ y: { one: { enum: ['a', { b: 1 }] }, two: { enum: ['a', { b: 1 }] }, z: ']\n' } });
    expect(() => parse('openapi: 3.1.0\nx:\n  y: [\n    a,\nb ]\n')).toThrow(/deficient indentation \(line 5\)/);
    expect(() =>
      parse(`openapi: 3.1.0\nx:\n  y:\n${Array.from({ length: 30 }, (_, n) => list(`n${n}`)).join('')}`),
    ).toThrow(/deficient indentation \(line \d+\)/);
  });

  const bomb = ['a: &a [1,1,1,1,1,1,1,1,1,1]'];
  for (let level = 1; level < 9; level += 1) {
    const before = String.fromCharCode(96 + level);
    const name = String.fromCharCode(97 + level);
    bomb.push(`${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(',')}]`);
  }

  test.each([
    ['says its version', 'does not say', 'a: 1'],
    ['is an object', 'is not an object', '- 1'],
    ['is YAML', 'is not valid YAML', 'a: [1'],
    ['has few values, aliases counted', 'more than a million values', `openapi: 3.1.0\n${bomb.join('\n')}\n`],
    [
      'has few characters, aliases counted',
      'more than 32 million characters',
      `openapi: 3.1.0\na: &a ${'x'.repeat(100_000)}\nb: [${'*a,'.repeat(400)}]\n`,
    ],
    [
      'is flat',
      'nesting exceeded',
      `openapi: 3.1.0\na: ${'['.repeat(150)}${']'.repeat(150)}\nb: ${'{c: '.repeat(250)}1${'}'.repeat(250)}`,
    ],
  ])('are refused unless the file %s', (_rule, message, text) => {
    expect(() => parse(text)).toThrow(message);
  });

  test('in JSON are refused too if a parser would not return', () => {
    expect(() => parse(`{"openapi":"3.1.0","a":${'['.repeat(200_000)}`, 'a.json')).toThrow('nested deeper');
    expect(() => parse('{"openapi":', 'a.json')).toThrow('is not valid JSON');
    expect(() => parseSpecification(new Uint8Array(17 * 1024 * 1024), 'a.json')).toThrow('larger than 16 MB');
  });
});
