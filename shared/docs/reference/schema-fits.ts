import { numberOf } from '#shared/docs/project/exact-numbers.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectOf,
  ownValue,
  textsOf,
} from '#shared/docs/project/json-values.ts';
import { childIn, kindOf } from './discriminator.ts';
import { resolved } from './open-slice.ts';
import { fitsFormat } from './text-formats.ts';
import { isLikePattern } from './text-for-pattern.ts';

/** Direction of a value. A request has no read-only members, and a response no write-only ones. */
export type Direction = 'request' | 'response';

/** With `exact`, a value fits a `oneOf` if exactly one option allows it, as JSON Schema says; with `any`, if at least one does. */
export type Choice = 'exact' | 'any';

const maxSteps = 20_000;

/** Remaining comparisons of schema parts with values, shared by several checks. */
export type StepsLeft = { count: number };
const maxDepth = 60;

/**
 * True if a value is known to fit a schema; false also if that cannot be determined. Schemas are those of OpenAPI 3.0 and 3.1 and of JSON Schema
 * since draft 4. `left` is the limit that related checks share; without it this check has its own.
 */
export function fitsSchema(
  document: JsonObject,
  schema: JsonValue | undefined,
  value: JsonValue,
  direction?: Direction,
  left: StepsLeft = { count: maxSteps },
  choice: Choice = 'exact',
): boolean {
  return new Check(document, direction, left, choice).fits(schema, value, 0, new Set());
}

class Check {
  readonly #document: JsonObject;
  readonly #unsent: 'readOnly' | 'writeOnly' | undefined;
  readonly #left: StepsLeft;
  readonly #choice: Choice;
  #steps = 0;

  constructor(document: JsonObject, direction: Direction | undefined, left: StepsLeft, choice: Choice) {
    this.#choice = choice;
    this.#document = document;
    this.#left = left;
    this.#unsent = direction && (direction === 'request' ? 'readOnly' : 'writeOnly');
  }

