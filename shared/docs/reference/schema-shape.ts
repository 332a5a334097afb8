import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  textOf,
  textsOf,
} from '#shared/docs/project/json-values.ts';
import { nameOfReference, resolved, shownValue } from './open-slice.ts';

/** One level of a schema, with its references followed and `allOf` put together. */
export type Shape = {
  /** As a reader sees it: `string<date-time> | null`, `object[]`. */
  type: string;
  title: string | undefined;
  description: string | undefined;
  isDeprecated: boolean;
  isReadOnly: boolean;
  isWriteOnly: boolean;
  defaultValue: JsonValue | undefined;
  example: JsonValue | undefined;
  /** Allowed values. */
  values: { value: JsonValue; description: string | undefined }[];
  /** By their names in the specification: `minLength: 3`. */
  constraints: string[];
  properties: Property[];
  /** Of an array. */
  items: JsonValue | undefined;
  /** Of an array: its first items, each with a schema of its own. */
  firstItems: readonly JsonValue[];
  /** Of properties whose names are like a pattern. */
  patterns: Property[];
  /** Of properties without a fixed name. */
  additional: JsonValue | undefined;
  variants: { kind: 'oneOf' | 'anyOf'; options: JsonValue[] }[];
  /** Labels that its author wants before and behind the name. */
  labels: { pre: string[]; post: string[] };
  /** As it is in the specification, for what is shown of it only where a site wants it. */
  written: JsonObject;
  /** References that led here. */
  names: readonly string[];
};

export type Property = { name: string; schema: JsonValue; isRequired: boolean };

const maxParts = 200;
const maxFirstItems = 20;
const constraintKeys = [
  'minimum exclusiveMinimum maximum exclusiveMaximum multipleOf minLength maxLength pattern',
  'minItems maxItems uniqueItems minProperties maxProperties contentMediaType contentEncoding',
]
  .join(' ')
  .split(' ');

const kindsOfChoice = ['oneOf', 'anyOf'] as const;

/** A schema in the document of a slice. Never throws: what a schema cannot say is left out. */
export const shapeOf = (document: JsonObject, schema: JsonValue | undefined): Shape =>
  once(shapes, document, schema, makeShape);

/** By document, and reference or schema: many fields may be of one large schema, and a document of a slice does not change. */
type BySchema<Made> = WeakMap<JsonObject, Map<JsonValue, Made>>;
const shapes: BySchema<Shape> = new WeakMap();
const merges: BySchema<ReturnType<typeof mergeParts>> = new WeakMap();

function once<Made>(
  made: BySchema<Made>,
  document: JsonObject,
  schema: JsonValue | undefined,
  make: (document: JsonObject, schema: JsonValue | undefined) => Made,
): Made {
  if (!isJsonObject(schema)) return make(document, schema);
  let known = made.get(document);
  if (known === undefined) {
    known = new Map();
    made.set(document, known);
  }
  const { $ref: reference } = schema;
  const key = typeof reference === 'string' && isLone(schema) ? reference : schema;
  let value = known.get(key);
  if (value === undefined) {
    value = make(document, schema);
    known.set(key, value);
  }
  return value;
}

function isLone(schema: JsonObject): boolean {
  for (const key in schema) if (key !== '$ref') return false;
  return true;
}

function makeShape(document: JsonObject, schema: JsonValue | undefined): Shape {
  const { merged, names } = merge(document, schema);
  const properties = objectOf(merged['properties']);
  const required = new Set(textsOf(merged['required']));
  const variants: Shape['variants'] = [];
  for (const kind of kindsOfChoice) {
    const written = merged[kind];
    const options = Array.isArray(written) ? written.filter((option) => !isNull(option)) : [];
    if (options.length > 0) variants.push({ kind, options });
  }
  const { additionalProperties } = merged;
  const mint = objectOf(merged['x-mint']);
  return {
    type: typeOf(document, merged, variants, 0),
    title: textOf(merged['title']),
    description: textOf(merged['description']),
    isDeprecated: merged['deprecated'] === true,
    isReadOnly: merged['readOnly'] === true,
    isWriteOnly: merged['writeOnly'] === true,
    defaultValue: merged['x-default'] ?? merged['default'],
    example: exampleIn(merged),
    values: valuesOf(merged),
    constraints: constraintsOf(merged),
    properties: Object.entries(properties).map(([name, property]) => {
      return { name, schema: property, isRequired: required.has(name) };
    }),
    items: itemsOf(merged),
    firstItems: firstItemsOf(merged),
    patterns: Object.entries(objectOf(merged['patternProperties'])).map(([pattern, property]) => {
      return { name: `/${pattern}/`, schema: property, isRequired: false };
    }),
    additional:
      isJsonObject(additionalProperties) && Object.keys(additionalProperties).length > 0
        ? additionalProperties
        : undefined,
    variants,
    labels: { pre: textsOf(mint['pre']), post: textsOf(mint['post']) },
    written: merged,
    names,
  };
}

