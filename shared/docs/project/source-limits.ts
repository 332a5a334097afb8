import type { FindingCode } from '#shared/docs/findings/finding-texts.ts';
import type { Root } from 'mdast';
import { readExpression } from './acorn-programs.ts';
import { isVoid } from './lenient/html-names.ts';
import { inlineCodeSpans } from './prepare-source.ts';

/** Limits on the cost of a page, checked before parsing. */
export const maxSourceBytes = 8 * 1024 * 1024;
/** A parser's time grows with the square of the text between empty lines. */
const maxParagraphCharacters = 256 * 1024;
/** Text with that many parts takes micromark some seconds. The limit is for pages that it has to read. */
const maxInlineParts = 40_000;
/** Lines before the end of an inner list, summed over all such ends. Beyond this limit micromark takes several seconds. */
const maxCopiedLines = 60_000_000;
const maxTableCells = 50_000;
const maxBlockNesting = 100;
const maxElementNesting = 200;
const maxExpressionNesting = 200;

const maxLazyLines = 5000;

export type BrokenLimit = { code: FindingCode; message: string; line?: number };

/** Thrown by a parser for a page that breaks a limit of this parser alone. */
export class ParserLimit extends Error {
  override name = 'ParserLimit';
  readonly limit: BrokenLimit;

  constructor(limit: BrokenLimit) {
    super(limit.message);
    this.limit = limit;
  }
}

/**
 * Returns the first limit that a page breaks, found by a cheap scan of its lines; undefined if it may be parsed. Parsers of Markdown and JavaScript
 * are recursive or quadratic in nesting, so nesting is bounded here.
 */
export function brokenLimit(lines: readonly string[], fenced: readonly boolean[]): BrokenLimit | undefined {
  const sizes = sizesOf(lines);
  return (
    (sizes.mayNest ? blockNesting(lines, fenced) : undefined) ??
    (lines.length > maxLazyLines ? lazyLines(lines, fenced) : undefined) ??
    (sizes.hasTable ? tableCells(lines, fenced) : undefined) ??
    (sizes.characters > maxParagraphCharacters ? longParagraph(lines, fenced) : undefined)
  );
}

/** Cheap measures that make most checks unnecessary: nearly all pages are too small to break these limits. */
function sizesOf(lines: readonly string[]) {
  let [characters, mayNest, hasTable] = [0, false, false];
  for (const line of lines) {
    characters += line.length;
    mayNest ||= line.length > maxBlockNesting && deeplyNested.test(line);
    hasTable ||= line.includes('|');
  }
  return { characters, mayNest, hasTable };
}

/** A block with that much nesting begins with at least as many characters of indentation or markers. */
const deeplyNested = new RegExp(`^[\\s>*+.)\\d-]{${maxBlockNesting}}`);

/** Returns the first broken limit of elements and expressions, which only MDX nests. Plain Markdown may break these limits. */
export function brokenMdxLimit(lines: readonly string[], fenced: readonly boolean[]): BrokenLimit | undefined {
  return expressionNesting(lines, fenced) ?? elementNesting(lines, fenced);
}

/** The broken limit of a source of this size; undefined if it is within the limit. */
export function sourceTooLarge(sizeBytes: number): BrokenLimit | undefined {
  if (sizeBytes <= maxSourceBytes) return undefined;
  return {
    code: 'page-too-large',
    message: `The source has ${Math.ceil(sizeBytes / 1024)} KB; at most ${maxSourceBytes / 1024} KB are allowed. Split the page.`,
  };
}

function blockNesting(lines: readonly string[], fenced: readonly boolean[]): BrokenLimit | undefined {
  const indents: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (fenced[index]) continue;
    const markers = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))+/.exec(line)?.[0];
    if (!markers) continue;
    const indent = markers.search(/[^ \t]/);
    while (indents.length > 0 && (indents.at(-1) ?? 0) >= indent) indents.pop();
    indents.push(indent);
    const depth = indents.length + markers.replaceAll(/[^>*+).-]/g, '').length - 1;
    if (depth > maxBlockNesting) {
      const message = `Lists and quotes are nested deeper than ${maxBlockNesting}. Use fewer levels.`;
      return { code: 'nesting-too-deep', message, line: index + 1 };
    }
  }
  return undefined;
}

