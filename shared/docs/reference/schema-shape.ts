import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  ownValue,
  putValue,
  textOf,
  textsOf,
} from '#shared/docs/project/json-values.ts';
import { numberOf } from '#shared/docs/project/exact-numbers.ts';
import { childIn, kindIn, mappedSchemas } from './discriminator.ts';
import { nameOfReference, resolved, shownValue } from './open-slice.ts';

/** One level of a schema, with its references followed and `allOf` merged. */
export type Shape = {
  /** Type as shown to readers: `string<date-time> | null`, `object[]`. */
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
  /** Constraints by their names in the specification: `minLength: 3`. */
  constraints: string[];
  properties: Property[];
  /** Schema of the items of an array. */
  items: JsonValue | undefined;
  /** Schemas of the first items of an array, if these have separate schemas. */
  firstItems: readonly JsonValue[];
  /** Schemas of properties whose names match a pattern. */
  patterns: Property[];
  /** Schema of properties without a fixed name. */
  additional: JsonValue | undefined;
  variants: { kind: 'oneOf' | 'anyOf'; options: JsonValue[] }[];
  /** Labels that the author wants before and after the name. */
  labels: { pre: string[]; post: string[] };
  /** The merged schema of the specification, for keys that are shown only if a site wants them. */
  written: JsonObject;
  /** References that were followed to this schema. */
  names: readonly string[];
};

export type Property = { name: string; schema: JsonValue; isRequired: boolean };

const maxParts = 200;
const maxFirstItems = 20;
const constraintKeys = [
  'minimum exclusiveMinimum maximum exclusiveMaximum multipleOf minLength maxLength pattern',
  'minItems maxItems uniqueItems minContains maxContains minProperties maxProperties contentMediaType contentEncoding',
]
  .join(' ')
  .split(' ');

/** Key that adds the media type of a part to the schema of a form field. */
export const partType = 'x-bindery-part-type';

/**
 * Key with which a slice stores, for a schema whose content it leaves out, the least value in each direction: an example that has only required fields.
 */
export const leastValue = 'x-bindery-least';

/** Keys, by direction, for a least value that fits several options of a `oneOf`, because none was found that fits only one. */
export const ambiguousLeast = { request: 'ambiguousRequest', response: 'ambiguousResponse' } as const;

const kindsOfChoice = ['oneOf', 'anyOf'] as const;

/** The shape of a schema in the document of a slice. Never throws: invalid parts are left out. */
export const shapeOf = (document: JsonObject, schema: JsonValue | undefined): Shape =>
  once(shapes, document, schema, makeShape);

