import { describe, expect, test } from 'vitest';
import { itemsOf, readDescription } from '../../test/support/described-answers.ts';
import { publicRoutes } from './build-gateway.ts';
import { fieldDescriptions } from './field-descriptions.ts';
import { type JsonSchema, openApiDocument } from './openapi.ts';
import { routeExamples } from './route-examples.ts';

const whereExamplesAre = 'examples are in services/gateway/route-examples.ts, by the id of the route';
const document = openApiDocument(publicRoutes);
const { operations, problemsOf } = readDescription(document);

test('no example is of a route that there is not', () => {
  expect(Object.keys(routeExamples).filter((id) => !operations.has(id))).toEqual([]);
});

test('every operation has a tag', () => {
  expect([...operations].filter(([, { tags }]) => tags.some((tag) => tag === '')).map(([id]) => id)).toEqual([]);
});

test('every parameter and every field of a schema has a description (services/gateway/field-descriptions.ts)', () => {
  const bare: string[] = [];
  for (const [id, { parameters }] of operations)
    for (const { name, description } of parameters) if (description === undefined) bare.push(`${id}.${name}`);
  const look = (place: string, { properties = {}, items, anyOf = [], oneOf = [] }: JsonSchema): void => {
    for (const [name, field] of Object.entries(properties)) {
      if (field.description === undefined) bare.push(`${place}.${name}`);
      look(`${place}.${name}`, field);
    }
    for (const part of [...(items ? [items] : []), ...anyOf, ...oneOf]) look(place, part);
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) look(name, schema);
  expect(bare).toEqual([]);
});

test('no field is described that there is not', () => {
  const used = new Set<string>();
  for (const [id, { parameters }] of operations) for (const { name } of parameters) used.add(`${id}.${name}`).add(name);
  const look = (places: string[], { properties = {}, items, anyOf = [], oneOf = [] }: JsonSchema): void => {
    for (const [name, field] of Object.entries(properties)) {
      const place = [...places, name];
      used.add(name).add(place.slice(-2).join('.')).add(place.join('.'));
      look(place, field);
    }
    for (const part of [...(items ? [items] : []), ...anyOf, ...oneOf]) look(places, part);
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) look([name], schema);
  expect(Object.keys(fieldDescriptions).filter((key) => !used.has(key))).toEqual([]);
});

describe.each([...operations])('%s', (_, { parameters, requestBody, responses }) => {
  test('has an example of each part that a client must send, and all of them fit', () => {
    for (const { name, required, schema, example } of parameters) {
      if (required) expect([name, example], whereExamplesAre).not.toEqual([name, undefined]);
      if (example !== undefined) expect([name, problemsOf(schema, example)]).toEqual([name, []]);
    }
    const { schema, example } = requestBody?.content['application/json'] ?? {};
    if (schema === undefined) return;
    expect(example, whereExamplesAre).toBeDefined();
    expect(problemsOf(schema, example)).toEqual([]);
  });

  test('has an example of each form of each answer and of each error, and all of them fit', () => {
    for (const [status, { content = {} }] of Object.entries(responses)) {
      for (const [type, { schema = {}, example, examples = {}, 'x-item-schema': item }] of Object.entries(content)) {
        const values = example === undefined ? Object.values(examples).map(({ value }) => value) : [example];
        expect([status, type, values.length > 0], whereExamplesAre).toEqual([status, type, true]);
        for (const value of values) {
          const problems = problemsOf(schema, value);
          const fault = `the example of ${status} ${type} does not fit: ${problems.join(', ')}; ${whereExamplesAre}`;
          expect(problems, fault).toEqual([]);
        }
        if (item === undefined) continue;
        const items = itemsOf(String(example));
        expect(items).not.toEqual([]);
        for (const each of items) expect(problemsOf(item, each)).toEqual([]);
      }
    }
  });

  test('describes the headers that its answers have', () => {
    for (const { headers } of Object.values(responses)) {
      for (const header of Object.values(headers)) if (!('$ref' in header)) expect(header.example).toBeTruthy();
    }
  });
});
