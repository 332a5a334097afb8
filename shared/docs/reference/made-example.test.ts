import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '#shared/docs/project/json-values.ts';
import { madeExample } from './made-example.ts';
import { openSlice } from './open-slice.ts';
import { operationsOf } from './operations.ts';
import { shapeOf } from './schema-shape.ts';
import { sliceOperation } from './slice-operation.ts';
import { fitsSchema } from './schema-fits.ts';

/** The slice of an operation that answers with this schema. */
function slicedAnswer(answer: JsonObject, schemas: JsonObject): JsonObject {
  const responses = { 200: { description: 'Fine', content: { 'application/json': { schema: answer } } } };
  const paths = { '/a': { get: { responses } } };
  const specification: JsonObject = { openapi: '3.1.0', paths, components: { schemas } };
  const [operation] = operationsOf(specification);
  return (operation && openSlice(sliceOperation(specification, operation).text)?.document) ?? {};
}

const ajv = new Ajv2020({ strict: false, validateFormats: true });
(addFormats as unknown as (to: Ajv2020) => void)(ajv);

const made = (schema: JsonValue, schemas: JsonObject = {}, use: 'request' | 'response' = 'response') =>
  madeExample({ components: { schemas } }, schema, use);

describe('a made example is valid', () => {
  test.each<[what: string, schema: JsonObject]>([
    ['a multiple', { type: 'integer', exclusiveMinimum: 0, multipleOf: 5 }],
    ['a multiple below zero', { type: 'number', maximum: -0.3, multipleOf: 0.25 }],
    ['between close bounds', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.001 }],
    ['no text', { not: { type: 'string' } }],
    ['neither text nor number', { not: { type: ['string', 'number'] } }],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false }],
    ['a tuple with more', { prefixItems: [{ const: 1 }], items: { type: 'boolean' }, minItems: 3 }],
    ['a list of different items', { type: 'array', items: { type: 'integer' }, minItems: 3, uniqueItems: true }],
    ['a list of different values', { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 2, uniqueItems: true }],
    ['a list with one of a kind', { type: 'array', contains: { const: 'x' }, items: { type: 'string' } }],
    ['a short text', { type: 'string', maxLength: 3 }],
    ['a long text', { type: 'string', minLength: 30 }],
    ['a text like a pattern', { type: 'string', pattern: '^[A-Z]{2}-\\d{4}(?:-x)?$' }],
    ['a text like a pattern of a length', { type: 'string', pattern: '^[a-f0-9]+$', minLength: 24, maxLength: 24 }],
    ['a date', { type: 'string', format: 'date' }],
    ['an address of a machine', { type: 'string', format: 'ipv6' }],
    ['null', { type: 'null' }],
    ['maybe null', { type: ['string', 'null'], minLength: 2 }],
    ['what needs another', { type: 'object', properties: { k: { type: 'string' } }, dependentRequired: { k: ['l'] } }],
    ['an object of two', { type: 'object', minProperties: 2, additionalProperties: { type: 'integer' } }],
    ['an object without others', { type: 'object', properties: { a: {} }, additionalProperties: false }],
    ['a member without a schema', { type: 'object', required: ['a'] }],
    [
      'exactly one',
      {
        oneOf: [
          { type: 'object', required: ['a'] },
          { type: 'object', required: ['b'] },
        ],
      },
    ],
    [
      'with a member that an option asks for',
      {
        type: 'object',
        additionalProperties: false,
        properties: { urls: { type: 'array', items: { type: 'string' } }, ids: { type: 'array', minItems: 2 } },
        anyOf: [{ required: ['urls'] }, { required: ['ids'] }],
      },
    ],
    [
      'with the member of one option alone',
      {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, url: { type: 'string' }, file: { type: 'integer' } },
        oneOf: [{ required: ['url'] }, { required: ['file'] }],
      },
    ],
    [
      'told apart by what need not be there',
      {
        oneOf: [
          { type: 'object', properties: { url: { type: 'string' } }, additionalProperties: false },
          { type: 'object', properties: { file: { type: 'string' } }, additionalProperties: false },
        ],
      },
    ],
    ['all of them', { allOf: [{ type: 'integer', minimum: 3 }, { maximum: 5 }] }],
    [
      'if and then',
      JSON.parse('{"properties":{"a":{"const":1}},"if":{"required":["a"]},"then":{"required":["b"]}}') as JsonObject,
    ],
    ['with a wrong default', { type: 'integer', default: 'none', example: 1.5 }],
    ['with an empty text', { type: 'string', example: '' }],
  ])('%s', (_what, schema) => {
    for (const use of ['request', 'response'] as const)
      for (const fields of [{}, { defaults: 'required' as const, depth: 0 }]) {
        const value = madeExample({}, schema, use, fields);
        expect(value).toBeDefined();
        expect(ajv.validate(schema, value), `${JSON.stringify(value)}: ${ajv.errorsText()}`).toBe(true);
      }
  });

  test('or there is no example', () => {
    expect(made({ type: 'integer', minimum: 5, maximum: 4 })).toBeUndefined();
    expect(made({ type: 'string', pattern: '^(?=a)b$' })).toBeUndefined();
    expect(made({ type: 'object', required: ['a'], properties: { a: false } })).toBeUndefined();
    expect(made({ type: 'object', properties: { a: false } })).toEqual({});
  });

  test('for randomly generated schemas', () => {
    const leaf = fc.oneof(
      fc.record({
        type: fc.constant('integer'),
        minimum: fc.integer({ min: -50, max: 50 }),
        multipleOf: fc.integer({ min: 1, max: 9 }),
      }),
      fc.record({
        type: fc.constant('string'),
        minLength: fc.integer({ min: 0, max: 12 }),
        maxLength: fc.integer({ min: 4, max: 20 }),
      }),
      fc.record({
        type: fc.constant('string'),
        pattern: fc.constantFrom('^a+$', '^\\w{3}$', 'x', '^(?:ab|cd)\\d*$', '[^a-z]'),
      }),
      fc.record({ enum: fc.array(fc.constantFrom(1, 'a', null, true), { minLength: 1 }) }),
      fc.constant({ type: 'boolean' }),
    );
    const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3 },
        leaf as fc.Arbitrary<JsonObject>,
        fc.record({
          type: fc.constant('array'),
          items: tie('schema'),
          minItems: fc.integer({ min: 0, max: 3 }),
        }) as fc.Arbitrary<JsonObject>,
        fc
          .tuple(tie('schema'), tie('schema'), fc.subarray(['a', 'b', 'c']))
          .map(([a, b, required]) => ({ type: 'object', properties: { a, b }, required })) as fc.Arbitrary<JsonObject>,
        fc.tuple(tie('schema'), tie('schema')).map(([a, b]) => ({ anyOf: [a, b] })) as fc.Arbitrary<JsonObject>,
        fc.tuple(tie('schema'), tie('schema')).map(([a, b]) => ({ oneOf: [a, b] })) as fc.Arbitrary<JsonObject>,
      ),
    }));
    fc.assert(
      fc.property(schema, (written) => {
        const value = made(written);
        if (value !== undefined) expect([written, value, ajv.validate(written, value)]).toEqual([written, value, true]);
      }),
      { numRuns: 300, seed: 20 },
    );
  });
});