/** Cache by document, and reference or schema. Many fields may have one large schema, and the document of a slice does not change. */
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
    if (options.length > 0)
      variants.push({ kind, options: options.map((option) => withKind(document, merged, option)) });
  }
  if (variants.length === 0) {
    const mapped = mappedSchemas(merged).filter((reference) => !names.includes(reference));
    const options = mapped.map((reference) => withKind(document, merged, { $ref: reference }));
    if (options.length > 0) variants.push({ kind: 'oneOf', options });
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
    constraints: constraintsOf(document, merged),
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

function constraintsOf(document: JsonObject, schema: JsonObject): string[] {
  const constraints: string[] = [];
  for (const key of constraintKeys) {
    const value = schema[key];
    if (value === undefined || value === null || isJsonObject(value) || Array.isArray(value) || value === false)
      continue;
    constraints.push(`${key}: ${shownValue(value)}`);
  }
  if (typeof schema[partType] === 'string') constraints.push(`contentType: ${schema[partType]}`);
  for (const key of ['additionalProperties', 'unevaluatedProperties', 'additionalItems', 'items'])
    if (schema[key] === false) constraints.push(`${key}: false`);
  for (const key of ['dependentRequired', 'dependencies'])
    for (const [name, needed] of Object.entries(objectOf(schema[key])))
      if (Array.isArray(needed)) constraints.push(`${key}: ${name} → ${textsOf(needed).join(', ')}`);
  for (const key of ['not', 'contains', 'propertyNames', 'if', 'then', 'else', 'dependentSchemas']) {
    const value = schema[key];
    if (value !== undefined) constraints.push(`${key}: ${briefly(document, value)}`);
  }
  return constraints;
}

/** A short form of a schema: the name of its reference, its type if it has nothing else, or its JSON. */
function briefly(document: JsonObject, schema: JsonValue): string {
  const reference = objectOf(schema)['$ref'];
  if (typeof reference === 'string') return nameOfReference(reference);
  const keys = isJsonObject(schema) ? Object.keys(schema) : [];
  return keys.length === 1 && keys[0] === 'type' ? plainTypeOf(document, objectOf(schema)) : JSON.stringify(schema);
}

/**
 * The schema of further items. Before JSON Schema 2020, `items` may be a list, which is now `prefixItems`. `false` means that there are no further
 * items.
 */
const itemsOf = ({ items }: JsonObject): JsonValue | undefined =>
  Array.isArray(items) || items === false ? undefined : items;

function firstItemsOf({ prefixItems, items }: JsonObject): JsonValue[] {
  const written = Array.isArray(prefixItems) ? prefixItems : items;
  return Array.isArray(written) ? written.slice(0, maxFirstItems) : [];
}

/** The first example in a schema; OpenAPI 3.0 has one, 3.1 a list. */
export function exampleIn(schema: JsonObject): JsonValue | undefined {
  const { example, examples } = schema;
  if (example !== undefined) return example;
  return Array.isArray(examples) ? examples[0] : undefined;
}

/** Follows references and merges the parts of `allOf`: the properties of all parts, and for every other key the outermost value. */
export const merge = (
  document: JsonObject,
  schema: JsonValue | undefined,
): Readonly<{ merged: JsonObject; names: readonly string[] }> =>
  // Fast path: most fields are only a type with a description.
  isJsonObject(schema) && !isOfParts(schema)
    ? { merged: schema, names: noNames }
    : once(merges, document, schema, mergeParts);

const noNames: readonly string[] = [];

function mergeParts(document: JsonObject, schema: JsonValue | undefined): { merged: JsonObject; names: string[] } {
  const names = new Set<string>();
  let parts = 0;
  const of = (value: JsonValue | undefined, depth: number): JsonObject => {
    const { value: found, names: through } = resolved(document, value);
    parts += 1;
    if (depth > 20 || parts > maxParts || through.some((name) => names.has(name))) return {};
    // If a schema extends a parent that lists it as a variant, the parent's variants are left out.
    const child = depth === 0 ? undefined : (childIn(found, names) ?? kindlessChild(found, names));
    const own = child === undefined ? found : asParent(found, child);
    if (child === undefined) for (const name of through) names.add(name);
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

/** Finds the child of a parent with a discriminator, which need not list its children. */
const kindlessChild = ({ discriminator }: JsonObject, names: ReadonlySet<string>): string | undefined =>
  isJsonObject(discriminator) ? [...names][0] : undefined;

/** A parent that is merged into its child: without its variants, and with the child's discriminator value. */
function asParent({ oneOf: _, anyOf: _2, discriminator, ...rest }: JsonObject, child: string): JsonObject {
  const { propertyName } = objectOf(discriminator);
  if (typeof propertyName !== 'string') return rest;
  const properties = objectOf(rest['properties']);
  const kind = kindIn(objectOf(discriminator), child, ownValue(properties, propertyName));
  return kind === undefined ? rest : { ...rest, properties: { ...properties, [propertyName]: kind } };
}

/** A variant with its discriminator value. */
function withKind(document: JsonObject, { discriminator }: JsonObject, option: JsonValue): JsonValue {
  const { propertyName } = objectOf(discriminator);
  const { $ref: reference } = objectOf(option);
  if (typeof propertyName !== 'string' || typeof reference !== 'string') return option;
  const properties = objectOf(merge(document, option).merged['properties']);
  const property = ownValue(properties, propertyName);
  const kind =
    property === undefined ? undefined : kindIn(objectOf(discriminator), reference, merge(document, property).merged);
  return kind === undefined ? option : { allOf: [{ $ref: reference }], properties: { [propertyName]: kind } };
}

const isOfParts = ({ $ref, allOf, oneOf, anyOf }: JsonObject): boolean =>
  $ref !== undefined || allOf !== undefined || oneOf !== undefined || anyOf !== undefined;

function both(first: JsonObject, second: JsonObject): JsonObject {
  const made: JsonObject = { ...second, ...first };
  if (first['properties'] !== undefined || second['properties'] !== undefined)
    made['properties'] = bothProperties(objectOf(first['properties']), objectOf(second['properties']));
  if (Array.isArray(first['enum']) && Array.isArray(second['enum'])) {
    const others = new Set(second['enum'].map((value) => JSON.stringify(value)));
    made['enum'] = first['enum'].filter((value) => others.has(JSON.stringify(value)));
  }
  for (const [keys, closer] of narrowing)
    for (const key of keys) {
      const [own, other] = [numberOf(first[key]), numberOf(second[key])];
      if (own !== undefined && other !== undefined && closer(own, other) !== own) made[key] = second[key] ?? null;
    }
  const required = [...textsOf(second['required']), ...textsOf(first['required'])];
  if (required.length > 0) made['required'] = [...new Set(required)];
  for (const kind of kindsOfChoice) {
    const [own, other] = [first[kind], second[kind]];
    if (Array.isArray(own) && Array.isArray(other)) made[kind] = [...own, ...other];
  }
  return made;
}

const narrowing: [keys: string[], closer: (own: number, other: number) => number][] = [
  ['minimum exclusiveMinimum minLength minItems minProperties'.split(' '), Math.max],
  ['maximum exclusiveMaximum maxLength maxItems maxProperties'.split(' '), Math.min],
];

/** Merges two sets of properties: both definitions of a property apply, and if a key differs, the first is shown. */
function bothProperties(first: JsonObject, second: JsonObject): JsonObject {
  const made: JsonObject = { ...second };
  for (const [name, own] of Object.entries(first)) {
    const other = ownValue(second, name);
    const isOne = other === undefined || !isJsonObject(other) || !isJsonObject(own) || Object.keys(other).length === 0;
    putValue(made, name, isOne || JSON.stringify(own) === JSON.stringify(other) ? own : { allOf: [own, other] });
  }
  return made;
}

const isNull = (schema: JsonValue): boolean => isJsonObject(schema) && schema['type'] === 'null';

/** Returns X for `anyOf: [X, null]`, which is a nullable X. */
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

/** Type as shown to readers, for a schema without a reference and parts. */
const plainTypeOf = (document: JsonObject, schema: JsonObject): string =>
  typeOf(document, schema, variantsIn(schema), 0);

/** Text for the type of a schema, from the schema and the types directly inside it. */
function typeOf(document: JsonObject, schema: JsonObject, variants: Shape['variants'], depth: number): string {
  const written = textsOf(schema['type']);
  const isNullable = schema['nullable'] === true || written.includes('null') || hasNullOption(schema);
  // Each type counts once: nested lists would otherwise be visited once for each combination of repeated types.
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

/** `[string, integer]` if the first items each have a schema, `string[]` otherwise. */
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

const typeOfValue = (value: JsonValue): string =>
  value === null ? 'null' : isExactNumber(value) ? 'number' : typeof value;

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

/** Name of an alternative for readers: its title, its name in the specification, or its type. */
export function nameOf(document: JsonObject, schema: JsonValue): string {
  const [part] = Array.isArray(objectOf(schema)['allOf']) ? (objectOf(schema)['allOf'] as JsonValue[]) : [];
  const reference = objectOf(schema)['$ref'] ?? objectOf(part)['$ref'];
  const title = textOf(objectOf(schema)['title']);
  if (title !== undefined) return title;
  const shape = shapeOf(document, schema);
  return shape.title ?? (typeof reference === 'string' ? nameOfReference(reference) : shape.type);
}
