import type { Finding } from '#shared/docs/findings/finding-texts.ts';

/** The text of a `<style>` element, and the line on which the element begins. */
export type StyleSource = { text: string; line: number };

export type PreparedSource = {
  lines: string[];
  fenced: boolean[];
  /** Ids that authors gave to headings, by line number from 1. */
  headingIds: Map<number, string>;
  /** The page's `<style>` elements, in their order. */
  styles: StyleSource[];
  diagnostics: Finding[];
};

/**
 * Rewrites syntax of real projects that MDX cannot parse: removes heading ids `{#id}` and style sheets, replaces `{{variables}}`, blanks HTML
 * comments. Every line keeps its number.
 */
export function prepareSource(body: string, file: string, variables: Record<string, string>): PreparedSource {
  const lines = body.split('\n');
  const fenced = fencedLines(lines);
  const diagnostics: Finding[] = [];
  const headingIds = new Map<number, string>();
  const values = new Map(Object.entries(variables).map(([name, value]) => [name, value.replaceAll(/\s*\n\s*/g, ' ')]));
  if (body.includes('<!--')) blankComments(lines, fenced);
  const styles = body.includes('</style') ? takeStyles(lines, fenced) : [];
  // Without these characters, no line changes.
  if (!body.includes('{{') && !body.includes('{#')) return { lines, fenced, headingIds, styles, diagnostics };
  for (const [index, line] of lines.entries()) {
    const { line: replaced, undefinedNames } = replaceVariables(line, fenced[index] ?? false, values);
    lines[index] = replaced;
    for (const name of undefinedNames) {
      diagnostics.push({
        severity: 'warning',
        code: 'undefined-variable',
        message: `The variable {{${name}}} has no value. Add it to "variables" in docs.json.`,
        file,
        line: index + 1,
      });
    }
    if (fenced[index] || !replaced.includes('{#')) continue;
    const heading = withoutId(replaced);
    if (!heading) continue;
    lines[index] = heading.line;
    headingIds.set(index + 1, heading.id);
  }
  return { lines, fenced, headingIds, styles, diagnostics };
}

const styleStart = /<style(?:\s[^<>]{0,200})?>/;
/** Maximum number of style sheets that are taken from a page. Further ones are left to the parser. */
const mostStyles = 50;
const styleEnd = /<\/style\s*>/;
/**
 * Removes and returns the text of `<style>` elements outside of code, which is CSS and not MDX. They leave no mark in the text, because a style sheet
 * applies to the whole page; their lines give the order in which they apply. A `<style>` with an expression stays for the parser.
 */
function takeStyles(lines: string[], fenced: readonly boolean[]): StyleSource[] {
  const found: StyleSource[] = [];
  let at = 0;
  while (at < lines.length && found.length < mostStyles) {
    const line = lines[at] ?? '';
    const start = fenced[at] === true || !line.includes('<style') ? null : styleStart.exec(line);
    if (start === null || inSpan(inlineCodeSpans(line), start.index)) {
      at += 1;
      continue;
    }
    const before = line.slice(0, start.index);
    const inside = [line.slice(start.index + start[0].length)];
    let end = styleEnd.exec(inside[0] ?? '');
    while (end === null && at + inside.length < lines.length) {
      const next = lines[at + inside.length] ?? '';
      inside.push(next);
      end = styleEnd.exec(next);
    }
    if (end === null) break;
    const last = at + inside.length - 1;
    const rest = (inside.pop() ?? '').slice(0, end.index);
    const after = end.input.slice(end.index + end[0].length);
    const text = [...inside, rest].join('\n');
    if (text.trimStart().startsWith('{')) {
      at = last + 1;
      continue;
    }
    found.push({ text, line: at + 1 });
    lines.fill('', at, last);
    if (last > at) lines[at] = before;
    lines[last] = last > at ? after : before + after;
    at = last;
  }
  return found;
}