describe('examples of schemas with variants', () => {
  const schemas: JsonObject = {
    Animal: {
      type: 'object',
      required: ['kind'],
      properties: { kind: { type: 'string' } },
      discriminator: { propertyName: 'kind', mapping: { dog: '#/components/schemas/Dog', cat: 'Cat' } },
      oneOf: [{ $ref: '#/components/schemas/Dog' }, { $ref: '#/components/schemas/Cat' }],
    },
    Dog: { allOf: [{ $ref: '#/components/schemas/Animal' }, { properties: { name: { type: 'string' } } }] },
    Cat: {
      allOf: [{ $ref: '#/components/schemas/Animal' }, { properties: { lives: { type: 'integer', default: 9 } } }],
    },
    Mapped: {
      type: 'object',
      required: ['t'],
      properties: { t: { type: 'string' } },
      discriminator: { propertyName: 't', mapping: { one: '#/components/schemas/One' } },
    },
    One: {
      allOf: [{ $ref: '#/components/schemas/Mapped' }, { required: ['x'], properties: { x: { type: 'integer' } } }],
    },
  };
  const of = (name: string) => made({ $ref: `#/components/schemas/${name}` }, schemas);

  test('have the discriminator value of their variant, and its own fields', () => {
    expect(of('Animal')).toEqual({ kind: 'dog', name: '<string>' });
    expect(of('Dog')).toEqual({ kind: 'dog', name: '<string>' });
    expect(of('Cat')).toEqual({ kind: 'cat', lives: 9 });
    expect(of('Mapped')).toEqual({ t: 'one', x: 123 });
    expect(of('One')).toEqual({ t: 'one', x: 123 });
    const both = {
      type: 'array',
      items: { oneOf: [{ $ref: '#/components/schemas/Dog' }, { $ref: '#/components/schemas/Cat' }] },
    };
    expect(made(both, schemas)).toEqual([{ kind: 'dog', name: '<string>' }]);
  });

  test('do not fit a variant under the name of another', () => {
    const document = { components: { schemas } };
    const cat = { $ref: '#/components/schemas/Cat' };
    expect(fitsSchema(document, cat, { kind: 'cat', lives: 3 })).toBe(true);
    expect(fitsSchema(document, cat, { kind: 'dog', lives: 3 })).toBe(false);
    expect(fitsSchema(document, { $ref: '#/components/schemas/Animal' }, { kind: 'cat', lives: 'x' })).toBe(false);
  });
});

