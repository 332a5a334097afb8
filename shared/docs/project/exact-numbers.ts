import { isExactNumber, type JsonValue } from './json-values.ts';

/*
 * JavaScript has 9007199254740993 as 9007199254740992, and forgets the zero of 1.0. A number of which it would write other digits is kept as it is
 * written, as `JSON.rawJSON` has it: `JSON.stringify` writes it so, and for all who look at values it is neither an object nor a number.
 */

/** JSON of ECMAScript 2026, which the compiler's types do not have yet. */
const newJson = JSON as unknown as {
  rawJSON: (text: string) => JsonValue;
  parse: (text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown) => unknown;
};

const inJson = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const longest = 1_000;

/** A number as it is written; `value`: what it is in JavaScript, in a notation that JSON does not have. */
export function exactNumber(source: string, value = Number(source)): JsonValue {
  if (String(value) === source) return value;
  if (source.length <= longest && inJson.test(source)) return newJson.rawJSON(source);
  return Number.isFinite(value) ? value : null;
}

/** Without one of these, no number in a text can be another one. They may also be in texts, which only costs time. */
const mayBeExact = /\d{16}|\d[eE]|\.\d*0|-0/;

/** JSON with its numbers as they are written. Throws as `JSON.parse` does. */
export function parseExactJson(text: string): unknown {
  if (!mayBeExact.test(text)) return JSON.parse(text);
  return newJson.parse(text, (_key, value, context) =>
    typeof value === 'number' ? exactNumber(context.source ?? String(value), value) : value,
  );
}

/** The number that a value is, as far as JavaScript has it; undefined for what is none. */
export function numberOf(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number') return value;
  return value !== undefined && isExactNumber(value) ? Number(JSON.stringify(value)) : undefined;
}
