import { describe, expect, test } from 'vitest';
import { parseSpecification } from './parse-specification.ts';

const parse = (text: string, file = 'a.yaml') => parseSpecification(Buffer.from(text), file);

describe('specifications', () => {
  test('are read from JSON and YAML', () => {
    const made = { openapi: '3.1.0', paths: { '/x': {} } };
    expect(parse(JSON.stringify(made), 'a.json')).toEqual(made);
    expect(parse('openapi: 3.1.0\npaths:\n  /x: {}\n')).toEqual(made);
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

  test('have no keys that reach prototypes, and no object twice', () => {
    const read = parse('{"openapi":"3.1.0","x":{"__proto__":{"a":1},"constructor":1,"b":2}}', 'a.json');
    expect(read['x']).toEqual({ b: 2 });
    const { x, y } = parse('openapi: 3.1.0\nx: &a { b: 1 }\ny: *a\n');
    expect(x).toEqual(y);
    expect(x).not.toBe(y);
  });

  const bomb = ['a: &a [1,1,1,1,1,1,1,1,1,1]'];
  for (let level = 1; level < 9; level += 1) {
    const before = String.fromCharCode(96 + level);
    const name = String.fromCharCode(97 + level);
    bomb.push(`${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(',')}]`);
  }

  test.each([
    ['says its version', 'does not say', 'a: 1'],
    ['is an object', 'is no object', '- 1'],
    ['is YAML', 'is no valid YAML', 'a: [1'],
    ['has few values, aliases counted', 'more than a million values', `openapi: 3.1.0\n${bomb.join('\n')}\n`],
    [
      'is flat',
      'nesting exceeded',
      `openapi: 3.1.0\na: ${'['.repeat(150)}${']'.repeat(150)}\nb: ${'{c: '.repeat(250)}1${'}'.repeat(250)}`,
    ],
  ])('are refused unless the file %s', (_rule, message, text) => {
    expect(() => parse(text)).toThrow(message);
  });

  test('in JSON are refused, too, where a parser would not come back', () => {
    expect(() => parse(`{"openapi":"3.1.0","a":${'['.repeat(200_000)}`, 'a.json')).toThrow('nested deeper');
    expect(() => parse('{"openapi":', 'a.json')).toThrow('is no valid JSON');
    expect(() => parseSpecification(new Uint8Array(17 * 1024 * 1024), 'a.json')).toThrow('larger than 16 MB');
  });
});
