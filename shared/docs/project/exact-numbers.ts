import { isExactNumber, type JsonValue } from './json-values.ts';

/*
 * JavaScript reads 9007199254740993 as 9007199254740992, and drops the zero of 1.0. A number that JavaScript would write with other digits is kept as
 * written, in a `JSON.rawJSON` object: `JSON.stringify` writes it unchanged, and code that inspects values sees neither a plain object nor a number.
 */

/** JSON functions of ECMAScript 2026, which are missing from the compiler's types. */
const newJson = JSON as unknown as {
  rawJSON: (text: string) => JsonValue;
  parse: (text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown) => unknown;
};

const inJson = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const longest = 1_000;

/** A number with its digits as written. `value` is its JavaScript value, for a notation that JSON does not have. */
export function exactNumber(source: string, value = Number(source)): JsonValue {
  if (String(value) === source) return value;
  if (source.length <= longest && inJson.test(source)) return newJson.rawJSON(source);
  return Number.isFinite(value) ? value : null;
}

/** Matches texts whose numbers may need their digits kept. Digits inside strings match too, which only costs time. */
const mayBeExact = /\d{16}|\d[eE]|\.\d*0|-0/;

/** Parses JSON and keeps numbers as they are written. Throws like `JSON.parse`. */
export function parseExactJson(text: string): unknown {
  if (!mayBeExact.test(text)) return JSON.parse(text);
  return newJson.parse(text, (_key, value, context) =>
    typeof value === 'number' ? exactNumber(context.source ?? String(value), value) : value,
  );
}

/** The value as a JavaScript number; undefined if it is not a number. */
export function numberOf(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number') return value;
  return value !== undefined && isExactNumber(value) ? Number(JSON.stringify(value)) : undefined;
}
