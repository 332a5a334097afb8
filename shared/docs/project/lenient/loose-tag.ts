import type { MdxJsxAttribute, MdxJsxExpressionAttribute } from 'mdast-util-mdx';
import type { Point } from 'unist';
import { readExpression, spreadProgram, valueProgram } from '../acorn-programs.ts';

/** A tag that JSX refuses and HTML accepts, as its author meant it. */
export type LooseTag = {
  name: string;
  isClosing: boolean;
  isSelfClosing: boolean;
  attributes: (MdxJsxAttribute | MdxJsxExpressionAttribute)[];
  /** Length in the source text. */
  length: number;
  /** The change, as a sentence. */
  mended: string;
};

/** Maximum length of a tag in characters. Longer tags are not written by hand. */
const maxLength = 20_000;
const opening = /^<[ \t]*(\/?)[ \t]*([A-Za-z][\w-]*(?:[.:][\w-]+)*)(?=[\s/>])/;
const attributeName = /^[A-Za-z_$][\w$-]*(?::[\w$-]+)?$/;

/**
 * Reads a tag as HTML does: values without quotes, names that JSX does not know, a quote that is never closed. An attribute that even HTML could not
 * read is left out. Undefined if `text` does not begin with a tag. `start` is its place in the file.
 */
export function readLooseTag(text: string, start: Point): LooseTag | undefined {
  const head = opening.exec(text.slice(0, 200));
  if (head === null) return undefined;
  const [written, slash, name = ''] = head;
  const tag: LooseTag = { name, isClosing: slash === '/', isSelfClosing: false, attributes: [], length: 0, mended: '' };
  const leftOut: string[] = [];
  const end = Math.min(text.length, maxLength);
  let hasUnquoted = false;
  let at = written.length;
  while (at < end) {
    const rest = text.slice(at, end);
    const space = /^\s+/.exec(rest)?.[0];
    if (space !== undefined) {
      // A tag cannot continue after an empty line.
      if (/\n[ \t]*\n/.test(space)) return undefined;
      at += space.length;
      continue;
    }
    const close = /^(\/?)>/.exec(rest);
    if (close !== null) {
      tag.length = at + close[0].length;
      tag.isSelfClosing = close[1] === '/';
      if (tag.isClosing) tag.attributes = [];
      tag.mended = sentence(leftOut, hasUnquoted, tag.isClosing);
      return tag;
    }
    if (rest.startsWith('<')) return undefined;
    if (rest.startsWith('{')) {
      const spread = braces(rest);
      if (spread === undefined) return undefined;
      const attribute = spreadAttribute(rest.slice(1, spread - 1), start);
      if (attribute === undefined) leftOut.push(rest.slice(0, spread));
      else tag.attributes.push(attribute);
      at += spread;
      continue;
    }
    const found = /^([^\s=<>/{}"']+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'{}<>=`][^\s"'<>]*|(?=\{)|["'][^\s>]*))?/.exec(
      rest,
    );
    if (found === null) {
      leftOut.push(rest.charAt(0));
      at += 1;
      continue;
    }
    const [whole, attribute = '', value] = found;
    at += whole.length;
    if (value === '') {
      const length = braces(text.slice(at, end));
      if (length === undefined) return undefined;
      const expression = text.slice(at + 1, at + length - 1);
      const read = attributeName.test(attribute) ? expressionAttribute(attribute, expression, start) : undefined;
      if (read === undefined) leftOut.push(attribute);
      else tag.attributes.push(read);
      at += length;
    } else if (!attributeName.test(attribute)) {
      leftOut.push(attribute);
    } else {
      const literal = value === undefined ? undefined : literalOf(value);
      if (literal?.rest !== undefined) at -= literal.rest;
      hasUnquoted ||= literal !== undefined && !literal.isQuoted;
      tag.attributes.push({ type: 'mdxJsxAttribute', name: attribute, value: literal?.text ?? null });
    }
  }
  return undefined;
}

/** `rest` is the number of characters that belong to the text after the value, because a quote was never closed. */
function literalOf(value: string): { text: string; isQuoted: boolean; rest?: number } {
  const quote = /^["']/.exec(value)?.[0];
  if (quote === undefined) {
    const [, text = '', slash = ''] = /^(.*?)(\/?)$/s.exec(value) ?? [];
    return { text: decoded(text), isQuoted: false, rest: slash.length };
  }
  if (value.length < 2 || !value.endsWith(quote)) return { text: decoded(value.slice(1)), isQuoted: false };
  const text = value.slice(1, -1);
  const early = /[^\s>]*(?=>[^>]*\n)/.exec(text)?.[0];
  if (early === undefined) return { text: decoded(text), isQuoted: true };
  return { text: decoded(early), isQuoted: false, rest: value.length - early.length - 1 };
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'" };
const decoded = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|apos|#39);/g, (written, name: string) => entities[name] ?? written);

/** Length of `{…}`, parsed as JavaScript or found by counting braces; undefined if it is never closed. */
function braces(text: string): number | undefined {
  const read = readExpression(text);
  if ('length' in read) return read.length;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    else if (text[at] === '}') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}

function expressionAttribute(name: string, value: string, start: Point): MdxJsxAttribute | undefined {
  try {
    const data = { estree: valueProgram(value, start) };
    return { type: 'mdxJsxAttribute', name, value: { type: 'mdxJsxAttributeValueExpression', value, data } };
  } catch {
    return undefined;
  }
}

function spreadAttribute(value: string, start: Point): MdxJsxExpressionAttribute | undefined {
  try {
    return { type: 'mdxJsxExpressionAttribute', value, data: { estree: spreadProgram(value, start) } };
  } catch {
    return undefined;
  }
}

function sentence(leftOut: readonly string[], hasUnquoted: boolean, isClosing: boolean): string {
  if (isClosing) return 'has more than its name; the rest is left out';
  const shown = leftOut.map((part) => JSON.stringify(part.slice(0, 40))).slice(0, 3);
  const parts = [
    ...(hasUnquoted ? ['has a value without quotes, which is read as text (put quotes around it)'] : []),
    ...(shown.length > 0 ? [`has attributes that cannot be read (${shown.join(', ')}), which are left out`] : []),
  ];
  return parts.length > 0 ? parts.join(', and ') : 'is not valid JSX';
}