/** Checks the number of lines that continue a quote without `>`: micromark's time grows with the square of it. */
function lazyLines(lines: readonly string[], fenced: readonly boolean[]): BrokenLimit | undefined {
  let lazy = 0;
  let inQuote = false;
  for (const [index, line] of lines.entries()) {
    const isQuote = line.includes('>') && /^\s*>/.test(line);
    if (!isQuote && !inQuote) continue;
    if (!isQuote && inQuote && !fenced[index] && line.trim() !== '') lazy += 1;
    inQuote = isQuote || (inQuote && line.trim() !== '');
    if (lazy > maxLazyLines) {
      const message = `More than ${maxLazyLines} lines continue a quote without ">". Start them with ">", or end the quote with an empty line.`;
      return { code: 'page-too-large', message, line: index + 1 };
    }
  }
  return undefined;
}

/** Checks the nesting of brackets inside `{…}`. Strings count too: no real text has 200 more opening than closing brackets. */
function expressionNesting(lines: readonly string[], fenced: readonly boolean[]): BrokenLimit | undefined {
  let depth = 0;
  for (const [index, line] of lines.entries()) {
    if (fenced[index]) continue;
    if (depth === 0 && !line.includes('{')) continue;
    for (let at = 0; at < line.length; at += 1) {
      const character = line.charCodeAt(at);
      if (character === 0x7b) depth += 1;
      else if (depth > 0 && (character === 0x5b || character === 0x28)) depth += 1;
      else if (depth > 0 && (character === 0x7d || character === 0x5d || character === 0x29)) depth -= 1;
      if (depth > maxExpressionNesting) {
        const message = `An expression is nested deeper than ${maxExpressionNesting}. Make it flatter.`;
        return { code: 'expression-too-deep', message, line: index + 1 };
      }
    }
  }
  return undefined;
}

function elementNesting(lines: readonly string[], fenced: readonly boolean[]): BrokenLimit | undefined {
  const open: { name: string; line: number }[] = [];
  let tooDeep: BrokenLimit | undefined;
  /** `<br>` and other void elements end at once, with or without a slash. */
  let inVoid = false;
  for (const [index, line] of lines.entries()) {
    if (fenced[index] || !(line.includes('<') || line.includes('/>'))) continue;
    for (const [token, slash, name = ''] of withoutInlineCode(line).matchAll(/<(\/?)([A-Za-z][\w.-]*)|\/>/g)) {
      const endsVoid = inVoid && token === '/>';
      inVoid = name !== '' && !slash && isVoid(name);
      if (endsVoid || inVoid) continue;
      if (token === '/>') open.pop();
      else if (slash) open.splice(open.findLastIndex((element) => element.name === name) >>> 0);
      else open.push({ name, line: index + 1 });
      if (open.length > maxElementNesting && !tooDeep) {
        const message = `Elements are nested deeper than ${maxElementNesting}. Use fewer levels.`;
        tooDeep = { code: 'nesting-too-deep', message, line: index + 1 };
      }
      if (open.length > 4 * maxElementNesting) open.splice(0, maxElementNesting);
    }
  }
  const unclosed = open[0];
  if (tooDeep && unclosed && open.length > maxElementNesting) {
    const message = `Expected a closing tag for <${unclosed.name.slice(0, 60)}>. More than ${maxElementNesting} elements are not closed.`;
    return { code: 'mdx-syntax', message, line: unclosed.line };
  }
  return tooDeep;
}

/** The line with spaces for its code, at the same places. */
export function withoutInlineCode(line: string): string {
  let text = '';
  let at = 0;
  for (const [start, end] of inlineCodeSpans(line)) {
    text += line.slice(at, start) + ' '.repeat(end - start);
    at = end;
  }
  return text + line.slice(at);
}

/** Checks the cells of tables. Short rows are filled up to the width of the head, so a small source can make a huge table. */
function tableCells(lines: readonly string[], fenced: readonly boolean[]): BrokenLimit | undefined {
  let cells = 0;
  let columns = 0;
  for (const [index, line] of lines.entries()) {
    if (fenced[index] || /^[\s>]*$/.test(line)) columns = 0;
    else if (columns === 0 && isDelimiterRow(line)) {
      columns = line.split('|').length;
      cells += columns;
    }
    cells += columns;
    if (cells > maxTableCells) {
      const message = `Tables have more than ${maxTableCells} cells. Split the page, or offer the table as a file.`;
      return { code: 'page-too-large', message, line: index + 1 };
    }
  }
  return undefined;
}

