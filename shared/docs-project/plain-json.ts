/** Any value that JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

const dangerousKeys = new Set(['__proto__', 'constructor', 'prototype']);
const MAX_DEPTH = 64;

/**
 * A copy of what a parser gave, safe to carry on: plain objects and arrays only, without the keys that reach prototypes. What JSON cannot
 * hold (NaN, infinities, undefined, functions) becomes null, and so does what is nested deeper than 64.
 */
export function plainJson(value: unknown, depth = 0): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || depth >= MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => plainJson(item, depth + 1));
  const copy: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined && !dangerousKeys.has(key)) copy[key] = plainJson(item, depth + 1);
  }
  return copy;
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