/** Splits `## Title {#id}`. Searches once, from the end, to bound the time for a line. */
function withoutId(line: string): { line: string; id: string } | undefined {
  const at = line.lastIndexOf('{#');
  const id = /^\{#([^\s{}"'<>`]{1,200})\}[ \t#]*$/.exec(line.slice(at))?.[1];
  if (id === undefined || !/^[\s>]*#{1,6}[ \t]/.test(line)) return undefined;
  return { line: line.slice(0, line[at - 1] === '\\' ? at - 1 : at).trimEnd(), id };
}

/** Replaces `<!-- … -->` outside of code by spaces; an unclosed comment stays. */
function blankComments(lines: string[], fenced: readonly boolean[]): void {
  let lastClose = -1;
  for (const [index, line] of lines.entries()) if (line.includes('-->')) lastClose = index;
  let inComment = false;
  for (let index = 0; index <= lastClose; index += 1) {
    if (fenced[index] && !inComment) continue;
    const line = lines[index] ?? '';
    if (!inComment && !line.includes('<!--')) continue;
    const spans = inComment ? [] : inlineCodeSpans(line);
    let kept = '';
    let at = 0;
    while (at < line.length) {
      if (inComment) {
        const end = line.indexOf('-->', at);
        at = end < 0 ? line.length : end + 3;
        inComment = end < 0;
        continue;
      }
      const start = line.indexOf('<!--', at);
      if (start < 0 || (index === lastClose && line.indexOf('-->', start) < 0)) {
        kept += line.slice(at);
        break;
      }
      const isCode = inSpan(spans, start);
      kept += line.slice(at, isCode ? start + 4 : start);
      at = start + 4;
      inComment = !isCode;
    }
    lines[index] = kept;
  }
}

const variable = /\{\{[ \t]*([A-Za-z0-9_-]{1,100})[ \t]*\}\}/g;

type ReplacedLine = { line: string; undefinedNames: string[] };

/**
 * Replaces `{{name}}` in a line by the value from `variables`, in code and in text. A name without a value stays in code, where it nearly always
 * belongs to a template of another language, and in attributes, where it may be an object. In text it is escaped and reported.
 */
function replaceVariables(line: string, fenced: boolean, variables: ReadonlyMap<string, string>): ReplacedLine {
  const undefinedNames: string[] = [];
  if (!line.includes('{{')) return { line, undefinedNames };
  const spans = fenced ? [] : inlineCodeSpans(line);
  const replaced = line.replaceAll(variable, (written: string, name: string, offset: number) => {
    const value = variables.get(name);
    if (value !== undefined) return value;
    if (fenced || inSpan(spans, offset) || inAttribute(line.slice(Math.max(0, offset - 500), offset))) return written;
    undefinedNames.push(name);
    return `\\{\\{${name}\\}\\}`;
  });
  return { line: replaced, undefinedNames };
}

/** True inside `style={{color}}`, `${{name}}`, `{{{name}}}` and `title="… {{name}} …"`. */
const inAttribute = (before: string): boolean => /[={$\\]$/.test(before) || /=\s*(?:"[^"]*|'[^']*)$/.test(before);

/**
 * Marks the lines of fenced code, including the fences. The detection is simple, but correct for real pages. The parser's deadline and limits do not
 * depend on it.
 */
export function fencedLines(lines: readonly string[]): boolean[] {
  const fenced: boolean[] = [];
  let fence: { mark: string; length: number } | undefined;
  for (const line of lines) {
    if (fence) {
      fenced.push(true);
      const closing = line.includes(fence.mark.repeat(3)) ? /^[\s>]*(`{3,}|~{3,})\s*$/.exec(line)?.[1] : undefined;
      if (closing?.startsWith(fence.mark) && closing.length >= fence.length) fence = undefined;
      continue;
    }
    const opening = openingFence(line);
    fenced.push(opening !== undefined);
    fence = opening;
  }
  return fenced;
}

function openingFence(line: string): { mark: string; length: number } | undefined {
  if (!line.includes('```') && !line.includes('~~~')) return undefined;
  const match = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)$/.exec(line);
  const run = match?.[1];
  if (!run || (run.startsWith('`') && match[2]?.includes('`'))) return undefined;
  return { mark: run.charAt(0), length: run.length };
}

const maxLine = 20_000;

/** Ranges `[start, end)` of the code spans of one line, by the lengths of backtick runs. Lines over 20,000 characters have none. */
export function inlineCodeSpans(line: string): [number, number][] {
  if (line.length > maxLine || !line.includes('`')) return [];
  const runs = [...line.matchAll(/`+/g)].map((run) => ({ start: run.index, length: run[0].length }));
  const spans: [number, number][] = [];
  const next = nextOfLength(runs);
  for (let open = 0; open < runs.length; open += 1) {
    const opening = runs[open];
    if (!opening || line[opening.start - 1] === '\\') continue;
    const close = next[open] ?? -1;
    const closing = runs[close];
    if (!closing) continue;
    spans.push([opening.start, closing.start + closing.length]);
    open = close;
  }
  return spans;
}

/** For each run, the index of the next run with the same length. */
function nextOfLength(runs: readonly { length: number }[]): (number | undefined)[] {
  const last = new Map<number, number>();
  const next: (number | undefined)[] = [];
  for (let at = runs.length - 1; at >= 0; at -= 1) {
    const length = runs[at]?.length ?? 0;
    next[at] = last.get(length);
    last.set(length, at);
  }
  return next;
}

function inSpan(spans: readonly [number, number][], offset: number): boolean {
  return spans.some(([start, end]) => offset >= start && offset < end);
}
