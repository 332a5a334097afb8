import { isJsonObject, type JsonValue } from '#shared/docs/project/json-values.ts';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';

/**
 * The one right repair of a finding. `address`: an address in a source, in its place or behind it. `void-tag`: a tag such as `<br>` gets its slash.
 * `redirect`: a redirect is added to the configuration. Lines and columns count from 1.
 */
export type Repair =
  | { kind: 'address'; file: string; line: number; column: number | undefined; from: string; to: string }
  | { kind: 'void-tag'; file: string; line: number; column: number; name: string }
  | { kind: 'redirect'; file: string; source: string; destination: string };

/** The repair of a finding of the parser of pages. Other repairs come with their findings. Pure. */
export function repairOf({ code, message, file, line, column }: Diagnostic): Repair | undefined {
  const name = code === 'mdx-repaired' ? /^<(\w+)> has no slash at its end/.exec(message)?.[1] : undefined;
  if (name === undefined || line === undefined || column === undefined) return undefined;
  return { kind: 'void-tag', file, line, column, name };
}

type Edit = { start: number; end: number; text: string; repair: Repair };

/**
 * A file's text after its repairs, and the repairs that were made. The text may have line ends of any system, which stay. A repair whose place does
 * not have the expected text is left out. Pure.
 */
export function repaired(text: string, repairs: readonly Repair[]): { text: string; made: Repair[] } {
  const starts = lineStarts(text);
  const made: Repair[] = [];
  const edits: Edit[] = [];
  let config = text;
  for (const repair of repairs) {
    if (repair.kind === 'redirect') {
      const next = withRedirect(config, repair);
      if (next === undefined) continue;
      config = next;
      made.push(repair);
      continue;
    }
    const edit = repair.kind === 'address' ? addressEdit(text, starts, repair) : tagEdit(text, starts, repair);
    const isApart = edit && edits.every(({ start, end }) => edit.start > end || edit.end < start);
    if (edit && isApart) edits.push(edit);
  }
  if (made.length > 0) return { text: config, made };
  edits.sort((a, b) => b.start - a.start);
  let result = text;
  for (const { start, end, text: by } of edits) result = result.slice(0, start) + by + result.slice(end);
  return { text: result, made: edits.map(({ repair }) => repair) };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** Longest distance of an address from the begin of its link: the text of the link is between them. */
const mostAhead = 5_000;

function addressEdit(
  text: string,
  starts: readonly number[],
  repair: Extract<Repair, { kind: 'address' }>,
): Edit | undefined {
  const start = placeAfter(text, starts[repair.line - 1], repair.column, repair.from);
  if (start === undefined) return undefined;
  return { start, end: start + repair.from.length, text: repair.to, repair };
}

/** The offset of an address that a link at this line and column has; undefined if it is not there. Pure. */
export const addressPlace = (text: string, line: number, column: number | undefined, address: string) =>
  placeAfter(text, lineStarts(text)[line - 1], column, address);

function placeAfter(
  text: string,
  lineStart: number | undefined,
  column: number | undefined,
  address: string,
): number | undefined {
  if (lineStart === undefined || address === '') return undefined;
  return delimited(text, address, lineStart + (column ?? 1) - 1) ?? delimited(text, address, lineStart);
}

/** The next place of an address between brackets, quotation marks or spaces. */
function delimited(text: string, address: string, from: number): number | undefined {
  const end = Math.min(text.length, from + mostAhead);
  for (let at = text.indexOf(address, from); at >= 0 && at < end; at = text.indexOf(address, at + 1)) {
    const [before = ' ', after = ' '] = [text[at - 1], text[at + address.length]];
    if (/[("'`<\s=:]/.test(before) && /[)"'`>\s]/.test(after)) return at;
  }
  return undefined;
}

function tagEdit(
  text: string,
  starts: readonly number[],
  repair: Extract<Repair, { kind: 'void-tag' }>,
): Edit | undefined {
  const lineStart = starts[repair.line - 1];
  if (lineStart === undefined) return undefined;
  const at = lineStart + repair.column - 1;
  if (text.slice(at, at + repair.name.length + 1).toLowerCase() !== `<${repair.name.toLowerCase()}`) return undefined;
  const end = endOfTag(text, at);
  if (end === undefined || /\/\s*$/.test(text.slice(at, end))) return undefined;
  const space = /\s/.test(text[end - 1] ?? '') ? '' : ' ';
  return { start: end, end, text: `${space}/`, repair };
}

/** The place of the bracket that ends a tag. Brackets in quotation marks and in braces do not. */
function endOfTag(text: string, from: number): number | undefined {
  let quote = '';
  let braces = 0;
  for (let at = from; at < Math.min(text.length, from + mostAhead); at += 1) {
    const character = text[at] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '{') braces += 1;
    else if (character === '}') braces -= 1;
    else if (character === '>' && braces === 0) return at;
  }
  return undefined;
}

/**
 * The configuration with one more redirect, at the end of its list, in the form of the text around it. Undefined if the text is no such configuration,
 * or has the redirect already.
 */
function withRedirect(
  text: string,
  { source, destination }: Extract<Repair, { kind: 'redirect' }>,
): string | undefined {
  const before = valueOf(text);
  if (!isJsonObject(before)) return undefined;
  const list = before['redirects'] ?? [];
  if (!Array.isArray(list) || list.some((one) => isJsonObject(one) && one['source'] === source)) return undefined;
  const redirect = { source, destination };
  const wanted = JSON.stringify({ ...before, redirects: [...list, redirect] });
  const entry = `{ "source": ${JSON.stringify(source)}, "destination": ${JSON.stringify(destination)} }`;
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
  // Every place that may be the end of the list is tried, and the one that gives the wanted value is right.
  const places = before['redirects'] === undefined ? [text.lastIndexOf('}')] : placesOf(text, ']');
  for (const at of places) {
    const head = text.slice(0, at).trimEnd();
    const gap = text.slice(head.length, at);
    const comma = /[[{]$/.test(head) ? '' : ',';
    const isList = before['redirects'] !== undefined;
    const added = isList
      ? `${comma}${newline}${indent}${indent}${entry}${gap.includes('\n') ? gap : `${newline}${indent}`}`
      : `${comma}${newline}${indent}"redirects": [${newline}${indent}${indent}${entry}${newline}${indent}]${gap === '' ? newline : gap}`;
    const next = head + added + text.slice(at);
    if (JSON.stringify(valueOf(next)) === wanted) return next;
  }
  return undefined;
}

const mostPlaces = 2_000;

/** Places of a character behind the key of the redirects. */
function placesOf(text: string, character: string): number[] {
  const places: number[] = [];
  const begin = Math.max(0, text.indexOf('"redirects"'));
  for (let at = text.indexOf(character, begin); at >= 0 && places.length < mostPlaces; ) {
    places.push(at);
    at = text.indexOf(character, at + 1);
  }
  return places;
}

function valueOf(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) as JsonValue;
  } catch {
    return undefined;
  }
}