/** Checks runs of text lines without an empty line, list item, heading or table row between them. Lines that are set aside do not count. */
function longParagraph(lines: readonly string[], fenced: readonly boolean[]): BrokenLimit | undefined {
  let characters = 0;
  let inTable = false;
  for (const [index, line] of lines.entries()) {
    if (fenced[index] || /^[\s>]*$/.test(line)) inTable = false;
    else if (isDelimiterRow(line)) inTable = true;
    const divides = inTable || fenced[index] || /^[\s>]*($|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t])/.test(line);
    characters = (divides ? 0 : characters) + (line.length > maxLineCharacters ? 0 : line.length);
    if (characters > maxParagraphCharacters) {
      const message = `A paragraph has more than ${maxParagraphCharacters / 1024} KB. Divide it by empty lines.`;
      return { code: 'page-too-large', message, line: index + 1 };
    }
  }
  return undefined;
}

/**
 * Checks the words, line breaks and marks in the text between empty lines. micromark has an event for each, and its time grows with the square of
 * them. List items, headings and cells of tables are separate texts. JavaScript does not count as text.
 */
export function inlineParts(lines: readonly string[], fenced: readonly boolean[]): BrokenLimit | undefined {
  let [parts, start] = [0, 0];
  let isExempt = false;
  for (const [index, line] of lines.entries()) {
    const isStart = index === 0 || lines[index - 1]?.trim() === '';
    if (fenced[index] || isStart || ownText.test(line)) {
      [parts, start] = [0, index];
      isExempt = /^(?:import|export)\b/.test(line);
    }
    isExempt ||= isDelimiterRow(line);
    if (fenced[index] || isExempt) continue;
    parts += 1 + (line.match(inlinePart)?.length ?? 0);
    if (parts > maxInlineParts) {
      isExempt = beginsExpression(lines, start);
      if (isExempt) continue;
      const message = `The text between two empty lines has more than ${maxInlineParts} words and marks. Divide it by empty lines.`;
      return { code: 'page-too-large', message, line: index + 1 };
    }
  }
  return undefined;
}

/** Checks the ends of inner lists: at each end, micromark copies all earlier events of the page. */
export function endsOfLists(lines: readonly string[], fenced: readonly boolean[]): BrokenLimit | undefined {
  let [copied, last] = [0, 0];
  for (const [index, line] of lines.entries()) {
    if (fenced[index] || !listItem.test(line)) continue;
    const indent = line.search(/\S/);
    if (indent < last) copied += index;
    last = indent;
    if (copied > maxCopiedLines) {
      const message = 'The page has too many lists inside of lists. Split the page, or make its lists flatter.';
      return { code: 'page-too-large', message, line: index + 1 };
    }
  }
  return undefined;
}

const listItem = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]/;

function beginsExpression(lines: readonly string[], index: number): boolean {
  if (!/^\s*\{/.test(lines[index] ?? '')) return false;
  return 'length' in readExpression(lines.slice(index).join('\n').trimStart());
}

const ownText = /^[ \t>]*(?:[-*+]|\d{1,9}[.)]|#{1,6})(?:[ \t]|$)/;
const inlinePart = /\w+|[<{[\]!*_~$`&\\]/g;

const isDelimiterRow = (line: string): boolean => line.includes('-') && /^[\s>|:-]+$/.test(line) && line.includes('|');

const maxLineCharacters = 100_000;

const placeholder = (line: number): string => `\ue000${line}\ue001`;
const placeholders = /\ue000(\d{1,7})\ue001/g;

export type SetAsideLines = Map<number, string>;

/**
 * Removes lines over 100,000 characters outside of code from `lines` before parsing, because they are not prose and a parser may take minutes for
 * one. `bringBackLines` restores them as plain text. The result is by line number, from 1.
 */
export function setAsideLongLines(lines: string[], fenced: readonly boolean[]): SetAsideLines {
  const setAside: SetAsideLines = new Map();
  for (const [index, line] of lines.entries()) {
    if (fenced[index] || line.length <= maxLineCharacters) continue;
    setAside.set(index + 1, line);
    lines[index] = placeholder(index + 1);
  }
  return setAside;
}

/** Puts the lines of `setAsideLongLines` back into the texts of a tree. The tree is changed. */
export function bringBackLines(tree: Root, setAside: SetAsideLines): Root {
  if (setAside.size === 0) return tree;
  const stack: unknown[] = [tree];
  while (stack.length > 0) {
    const node = stack.pop() as { type: string; value?: string; children?: unknown[] };
    if (node.type === 'text' && node.value !== undefined) {
      node.value = node.value.replaceAll(placeholders, (written, line) => setAside.get(Number(line)) ?? written);
    }
    if (node.children) for (const child of node.children) stack.push(child);
  }
  return tree;
}
