import { ApiError } from './errors.ts';

/** Deeper than anything that a client of ours says. */
const mostLevels = 100;
/** A conversation of 200 messages with 50 parts each. */
export const mostContainers = 10_000;
/** An export of 10,000 named pages, twice over. */
const mostValues = 20_000;

const code = (character: string): number => character.charCodeAt(0);
const quote = code('"');
const backslash = code('\\');
const comma = code(',');
const opening = new Set([code('{'), code('[')]);
const closing = new Set([code('}'), code(']')]);

/**
 * Throws `too_large` when a body of JSON would take long to parse and to check: a megabyte may hold half a million lists or wrong fields, which
 * keep a process from everybody's requests for seconds. Reads the text once and keeps nothing of it; whether it is JSON shows later.
 */
export function checkJsonShape(text: string | Buffer): void {
  const codeAt = typeof text === 'string' ? (at: number) => text.charCodeAt(at) : (at: number) => text[at] ?? 0;
  let [levels, containers, values, isInText] = [0, 0, 1, false];
  for (let at = 0; at < text.length; at += 1) {
    const found = codeAt(at);
    if (isInText) {
      if (found === backslash) at += 1;
      else if (found === quote) isInText = false;
    } else if (found === quote) {
      isInText = true;
    } else if (found === comma) {
      values += 1;
      if (values > mostValues) throw tooMuch('has more', mostValues, 'values');
    } else if (opening.has(found)) {
      levels += 1;
      containers += 1;
      if (levels > mostLevels) throw tooMuch('is nested deeper', mostLevels, 'levels');
      if (containers > mostContainers) throw tooMuch('has more', mostContainers, 'objects and lists');
    } else if (closing.has(found)) {
      levels -= 1;
    }
  }
}

const tooMuch = (what: string, most: number, of: string): ApiError =>
  new ApiError('too_large', `The body ${what} than ${most} ${of}.`);