  /**
   * True if the value fits. `active`: references that were followed for the same value. A parent checks its variants, and they refer back to their
   * parent, which is then active and not checked again.
   */
  fits(written: JsonValue | undefined, value: JsonValue, depth: number, active: ReadonlySet<string> = none): boolean {
    this.#steps += 1;
    this.#left.count -= 1;
    if (this.#steps > maxSteps || this.#left.count < 0 || depth > maxDepth) return false;
    if (written === false) return false;
    if (!isJsonObject(written)) return true;
    const { value: schema, names } = resolved(this.#document, written);
    if (names.some((name) => active.has(name))) return true;
    if (value === null && schema['nullable'] === true) return true;
    return (
      fitsType(schema['type'], value) &&
      fitsValues(schema, value) &&
      this.#parts(schema, value, depth + 1, names.length > 0 ? new Set([...active, ...names]) : active) &&
      (typeof value !== 'string' || fitsText(schema, value)) &&
      (numberOf(value) === undefined || fitsNumber(schema, numberOf(value) ?? 0)) &&
      (!Array.isArray(value) || this.#list(schema, value, depth + 1)) &&
      (!isJsonObject(value) || this.#object(schema, value, depth + 1))
    );
  }

  #parts(schema: JsonObject, value: JsonValue, depth: number, active: ReadonlySet<string>): boolean {
    const { allOf, not } = schema;
    const holds = (part: JsonValue): boolean => this.fits(part, value, depth, active);
    if (Array.isArray(allOf) && !allOf.every(holds)) return false;
    const child = childIn(schema, active);
    if (child !== undefined && !isOfKind(schema, child, value)) return false;
    for (const kind of ['anyOf', 'oneOf'] as const) {
      const written = schema[kind];
      if (child !== undefined || !Array.isArray(written) || written.length === 0) continue;
      const options = optionsOfKind(schema, written, value);
      const count = options.filter(holds).length;
      if (count === 0 || (kind === 'oneOf' && count > 1 && this.#choice === 'exact')) return false;
    }
    if (not !== undefined && holds(not)) return false;
    if (schema['if'] === undefined) return true;
    const branch = schema[holds(schema['if']) ? 'then' : 'else'];
    return branch === undefined || holds(branch);
  }

  #list(schema: JsonObject, list: JsonValue[], depth: number): boolean {
    const { items, prefixItems, additionalItems, contains, uniqueItems } = schema;
    if (!isWithin(list.length, schema, 'minItems', 'maxItems')) return false;
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    const rest = Array.isArray(items) ? additionalItems : items;
    if (!list.every((item, at) => this.fits(at < first.length ? first[at] : rest, item, depth))) return false;
    if (uniqueItems === true && new Set(list.map(canonical)).size < list.length) return false;
    if (contains === undefined) return true;
    const count = list.filter((item) => this.fits(contains, item, depth)).length;
    return count >= (numberOf(schema['minContains']) ?? 1) && count <= (numberOf(schema['maxContains']) ?? Infinity);
  }

  #object(schema: JsonObject, object: JsonObject, depth: number): boolean {
    const keys = Object.keys(object);
    if (!isWithin(keys.length, schema, 'minProperties', 'maxProperties')) return false;
    const properties = objectOf(schema['properties']);
    const patterns = Object.entries(objectOf(schema['patternProperties']));
    const { additionalProperties, propertyNames } = schema;
    const isMissing = (key: string): boolean => !Object.hasOwn(object, key) && !this.#isUnsent(properties, key);
    if (textsOf(schema['required']).some(isMissing)) return false;
    for (const key of keys) {
      const value = object[key] ?? null;
      if (propertyNames !== undefined && !this.fits(propertyNames, key, depth)) return false;
      const own = ownValue(properties, key);
      if (own !== undefined && !this.fits(own, value, depth)) return false;
      const matching = patterns.filter(([pattern]) => isLikePattern(key, pattern) !== false);
      if (!matching.every(([, like]) => this.fits(like, value, depth))) return false;
      const isAdditional = own === undefined && matching.length === 0;
      if (isAdditional && additionalProperties !== undefined && !this.fits(additionalProperties, value, depth))
        return false;
    }
    if (schema['unevaluatedProperties'] === false) {
      const evaluated = this.#evaluated(schema, object, depth);
      if (keys.some((key) => !evaluated(key))) return false;
    }
    return this.#dependencies(schema, object, isMissing, depth);
  }

  #dependencies(schema: JsonObject, object: JsonObject, isMissing: (key: string) => boolean, depth: number): boolean {
    for (const kind of ['dependentRequired', 'dependentSchemas', 'dependencies'])
      for (const [key, needed] of Object.entries(objectOf(schema[kind]))) {
        if (!Object.hasOwn(object, key)) continue;
        if (Array.isArray(needed) ? textsOf(needed).some(isMissing) : !this.fits(needed, object, depth)) return false;
      }
    return true;
  }

  /** Predicate for the keys of an object that some part of a schema evaluates. */
  #evaluated(written: JsonValue | undefined, object: JsonObject, depth: number): (key: string) => boolean {
    const { value: schema } = resolved(this.#document, written);
    const { allOf, anyOf, oneOf, additionalProperties } = schema;
    if (depth > maxDepth || additionalProperties !== undefined) return () => true;
    const parts = [anyOf, oneOf].flatMap((list) =>
      (Array.isArray(list) ? list : []).filter((part) => this.fits(part, object, depth + 1)),
    );
    const inside = [...(Array.isArray(allOf) ? allOf : []), ...parts].map((part) =>
      this.#evaluated(part, object, depth + 1),
    );
    const patterns = Object.keys(objectOf(schema['patternProperties']));
    return (key) =>
      Object.hasOwn(objectOf(schema['properties']), key) ||
      patterns.some((pattern) => isLikePattern(key, pattern) === true) ||
      inside.some((part) => part(key));
  }

  #isUnsent(properties: JsonObject, key: string): boolean {
    if (this.#unsent === undefined) return false;
    const { value } = resolved(this.#document, ownValue(properties, key));
    return value[this.#unsent] === true;
  }
}

const none: ReadonlySet<string> = new Set();

/** True if the object's discriminator value is the one of `child`, the variant that includes the parent. */
function isOfKind({ discriminator }: JsonObject, child: string, value: JsonValue): boolean {
  const { propertyName } = objectOf(discriminator);
  const kind = typeof propertyName === 'string' ? ownValue(objectOf(value), propertyName) : undefined;
  return kind === undefined || kind === kindOf(objectOf(discriminator), child);
}

/** Narrows alternatives to the one that the value selects by its discriminator; returns all if it selects none of them. */
function optionsOfKind({ discriminator }: JsonObject, options: JsonValue[], value: JsonValue): JsonValue[] {
  const { propertyName } = objectOf(discriminator);
  const kind = typeof propertyName === 'string' ? ownValue(objectOf(value), propertyName) : undefined;
  if (typeof kind !== 'string') return options;
  const chosen = options.filter((option) => {
    const { $ref: reference } = objectOf(option);
    return typeof reference === 'string' && kindOf(objectOf(discriminator), reference) === kind;
  });
  return chosen.length > 0 ? chosen : options;
}

function fitsType(type: JsonValue | undefined, value: JsonValue): boolean {
  const types = textsOf(type);
  if (types.length === 0) return true;
  const number = numberOf(value);
  return types.some((each) => {
    if (each === 'integer') return number !== undefined && (Number.isInteger(number) || !Number.isFinite(number));
    if (each === 'number') return number !== undefined;
    if (each === 'array') return Array.isArray(value);
    if (each === 'object') return isJsonObject(value);
    if (each === 'null') return value === null;
    if (each === 'file') return typeof value === 'string';
    return typeof value === each;
  });
}

function fitsValues({ enum: values, const: constant }: JsonObject, value: JsonValue): boolean {
  if (constant !== undefined && canonical(constant) !== canonical(value)) return false;
  return !Array.isArray(values) || values.some((each) => canonical(each) === canonical(value));
}

function fitsText(schema: JsonObject, text: string): boolean {
  if (!isWithin(Array.from(text).length, schema, 'minLength', 'maxLength')) return false;
  const { pattern, format } = schema;
  if (typeof pattern === 'string' && isLikePattern(text, pattern) !== true) return false;
  return typeof format !== 'string' || fitsFormat(text, format);
}

function fitsNumber(schema: JsonObject, value: number): boolean {
  const [least, most] = [numberOf(schema['minimum']), numberOf(schema['maximum'])];
  const { exclusiveMinimum, exclusiveMaximum } = schema;
  if (least !== undefined && (exclusiveMinimum === true ? value <= least : value < least)) return false;
  if (most !== undefined && (exclusiveMaximum === true ? value >= most : value > most)) return false;
  if (value <= (numberOf(exclusiveMinimum) ?? -Infinity)) return false;
  if (value >= (numberOf(exclusiveMaximum) ?? Infinity)) return false;
  if (schema['format'] === 'int32' && Math.abs(value + 0.5) > 2 ** 31) return false;
  const step = numberOf(schema['multipleOf']);
  return step === undefined || step <= 0 || Number.isInteger(value / step);
}

const isWithin = (count: number, schema: JsonObject, least: string, most: string): boolean =>
  count >= (numberOf(schema[least]) ?? 0) && count <= (numberOf(schema[most]) ?? Infinity);

/** A text that is equal for values that are equal in JSON Schema, whatever the order of keys and the digits of numbers. */
function canonical(value: JsonValue): string {
  const number = numberOf(value);
  if (number !== undefined) return Number.isSafeInteger(number) ? String(number) : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`);
  return `{${entries.sort().join()}}`;
}
