import { ApiError } from './errors.ts';

/** Maximum nesting. Deeper than any request of our clients. */
const mostLevels = 100;
/** Maximum number of objects and lists. Enough for a conversation of 200 messages with 50 parts each. */
export const mostContainers = 10_000;
/** Maximum number of values. Enough for an export of 10,000 named pages, twice over. */
const mostValues = 20_000;

const code = (character: string): number => character.charCodeAt(0);
const quote = code('"');
const backslash = code('\\');
const comma = code(',');
const opening = new Set([code('{'), code('[')]);
const closing = new Set([code('}'), code(']')]);

/**
 * Throws `too_large` for a JSON body that would take long to parse and validate: a megabyte may contain half a million lists or wrong fields, which
 * block a process for seconds. Scans the text once and keeps nothing; syntax errors are found later, by the parser.
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
