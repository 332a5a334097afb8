import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  putValue,
  textOf,
  textsOf,
} from '#shared/docs/project/json-values.ts';
import type { SiteSettings } from '#shared/docs/project/site-model.ts';
import { resolved } from './open-slice.ts';
import { exampleIn, merge, plainTypeOf, type Property, shapeOf } from './schema-shape.ts';

/** `api.examples` of docs.json. */
export type ExampleSettings = {
  languages?: string[];
  autogenerate?: boolean;
  /** Which parameters and fields a request has. Without it: the required ones, those with an example, and a few others. */
  defaults?: 'required' | 'all';
};

export function exampleSettings(api: SiteSettings['api']): ExampleSettings {
  const { languages, autogenerate, defaults } = objectOf(objectOf(api)['examples']);
  const names = textsOf(languages);
  return {
    ...(names.length > 0 && { languages: names }),
    ...(typeof autogenerate === 'boolean' && { autogenerate }),
    ...((defaults === 'required' || defaults === 'all') && { defaults }),
  };
}

/** Which fields an example has: those of a request, or of a response. */
export type ExampleUse = 'request' | 'response';

/** Which fields a made example has, and how deep they go. */
export type ExampleFields = { defaults?: ExampleSettings['defaults']; depth?: number };

const maxValues = 60;
/** A request with more fields than these is shown with the required ones: eight times the same is long. */
const mostOptional = 8;
const maxDepth = 8;

/** Stands for a file. */
export const madeFile = '<file>';

const byFormat: ReadonlyMap<string, JsonValue> = new Map([
  ['date-time', '2023-11-07T05:31:56Z'],
  ['date', '2023-12-25'],
  ['time', '05:31:56Z'],
  ['uuid', '3c90c3cc-0d44-4b50-8888-8dd25736052a'],
  ['email', 'jsmith@example.com'],
  ['uri', 'https://example.com'],
  ['url', 'https://example.com'],
  ['hostname', 'example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['binary', madeFile],
  ['byte', 'aGVsbG8='],
]);

/** The example of a media type, parameter or header: one that is written, or one made from its schema. The same input gives the same value. */
export function exampleOf(
  document: JsonObject,
  written: JsonObject,
  use: ExampleUse,
  fields: ExampleFields = {},
): JsonValue | undefined {
  const own = exampleIn(written);
  if (own !== undefined) return own;
  for (const example of Object.values(objectOf(written['examples']))) {
    const { value } = resolved(document, example).value;
    if (value !== undefined) return value;
  }
  return written['schema'] === undefined ? undefined : exampleOfSchema(document, written['schema'], use, fields);
}

/** All examples that are written, by name. */
export function namedExamples(document: JsonObject, written: JsonObject): [string, JsonValue][] {
  if (!isJsonObject(written['examples'])) return [];
  return Object.entries(written['examples']).flatMap(([name, example]) => {
    const { value, summary } = resolved(document, example).value;
    return value === undefined ? [] : [[typeof summary === 'string' ? summary : name, value] as [string, JsonValue]];
  });
}

export function exampleOfSchema(
  document: JsonObject,
  schema: JsonValue,
  use: ExampleUse,
  { defaults, depth: deepest = maxDepth }: ExampleFields = {},
): JsonValue {
  let values = 0;
  const make = (part: JsonValue | undefined, depth: number, active: ReadonlySet<string>): JsonValue => {
    values += 1;
    const { merged, names } = merge(document, part);
    const given = exampleIn(merged) ?? merged['default'] ?? merged['const'];
    if (given !== undefined) return given;
    const [first] = Array.isArray(merged['enum']) ? merged['enum'] : [];
    if (first !== undefined) return first;
    if (depth > deepest || values > maxValues || names.some((name) => active.has(name))) return emptyOf(merged);
    if (!isOfOthers(merged)) return ofType(merged, () => plainTypeOf(document, merged));
    const inside = new Set([...active, ...names]);
    const shape = shapeOf(document, part);
    if (shape.properties.length > 0 || shape.additional !== undefined) {
      const made: JsonObject = {};
      const isLong = shape.properties.length > mostOptional && shape.properties.some(isRequired);
      const isShort = use === 'request' && (defaults === undefined ? isLong : defaults === 'required');
      for (const { name, schema: property } of isShort ? shape.properties.filter(isRequired) : shape.properties) {
        const { merged: facts } = merge(document, property);
        if (facts[use === 'request' ? 'readOnly' : 'writeOnly'] === true) continue;
        if (values <= maxValues) putValue(made, name, make(property, depth + 1, inside));
      }
      if (shape.properties.length === 0) made['{key}'] = make(shape.additional, depth + 1, inside);
      const [option] = shape.variants[0]?.options ?? [];
      const chosen = option === undefined ? undefined : make(option, depth + 1, inside);
      return isJsonObject(chosen) ? { ...made, ...chosen } : made;
    }
    const [option] = shape.variants[0]?.options ?? [];
    if (option !== undefined) return make(option, depth + 1, inside);
    if (shape.firstItems.length > 0) return shape.firstItems.map((item) => make(item, depth + 1, inside));
    if (shape.items !== undefined) return [make(shape.items, depth + 1, inside)];
    return ofType(merged, () => shape.type);
  };
  return make(schema, 0, new Set());
}

const isRequired = ({ isRequired }: Property): boolean => isRequired;

/** Other schemas are inside it. */
const isOfOthers = ({ properties, additionalProperties, items, oneOf, anyOf }: JsonObject): boolean =>
  [properties, additionalProperties, items, oneOf, anyOf].some((part) => part !== undefined);

const emptyOf = (schema: JsonObject): JsonValue =>
  schema['type'] === 'array' ? [] : schema['properties'] === undefined ? ofType(schema, () => '') : {};

/** `shownType`: as a reader sees it. */
function ofType(schema: JsonObject, shownType: () => string): JsonValue {
  const written = schema['type'];
  const type = Array.isArray(written) ? written.find((each) => each !== 'null') : written;
  switch (type) {
    case 'integer':
    case 'number':
      return withinBounds(schema);
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    case 'null':
      return null;
    default: {
      const known = byFormat.get(textOf(schema['format']) ?? '');
      if (known !== undefined) return known;
      return ['', 'any'].includes(shownType()) ? '<value>' : '<string>';
    }
  }
}

/** A number that the schema allows, as far as its least and greatest say. */
function withinBounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject): number {
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : 1;
  // In OpenAPI 3.0 the exclusive ones say so of the others.
  const bound = (own: JsonValue | undefined, exclusive: JsonValue | undefined, towards: number): number[] => [
    ...(typeof own === 'number' ? [exclusive === true ? own + towards : own] : []),
    ...(typeof exclusive === 'number' ? [exclusive + towards] : []),
  ];
  const least = Math.max(...bound(minimum, exclusiveMinimum, step));
  const greatest = Math.min(...bound(maximum, exclusiveMaximum, -step));
  const chosen = Math.max(Math.min(123, greatest), least);
  return Number.isFinite(chosen) ? chosen : 123;
}
