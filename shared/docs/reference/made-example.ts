import { numberOf } from '#shared/docs/project/exact-numbers.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  ownValue,
  putValue,
  textOf,
  textsOf,
} from '#shared/docs/project/json-values.ts';
import { isBinary } from './form-parts.ts';
import { type Choice, type Direction, fitsSchema, type StepsLeft } from './schema-fits.ts';
import { ambiguousLeast, leastValue, merge, type Property, type Shape, shapeOf } from './schema-shape.ts';
import { exampleOfFormat, madeFile } from './text-formats.ts';
import { textForPattern } from './text-for-pattern.ts';

/** Selection of fields for a generated example, and their maximum depth. With `required` it has only required fields. */
export type ExampleFields = { defaults?: 'required' | 'all'; depth?: number };

const maxValues = 60;
/** Maximum number of optional fields. A request with more has only the required ones, because it is repeated in eight languages. */
const mostOptional = 8;
const maxDepth = 8;
const mostOptions = 6;
const mostItems = 20;
/** Limit that all checks of one example share: nested choices could otherwise take half a minute. */
const mostSteps = 100_000;

/**
 * Generates a value that its schema allows; undefined if none was found. The same input gives the same value.
 *
 * `oneOf` wants exactly one option to allow the value, but options often allow the same objects. If `ambiguous` is given, it is called in that case,
 * and the value fits at least one option.
 */
export function madeExample(
  document: JsonObject,
  schema: JsonValue,
  use: Direction,
  fields: ExampleFields = {},
  ambiguous?: () => void,
): JsonValue | undefined {
  const exact = exampleWith('exact', document, schema, use, fields);
  if (exact !== undefined || ambiguous === undefined) return exact;
  const any = exampleWith('any', document, schema, use, fields);
  if (any !== undefined) ambiguous();
  return any;
}

function exampleWith(
  choice: Choice,
  document: JsonObject,
  schema: JsonValue,
  use: Direction,
  fields: ExampleFields,
): JsonValue | undefined {
  const tries: ExampleFields[] = [
    fields,
    { ...fields, defaults: 'required' },
    { defaults: 'required', depth: maxDepth },
    // If exactly one of several schemas must fit, only optional fields may distinguish them.
    { ...fields, defaults: 'all' },
    { defaults: 'all', depth: maxDepth },
  ];
  const left: StepsLeft = { count: mostSteps };
  for (const each of tries) {
    const made = new Maker(document, use, each, left, choice).make(schema, 0, new Set());
    if (made !== undefined && fitsSchema(document, schema, made, use, left, choice)) return made;
  }
  return undefined;
}

class Maker {
  readonly #document: JsonObject;
  readonly #use: Direction;
  readonly #fields: ExampleFields;
  readonly #left: StepsLeft;
  readonly #choice: Choice;
  #values = 0;

  constructor(document: JsonObject, use: Direction, fields: ExampleFields, left: StepsLeft, choice: Choice) {
    this.#left = left;
    this.#choice = choice;
    this.#document = document;
    this.#use = use;
    this.#fields = fields;
  }

