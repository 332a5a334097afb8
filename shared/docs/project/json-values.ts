/** Any value that JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

const dangerousKeys = new Set(['__proto__', 'constructor', 'prototype']);
const maxDepth = 64;

/**
 * A copy of a parsed value that is safe to use: plain objects and arrays only, without the keys that reach prototypes. Values that JSON cannot hold
 * (NaN, infinities, undefined, functions) become null, and so do values nested deeper than 64.
 */
export function plainJson(value: unknown, depth = 0): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || depth >= maxDepth) return null;
  if (isExactNumber(value)) return Number(JSON.stringify(value));
  if (Array.isArray(value)) return value.map((item) => plainJson(item, depth + 1));
  const copy: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined && !dangerousKeys.has(key)) copy[key] = plainJson(item, depth + 1);
  }
  return copy;
}

/** Sets a key that a tenant chose. `__proto__` becomes an ordinary key and does not change the prototype. */
export function putValue(object: JsonObject, key: string, value: JsonValue): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** JSON functions of ECMAScript 2026, which are missing from the compiler's types. */
type RawJson = { isRawJSON: (value: unknown) => boolean };

/** True for a number of an API description whose digits are kept. Only `exactNumber` makes these. */
export const isExactNumber = (value: unknown): boolean => (JSON as unknown as RawJson).isRawJSON(value);

/** Each of these functions reads one value of a configuration, and treats a value of another type as absent. */
export function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value !== undefined && isExactNumber(value)) return JSON.stringify(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** The value if it is an object, otherwise an empty object. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The own value of a key, because keys may be names that every object inherits, such as `constructor`. */
export const ownValue = (object: JsonObject, key: string): JsonValue | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** The items of a list; any other value counts as a list of one item, and a missing or null one as an empty list. */
export function listOf(value: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** The items of a list, or the one value, that are objects. */
export function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return listOf(value).filter((item) => isJsonObject(item));
}

/** The items of a list, or the one value, that are texts, numbers or booleans, as texts. */
export function textsOf(value: JsonValue | undefined): string[] {
  return listOf(value).flatMap((item) => textOf(item) ?? []);
}

/** The values of an object that are texts. */
export function textRecordOf(value: JsonValue | undefined): Record<string, string> {
  const record: Record<string, string> = {};
  for (const [key, item] of Object.entries(objectOf(value))) {
    const text = textOf(item);
    if (text !== undefined) record[key] = text;
  }
  return record;
}

/** Reads one value for both appearances, or `{ light, dark }`. If one of the two is missing, the other is used for both. */
export function lightDarkOf(value: JsonValue | undefined): { light: string; dark: string } | undefined {
  const both = textOf(value);
  if (both !== undefined) return { light: both, dark: both };
  const { light, dark } = textRecordOf(value);
  if (light === undefined && dark === undefined) return undefined;
  return { light: light ?? dark ?? '', dark: dark ?? light ?? '' };
}

/** An object without the keys whose value is undefined, as `exactOptionalPropertyTypes` requires. */
export function withoutUndefined<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

/**
 * A copy through JSON, without keys whose value is undefined. V8 keeps a whole text in memory as long as a substring of it exists; the copy lets it
 * be freed.
 */
export const jsonCopy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
