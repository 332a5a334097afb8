import { toString } from 'mdast-util-to-string';
import { parseSync, Visitor } from 'oxc-parser';
import { visit } from 'unist-util-visit';
import { micromarkPageParser } from '#shared/docs/project/micromark-page-parser.ts';

/** A text that people read: a comment, a string of several words in code, or a paragraph or table cell of a page. `line` counts from 1. */
export type Passage = { kind: 'comment' | 'string' | 'paragraph' | 'cell'; line: number; text: string };

/**
 * Texts of a TypeScript or JavaScript file. Line comments below each other are one passage; code in backticks reads as `code`. Strings of tests are read
 * only if they begin with a capital: names of tests are not sentences.
 */
export function passagesOfSource(file: string, source: string): Passage[] {
  const { comments, program } = parseSync(file, source);
  const lineOf = lineCounter(source);
  const passages: Passage[] = [];
  let end = -1;
  for (const { type, value, start, end: endOfComment } of comments) {
    const last = passages.at(-1);
    const isNext = type === 'Line' && last !== undefined && /^\n[ \t]*$/.test(source.slice(end, start));
    end = type === 'Line' ? endOfComment : -1;
    if (isDirective.test(value)) continue;
    const text = withoutCode(type === 'Line' ? value.trim() : textOfBlock(value));
    if (isNext) last.text += `\n${text}`;
    else passages.push({ kind: 'comment', line: lineOf(start), text });
  }
  const readsRests = !/\.(?:test|contract)\.ts$/.test(file);
  const add = (text: string, start: number): void => {
    if ((/^[A-Z]/.test(text) || readsRests) && isProse(text) && !/[<{]\w+[>}]|=>|;$/m.test(text))
      passages.push({ kind: 'string', line: lineOf(start), text: withoutCode(text) });
  };
  new Visitor({
    Literal: (node) => {
      if (typeof node.value === 'string') add(node.value, node.start);
    },
    TemplateLiteral: (node) => add(node.quasis.map(({ value }) => value.cooked ?? '').join('code'), node.start),
  }).visit(program);
  return passages;
}

/** Comments of a style sheet, or of a file in which `#` begins them, such as YAML. */
export function passagesOfComments(source: string): Passage[] {
  const lineOf = lineCounter(source);
  const found = source.matchAll(/\/\*([^]*?)\*\/|(?:^[ \t]*#(?!!).*\n?)+/gm);
  return Array.from(found, ({ 0: lines, 1: block, index }) => ({
    kind: 'comment' as const,
    line: lineOf(index),
    text: withoutCode(block === undefined ? lines.replaceAll(/^[ \t]*#+ ?/gm, '') : textOfBlock(block)),
  }));
}

/** Texts of a page of our documentation, and of the Markdown files beside it. */
export function passagesOfPage(file: string, source: string): Passage[] {
  const passages: Passage[] = [];
  visit(micromarkPageParser.parse(source, file).tree, (node) => {
    if (node.type !== 'paragraph' && node.type !== 'tableCell') return;
    const plain = structuredClone(node);
    visit(plain, 'inlineCode', (code) => {
      code.value = 'code';
    });
    passages.push({
      kind: node.type === 'paragraph' ? 'paragraph' : 'cell',
      line: node.position?.start.line ?? 1,
      text: toString(plain),
    });
  });
  return passages;
}

/** Texts of a file of interface texts: its strings that are prose. */
export function passagesOfTexts(source: string): Passage[] {
  const found = source.matchAll(/"(?:[^"\\\n]|\\.)*"/g);
  const lineOf = lineCounter(source);
  return Array.from(found, ({ 0: string, index }) => ({
    kind: 'string' as const,
    line: lineOf(index),
    text: JSON.parse(string) as string,
  })).filter(({ text }) => isProse(text));
}

/** Paragraphs of a plain text, such as the notes of a chart. Indented lines are commands, and `{{ … }}` reads as `code`. */
export function passagesOfText(source: string): Passage[] {
  const plain = source.replaceAll(/^(?: {2,}|\t).*$/gm, '').replaceAll(/\{\{[^}]*\}\}/g, 'code');
  const lineOf = lineCounter(plain);
  const found = plain.matchAll(/(?:^.*\S.*\n?)+/gm);
  return Array.from(found, ({ 0: text, index }) => ({ kind: 'paragraph' as const, line: lineOf(index), text }));
}

/** Prose has four words or more. Without a capital at its beginning it is the rest of a sentence that code builds, and has six or more. */
function isProse(text: string): boolean {
  const [firstLine = ''] = text.split('\n', 1);
  const words = firstLine.trim().split(/ +/).length;
  return /^[A-Z]/.test(text) ? words >= 4 : /^[a-z]/.test(text) && words >= 6;
}

/** Comments for tools, and license lines. */
const isDirective = /^[\s*]*(?:biome-|oxlint-|eslint-|@ts-|v8 |c8 |#|<reference|@jsx)/;

/** The text of a block comment, without its frame, tags of types and code. */
function textOfBlock(value: string): string {
  const lines = value.split('\n').map((line) => line.replace(/^\s*\* ?/, ''));
  return lines
    .join('\n')
    .replaceAll(/^(?: {2,}|\t).*$/gm, '')
    .replaceAll(/@(?:typedef|type|template|param|returns)\b.*/g, '')
    .trim();
}

const withoutCode = (text: string): string => text.replaceAll(/`[^`]*`/g, 'code');

function lineCounter(source: string): (offset: number) => number {
  const starts = [0, ...Array.from(source.matchAll(/\n/g), ({ index }) => index + 1)];
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