  /** Generates a value. `active`: references that are being followed, which are not followed again. */
  make(part: JsonValue | undefined, depth: number, active: ReadonlySet<string>): JsonValue | undefined {
    this.#values += 1;
    this.#left.count -= 1;
    if (this.#left.count <= 0) return undefined;
    const { merged, names } = merge(this.#document, part);
    const given = this.#first(part, givenIn(merged));
    if (given !== undefined) return given;
    if (merged[leastValue] !== undefined) return this.#least(part, merged);
    const { depth: deepest = maxDepth } = this.#fields;
    const isInside = names.some((name) => active.has(name));
    // Required values are made a little deeper than optional ones.
    if (isInside || depth > deepest + 3 || this.#values > 4 * maxValues) return this.#first(part, [[], {}, null]);
    const inside = new Set([...active, ...names]);
    const isBrief = depth > deepest || this.#values > maxValues;
    const found = typesOf(merged).flatMap((type) => {
      const made = this.#ofType(type, part, merged, { depth, inside, isBrief });
      return made === undefined ? [] : [made];
    });
    const made = this.#first(part, found);
    return made === undefined ? this.#option(part, {}, { depth, inside, isBrief }) : made;
  }

  #first(part: JsonValue | undefined, candidates: readonly JsonValue[]): JsonValue | undefined {
    return candidates.find((value) => this.#fits(part, value));
  }

  #fits(part: JsonValue | undefined, value: JsonValue): boolean {
    return fitsSchema(this.#document, part, value, this.#use, this.#left, this.#choice);
  }

  /**
   * The value of a schema whose content the slice leaves out: its least value. Other parts that are merged into the schema may be whole in the slice.
   */
  #least(part: JsonValue | undefined, merged: JsonObject): JsonValue | undefined {
    const least = objectOf(merged[leastValue]);
    const value =
      ownValue(least, this.#use) ?? (this.#choice === 'any' ? ownValue(least, ambiguousLeast[this.#use]) : undefined);
    return value === undefined ? undefined : this.#first(part, [value]);
  }

  #ofType(type: string, part: JsonValue | undefined, merged: JsonObject, at: Place): JsonValue | undefined {
    switch (type) {
      case 'object':
        return this.#object(part, merged, at);
      case 'array':
        return this.#list(part, merged, at);
      case 'integer':
      case 'number':
        return this.#first(part, numbersFor(merged, type === 'integer'));
      case 'string':
        return this.#first(part, textsFor(merged, '<string>'));
      case 'boolean':
        return this.#first(part, [true, false]);
      case 'null':
        return null;
      default:
        if (shapeOf(this.#document, part).variants.length > 0) return undefined;
        return this.#first(part, [...textsFor(merged, '<value>'), ...numbersFor(merged, false), true, {}, [], null]);
    }
  }

  /** Generates a value for one of several schemas, including the members made so far. */
  #option(part: JsonValue | undefined, made: JsonObject, at: Place): JsonValue | undefined {
    const { depth, inside, isBrief } = at;
    const { variants, properties, written } = shapeOf(this.#document, part);
    let found: JsonValue | undefined = made;
    for (const { options } of variants) {
      const before: JsonObject = objectOf(found);
      const all = options.slice(0, mostOptions);
      found = undefined;
      for (const option of all) {
        const chosen = this.make(option, isBrief ? depth + 2 : depth + 1, inside);
        if (chosen === undefined) continue;
        if (!isJsonObject(chosen)) {
          if (this.#fits(part, chosen)) return chosen;
          found ??= chosen;
          continue;
        }
        const whole: JsonObject = { ...before, ...chosen };
        const own = shapeOf(this.#document, option);
        const isOwn = (name: string): boolean => own.properties.some((each) => each.name === name);
        // An option may require a member whose schema is outside of it.
        const asked = textsOf(own.written['required']);
        for (const { name, schema } of properties) {
          if (!asked.includes(name) || isOwn(name)) continue;
          const value = ownValue(before, name) ?? this.make(schema, depth + 1, inside);
          if (value !== undefined) putValue(whole, name, value);
        }
        const kept = new Set([...textsOf(written['required']), ...asked]);
        const others = new Set(
          all
            .flatMap((each) => textsOf(shapeOf(this.#document, each).written['required']))
            .filter((name) => !kept.has(name)),
        );
        const without = Object.fromEntries(Object.entries(whole).filter(([name]) => !others.has(name)));
        const fitting = this.#first(part, [whole, without]);
        if (fitting !== undefined) return fitting;
        found ??= whole;
      }
    }
    return variants.length === 0 ? undefined : found;
  }

  #object(part: JsonValue | undefined, merged: JsonObject, at: Place): JsonValue | undefined {
    const shape = shapeOf(this.#document, part);
    const unsent = this.#use === 'request' ? 'readOnly' : 'writeOnly';
    const made: JsonObject = {};
    const isKept = ({ schema }: Property): boolean => merge(this.#document, schema).merged[unsent] !== true;
    for (const { name, schema, isRequired } of this.#wanted(shape, at).filter(isKept)) {
      if (this.#values > maxValues && !isRequired) continue;
      const value = this.make(schema, at.depth + 1, at.inside);
      if (value !== undefined) putValue(made, name, value);
    }
    this.#complete(made, shape, merged, at);
    const whole = shape.variants.length > 0 ? this.#option(part, made, at) : made;
    if (whole !== undefined && this.#fits(part, whole)) return whole;
    // An optional member may prevent the value from fitting.
    const needed = new Set(textsOf(merged['required']));
    const least = Object.fromEntries(Object.entries(objectOf(whole)).filter(([name]) => needed.has(name)));
    return this.#first(part, [least, {}]);
  }

  #wanted({ properties, variants }: Shape, { isBrief }: Place): Property[] {
    const { defaults } = this.#fields;
    const isLong = properties.length > mostOptional && (properties.some(isRequired) || variants.length > 0);
    const isShort = this.#use === 'request' && (defaults === undefined ? isLong : defaults === 'required');
    return isBrief || isShort || defaults === 'required' ? properties.filter(isRequired) : properties;
  }

  /** Adds members that a schema requires by other means than a property. */
  #complete(made: JsonObject, shape: Shape, merged: JsonObject, { depth, inside, isBrief }: Place): void {
    const add = (name: string, schema: JsonValue | undefined): void => {
      if (Object.hasOwn(made, name)) return;
      const value = this.make(schema ?? {}, depth + 1, inside);
      if (value !== undefined) putValue(made, name, value);
    };
    const schemaOf = (name: string) => shape.properties.find((each) => each.name === name)?.schema ?? shape.additional;
    const known = new Set(shape.properties.map(({ name }) => name));
    for (const name of textsOf(merged['required'])) if (!known.has(name)) add(name, shape.additional);
    for (const [name, needed] of Object.entries(objectOf(merged['dependentRequired'])))
      if (Object.hasOwn(made, name)) for (const other of textsOf(needed)) add(other, schemaOf(other));
    const least = numberOf(merged['minProperties']) ?? 0;
    if (shape.properties.length === 0 && shape.additional !== undefined && !isBrief)
      add(textsFor(merge(this.#document, merged['propertyNames']).merged, '{key}')[0] ?? '{key}', shape.additional);
    for (const { name, schema } of shape.properties) if (Object.keys(made).length < least) add(name, schema);
    for (let at = 1; Object.keys(made).length < least && at <= mostItems; at += 1) add(`{key${at}}`, shape.additional);
  }

  #list(part: JsonValue | undefined, merged: JsonObject, { depth, inside, isBrief }: Place): JsonValue | undefined {
    const { items, firstItems } = shapeOf(this.#document, part);
    const least = Math.min(mostItems, numberOf(merged['minItems']) ?? 0);
    const wanted = Math.max(least, isBrief ? 0 : 1);
    const list: JsonValue[] = [];
    for (const item of firstItems.slice(0, Math.max(least, isBrief ? 0 : firstItems.length))) {
      const value = this.make(item, depth + 1, inside);
      if (value === undefined) return undefined;
      list.push(value);
    }
    if (merged['contains'] !== undefined) {
      const value = this.make(merged['contains'], depth + 1, inside);
      if (value !== undefined) list.push(value);
    }
    const values =
      list.length < wanted && (items !== undefined || least > 0) ? this.#items(items, wanted, depth, inside) : [];
    for (const value of values) if (list.length < wanted) list.push(value);
    return this.#first(part, [list, list.slice(0, least), ...list.map((_, at) => list.slice(0, at + 1)), []]);
  }

  /** Generates that many values of a schema, different ones if that is easy. */
  #items(items: JsonValue | undefined, count: number, depth: number, inside: ReadonlySet<string>): JsonValue[] {
    const value = this.make(items ?? {}, depth + 1, inside);
    if (value === undefined) return [];
    const { merged } = merge(this.#document, items);
    const values = Array.isArray(merged['enum']) ? merged['enum'] : [];
    const other = (at: number): JsonValue[] => [
      ...values.slice(at, at + 1),
      ...(typeof value === 'number' ? [value + at, value - at] : []),
      ...(typeof value === 'string' ? [`${value}${at}`, `${value.slice(0, -1)}${at}`, `${at}${value.slice(1)}`] : []),
    ];
    return Array.from({ length: count }, (_, at) => (at === 0 ? value : (this.#first(items, other(at)) ?? value)));
  }
}

type Place = { depth: number; inside: ReadonlySet<string>; isBrief: boolean };

const isRequired = ({ isRequired }: Property): boolean => isRequired;

/** Values that the schema contains, which are preferred. */
const givenIn = ({ example, examples, default: byDefault, const: constant, enum: values }: JsonObject): JsonValue[] => [
  ...(example === undefined ? [] : [example]),
  ...(Array.isArray(examples) ? examples.slice(0, mostOptions) : []),
  ...(byDefault === undefined ? [] : [byDefault]),
  ...(constant === undefined ? [] : [constant]),
  ...(Array.isArray(values) ? values.slice(0, 3 * mostItems) : []),
];

const objectKeys = 'properties patternProperties additionalProperties required minProperties dependentRequired'.split(
  ' ',
);

/** Types that a value may have, `null` last; without a type, all types. */
function typesOf(schema: JsonObject): string[] {
  const written = textsOf(schema['type']);
  if (written.length > 0)
    return [...written.filter((type) => type !== 'null'), 'null'].filter(
      (type) => type !== 'null' || written.includes('null'),
    );
  if (objectKeys.some((key) => schema[key] !== undefined)) return ['object', ''];
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return ['array', ''];
  return [''];
}

/** Candidate numbers. If any number is within the bounds and a multiple, one of the candidates is. */
function numbersFor(schema: JsonObject, isInteger: boolean): number[] {
  const { exclusiveMinimum, exclusiveMaximum } = schema;
  const step = Math.abs(numberOf(schema['multipleOf']) ?? 0) || (isInteger ? 1 : 0);
  const bounds = [schema['minimum'], exclusiveMinimum, schema['maximum'], exclusiveMaximum].flatMap(
    (value) => numberOf(value) ?? [],
  );
  const [least, most] = [Math.min(...bounds), Math.max(...bounds)];
  const near = [123, ...bounds.toReversed(), 0, 1];
  if (bounds.length > 1) near.push((least + most) / 2);
  if (step === 0) return near.flatMap((value) => [value, value + 1, value - 1, value + 0.1, value - 0.1]).map(rounded);
  return near.flatMap((value) => {
    const count = Math.round(value / step);
    return [count, count + 1, count - 1, count + 2].map((each) => rounded(each * step));
  });
}

const rounded = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(12)));

/** Candidate texts. One of them should have the format, pattern and length. */
function textsFor(schema: JsonObject, plain: string): string[] {
  const { format, pattern } = schema;
  const least = numberOf(schema['minLength']) ?? 0;
  const most = numberOf(schema['maxLength']) ?? Infinity;
  const words = plain.replaceAll(/[<>]/g, '');
  const known = isBinary(schema) ? madeFile : exampleOfFormat(textOf(format) ?? '');
  const like = typeof pattern === 'string' ? textForPattern(pattern, least, most) : undefined;
  const texts = [known, like, plain].filter((text) => text !== undefined);
  const sized = least <= 1_000 ? [words.padEnd(least, words), words.slice(0, Math.min(most, words.length))] : [];
  return [...texts, ...sized];
}