function constraintsOf(schema: JsonObject): string[] {
  const constraints: string[] = [];
  for (const key of constraintKeys) {
    const value = schema[key];
    if (value === undefined || value === null || typeof value === 'object' || value === false) continue;
    constraints.push(`${key}: ${shownValue(value)}`);
  }
  return constraints;
}

/** `items` of JSON Schema before 2020 may be a list of what is `prefixItems` today. `false`: there are no more. */
const itemsOf = ({ items }: JsonObject): JsonValue | undefined =>
  Array.isArray(items) || items === false ? undefined : items;

function firstItemsOf({ prefixItems, items }: JsonObject): JsonValue[] {
  const written = Array.isArray(prefixItems) ? prefixItems : items;
  return Array.isArray(written) ? written.slice(0, maxFirstItems) : [];
}

/** The first example that a schema gives; OpenAPI 3.0 has one, 3.1 a list. */
export function exampleIn(schema: JsonObject): JsonValue | undefined {
  const { example, examples } = schema;
  if (example !== undefined) return example;
  return Array.isArray(examples) ? examples[0] : undefined;
}

/** Follows references and puts the parts of `allOf` together: properties of all, and of everything else what stands outermost. */
export const merge = (
  document: JsonObject,
  schema: JsonValue | undefined,
): Readonly<{ merged: JsonObject; names: readonly string[] }> =>
  // Most fields are no more than a type with a description.
  isJsonObject(schema) && !isOfParts(schema)
    ? { merged: schema, names: noNames }
    : once(merges, document, schema, mergeParts);

const noNames: readonly string[] = [];

function mergeParts(document: JsonObject, schema: JsonValue | undefined): { merged: JsonObject; names: string[] } {
  const names = new Set<string>();
  let parts = 0;
  const of = (value: JsonValue | undefined, depth: number): JsonObject => {
    const { value: own, names: through } = resolved(document, value);
    parts += 1;
    if (depth > 20 || parts > maxParts || through.some((name) => names.has(name))) return {};
    for (const name of through) names.add(name);
    const lone = loneOption(own);
    const { allOf } = own;
    const written = [...(Array.isArray(allOf) ? allOf : []), ...(lone === undefined ? [] : [lone])];
    if (written.length === 0) return own;
    const { allOf: _, ...rest } = own;
    if (lone !== undefined) for (const key of kindsOfChoice) delete rest[key];
    let made: JsonObject = rest;
    for (const part of written) {
      if (parts > maxParts) break;
      made = both(made, of(part, depth + 1));
    }
    if (lone !== undefined && hasNullOption(own)) made = { ...made, nullable: true };
    return made;
  };
  const merged = of(schema, 0);
  return { merged, names: [...names] };
}

const isOfParts = ({ $ref, allOf, oneOf, anyOf }: JsonObject): boolean =>
  $ref !== undefined || allOf !== undefined || oneOf !== undefined || anyOf !== undefined;

function both(first: JsonObject, second: JsonObject): JsonObject {
  const made: JsonObject = { ...second, ...first };
  if (first['properties'] !== undefined || second['properties'] !== undefined)
    made['properties'] = { ...objectOf(second['properties']), ...objectOf(first['properties']) };
  const required = [...textsOf(second['required']), ...textsOf(first['required'])];
  if (required.length > 0) made['required'] = [...new Set(required)];
  for (const kind of kindsOfChoice) {
    const [own, other] = [first[kind], second[kind]];
    if (Array.isArray(own) && Array.isArray(other)) made[kind] = [...own, ...other];
  }
  return made;
}

const isNull = (schema: JsonValue): boolean => isJsonObject(schema) && schema['type'] === 'null';

/** `anyOf: [X, null]` is X that may be null. */
function loneOption(schema: JsonObject): JsonValue | undefined {
  for (const kind of kindsOfChoice) {
    const options = schema[kind];
    if (!Array.isArray(options)) continue;
    const others = options.filter((option) => !isNull(option));
    if (others.length === 1) return others[0];
  }
  return undefined;
}