test('an example of a request has only fields that are sent, and that of a response only fields that are received', () => {
  const schema = {
    type: 'object',
    required: ['id', 'password'],
    properties: { id: { type: 'string', readOnly: true }, password: { type: 'string', writeOnly: true } },
  };
  expect(made(schema, {}, 'request')).toEqual({ password: '<string>' });
  expect(made(schema, {}, 'response')).toEqual({ id: '<string>' });
});

describe('an example of options that allow the same objects', () => {
  const empty = { type: 'object', properties: { error: { type: 'string', default: 'EMPTY' } } };
  const unknown = { type: 'object', properties: { error: { type: 'string', default: 'UNKNOWN' } } };
  const either: JsonObject = { oneOf: [empty, unknown] };
  const found = (document: JsonObject, schema: JsonValue, use: 'request' | 'response' = 'response') => {
    let isAmbiguous = false;
    const value = madeExample(document, schema, use, {}, () => {
      isAmbiguous = true;
    });
    return { value, isAmbiguous };
  };

  test('is that of the first option, and the caller learns of it', () => {
    expect(found({}, either)).toEqual({ value: { error: 'EMPTY' }, isAmbiguous: true });
    const inside = { type: 'object', required: ['cause'], properties: { cause: either, at: { type: 'integer' } } };
    expect(found({}, inside)).toEqual({ value: { cause: { error: 'EMPTY' }, at: 123 }, isAmbiguous: true });
    expect(found({}, { allOf: [{ type: 'string' }, { type: 'integer' }] })).toEqual({
      value: undefined,
      isAmbiguous: false,
    });
  });

  test('fits one option alone if a property distinguishes them', () => {
    const closed = { ...unknown, additionalProperties: false, required: ['error'] };
    const more = { type: 'object', properties: { error: { type: 'string' }, more: { type: 'integer' } } };
    expect(found({}, { oneOf: [closed, more] })).toMatchObject({ value: { more: 123 }, isAmbiguous: false });
    const kinds = ['a', 'b'].map((kind) => ({ type: 'object', properties: { kind: { enum: [kind] } } }));
    expect(found({}, { oneOf: kinds })).toEqual({ value: { kind: 'a' }, isAmbiguous: false });
  });

  test('is kept in a slice that leaves the schema out', () => {
    const long = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`field${at}`, { type: 'string' }]));
    const needed = { required: ['error'] };
    const schemas: JsonObject = {
      Long: { type: 'object', properties: long },
      Either: { type: 'object', oneOf: [empty, unknown].map((option) => ({ ...option, ...needed })) },
      Outer: { type: 'object', required: ['either'], properties: { either: { $ref: '#/components/schemas/Either' } } },
    };
    const answer: JsonObject = {
      type: 'object',
      properties: { long: { $ref: '#/components/schemas/Long' }, outer: { $ref: '#/components/schemas/Outer' } },
      required: ['outer'],
    };
    const document = slicedAnswer(answer, schemas);
    const whole = [shapeOf(document, { $ref: '#/components/schemas/Either' }).variants];
    // Precondition of the test: the slice cuts this schema.
    expect(whole).toEqual([[]]);
    const { value, isAmbiguous } = found(document, answer);
    expect(value).toMatchObject({ outer: { either: { error: 'EMPTY' } } });
    expect(isAmbiguous).toBe(true);
  });
});

test('an example of a schema whose content a slice left out is its least value', () => {
  const long = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`field${at}`, { type: 'string' }]));
  const schemas = {
    Long: { type: 'object', properties: long },
    Role: { type: 'string', enum: ['user', 'system'] },
    Author: {
      type: 'object',
      required: ['role', 'code', 'secret'],
      properties: {
        role: { $ref: '#/components/schemas/Role' },
        code: { type: 'string', pattern: '^[A-Z]{3}$' },
        secret: { type: 'string', writeOnly: true },
      },
    },
    Message: {
      type: 'object',
      required: ['author', 'role', 'none'],
      properties: {
        author: { $ref: '#/components/schemas/Author' },
        role: { $ref: '#/components/schemas/Role' },
        none: { type: 'null' },
        impossible: { $ref: '#/components/schemas/Impossible' },
      },
    },
    Impossible: { type: 'object', required: ['a'], properties: { a: { type: 'integer', minimum: 2, maximum: 1 } } },
  };
  const answer = {
    type: 'object',
    properties: { long: { $ref: '#/components/schemas/Long' }, message: { $ref: '#/components/schemas/Message' } },
    required: ['message'],
  };
  const document = slicedAnswer(answer, schemas);
  const author = shapeOf(document, { $ref: '#/components/schemas/Author' });
  // Precondition of the test: the slice cuts this schema.
  expect(author.properties).toEqual([]);
  const example = madeExample(document, answer, 'response', { defaults: 'required' });
  expect(example).toEqual({
    message: { author: { role: 'user', code: expect.stringMatching(/^[A-Z]{3}$/) }, role: 'user', none: null },
  });
});