const hasNullOption = (schema: JsonObject): boolean =>
  kindsOfChoice.some((kind) => {
    const options = schema[kind];
    return Array.isArray(options) && options.some(isNull);
  });

function valuesOf(schema: JsonObject): Shape['values'] {
  const written = schema['enum'];
  const descriptions = objectOf(schema['x-mint-enum']);
  const values = Array.isArray(written) ? written : schema['const'] === undefined ? [] : [schema['const']];
  return values.map((value) => ({ value, description: textOf(descriptions[shownValue(value)]) }));
}

/** What a reader sees as the type of a schema that is no reference and of no parts. */
export const plainTypeOf = (document: JsonObject, schema: JsonObject): string =>
  typeOf(document, schema, variantsIn(schema), 0);

/** Words for the type of a schema, from itself and the types right inside it. */
function typeOf(document: JsonObject, schema: JsonObject, variants: Shape['variants'], depth: number): string {
  const written = textsOf(schema['type']);
  const isNullable = schema['nullable'] === true || written.includes('null') || hasNullOption(schema);
  // Each counts once: lists of lists would be walked through as often as all their types together say.
  const types = [...new Set(written)].filter((type) => type !== 'null');
  const names = types.map((type) => oneType(document, schema, type, depth));
  if (names.length === 0 && written.length === 0) names.push(...typesWithoutName(document, schema, variants, depth));
  const all = [...new Set(names)];
  if (isNullable && !all.includes('null')) all.push('null');
  return all.join(' | ');
}

function oneType(document: JsonObject, schema: JsonObject, type: string, depth: number): string {
  if (type === 'array') return arrayType(document, schema, depth);
  if (Array.isArray(schema['enum'])) return `enum<${type}>`;
  const format = textOf(schema['format']);
  return format === undefined ? type : `${type}<${format}>`;
}

/** `[string, integer]` for one whose first items each have a schema, `string[]` for all others. */
function arrayType(document: JsonObject, schema: JsonObject, depth: number): string {
  const [items, first] = [itemsOf(schema), firstItemsOf(schema)];
  const others = first.length > 0 && items === undefined ? '' : `${itemType(document, items, depth)}[]`;
  if (first.length === 0) return others;
  const shown = first.slice(0, 4).map((item) => itemType(document, item, depth));
  return `[${[...shown, ...(first.length > 4 || others !== '' ? [`...${others}`] : [])].join(', ')}]`;
}

function itemType(document: JsonObject, items: JsonValue | undefined, depth: number): string {
  if (items === undefined || depth > 4) return 'any';
  const { merged } = merge(document, items);
  const type = typeOf(document, merged, variantsIn(merged), depth + 1);
  return type.includes(' ') ? `(${type})` : type;
}

const variantsIn = (schema: JsonObject): Shape['variants'] =>
  kindsOfChoice.flatMap((kind) => {
    const options = schema[kind];
    return Array.isArray(options) ? [{ kind, options }] : [];
  });

const objectKeys = ['properties', 'patternProperties', 'additionalProperties'];

const typeOfValue = (value: JsonValue): string => (value === null ? 'null' : typeof value);

function typesWithoutName(
  document: JsonObject,
  schema: JsonObject,
  variants: Shape['variants'],
  depth: number,
): string[] {
  if (objectKeys.some((key) => schema[key] !== undefined)) return ['object'];
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return [arrayType(document, schema, depth)];
  const { const: constant, enum: values } = schema;
  if (constant !== undefined) return [typeOfValue(constant)];
  if (Array.isArray(values)) return [`enum<${[...new Set(values.map(typeOfValue))].join(' | ')}>`];
  const options = variants.flatMap(({ options }) => options);
  if (options.length === 0 || depth > 2) return ['any'];
  return options.slice(0, 4).map((option) => {
    const { merged } = merge(document, option);
    return typeOf(document, merged, variantsIn(merged), depth + 1);
  });
}

/** What a reader calls one of several schemas: its title, or the name that it has in the specification, or its type. */
export function nameOf(document: JsonObject, schema: JsonValue): string {
  const reference = objectOf(schema)['$ref'];
  const title = textOf(objectOf(schema)['title']);
  if (title !== undefined) return title;
  const shape = shapeOf(document, schema);
  return shape.title ?? (typeof reference === 'string' ? nameOfReference(reference) : shape.type);
}
