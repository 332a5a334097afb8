import type { Nodes, Parents, Root } from 'mdast';
import type { MdxJsxTextElement } from 'mdast-util-mdx';
import { mdxToMdast } from 'satteri';
import type { Point } from 'unist';
import { expressionProgram, moduleProgram, spreadProgram, valueProgram } from './acorn-programs.ts';
import { mathBlocks } from './math-syntax.ts';
import { micromarkTree } from './micromark-page-parser.ts';
import { pageParser, type ToTree } from './page-parser.ts';
import type { PageParser } from './parse-page.ts';
import { fencedLines } from './prepare-source.ts';
import { withoutInlineCode } from './source-limits.ts';

/**
 * MDX by satteri, which is native code and some twenty times as fast as micromark. It returns expressions as text, and acorn parses them. micromark
 * reads everything that satteri does not support in the required way: math, pages that are not MDX, and pages that satteri or acorn refuses, so that
 * an author gets micromark's error message. A panic ends the process: parse in a child, and again with micromark in another one.
 */
export const satteriParser = (micromark: ToTree): PageParser =>
  pageParser((text, format, math, repairs) => {
    const isForSatteri =
      format === 'mdx' && !repairs && !(math && mathBlocks(text).size > 0) && unclosedTags(text) <= mostUnclosed;
    const readLine = (line: string): Root => micromark(line, 'mdx', math);
    const tree = isForSatteri ? mdxTree(text, math, readLine) : undefined;
    return tree ?? micromark(text, format, math, repairs);
  });

/** `PageParser` on satteri. */
export const satteriPageParser: PageParser = satteriParser(micromarkTree);

/** Limit of unclosed tags. For each of them satteri searches the rest of the page, which is not valid MDX anyway. */
const mostUnclosed = 50;

/**
 * Number of tags outside of code that are never closed, counted by their names. The count may be wrong for a page that is not valid MDX, which only
 * costs time.
 */
function unclosedTags(text: string): number {
  if (!text.includes('<')) return 0;
  const lines = text.split('\n');
  const fenced = fencedLines(lines);
  const open = new Map<string, number>();
  let last = '';
  for (const [index, line] of lines.entries()) {
    if (fenced[index] === true || !(line.includes('<') || line.includes('/>'))) continue;
    for (const [written, slash, name = last] of withoutInlineCode(line).matchAll(/<(\/?)([A-Za-z][\w.:-]*)|\/>/g)) {
      const isOpening = written !== '/>' && slash === '';
      open.set(name, Math.max(0, (open.get(name) ?? 0) + (isOpening ? 1 : -1)));
      last = name;
    }
  }
  return open.values().reduce((sum, count) => sum + count, 0);
}

/** Parses one line with micromark. */
type ReadLine = (line: string) => Root;

function mdxTree(text: string, math: boolean, readLine: ReadLine): Root | undefined {
  try {
    const tree = mdxToMdast(text, { features: { frontmatter: false } }) as Root;
    return finish(tree, text, math, readLine) ? tree : undefined;
  } catch (error) {
    // A page that is too deep for one parser is too deep for the other.
    if (error instanceof RangeError) throw error;
    return undefined;
  }
}

/**
 * Adds to nodes the parts that satteri leaves out. False if micromark must read the page, because there may be math in it. Throws for an expression
 * that is not JavaScript, and a RangeError for a tree that is too deep.
 */
function finish(tree: Root, text: string, math: boolean, readLine: ReadLine): boolean {
  const pending: { node: Nodes; block: Nodes; depth: number }[] = [{ node: tree, block: tree, depth: 0 }];
  const withMath = new Set<Nodes>();
  const withCjk = cjkCharacter.test(text) && cjkEmphasis.test(text);
  let definitions: boolean | undefined;
  /** True if a definition in the page may make `[words]` elsewhere a link. */
  const hasDefinitions = (): boolean => (definitions ??= text.includes(']:'));
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { node, depth } = next;
    const start = node.position?.start;
    const block = phrasing.has(node.type) ? next.block : node;
    switch (node.type) {
      case 'paragraph':
      case 'heading':
      case 'tableCell':
        if (!withCjk || !cjkEmphasis.test(sourceOf(node, text)) || hasSimpleStars(node, text)) break;
        if (!readAgain(node, text, readLine, hasDefinitions)) return false;
        withMath.add(node);
        break;
      case 'text':
        if (!math || withMath.has(block) || !node.value.includes('$') || !mayHaveMath(text, block)) break;
        if (!readAgain(block, text, readLine, hasDefinitions)) return false;
        withMath.add(block);
        break;
      case 'mdxjsEsm':
        node.data = { estree: moduleProgram(node.value, start) };
        break;
      case 'mdxFlowExpression':
      case 'mdxTextExpression':
        node.data = { estree: expressionProgram(node.value, start) };
        break;
      case 'mdxJsxFlowElement':
      case 'mdxJsxTextElement':
        delete node.data;
        for (const attribute of node.attributes) {
          if (attribute.type === 'mdxJsxExpressionAttribute') {
            attribute.data = { estree: spreadProgram(attribute.value, start) };
          } else if (typeof attribute.value === 'object' && attribute.value !== null) {
            attribute.value.data = { estree: valueProgram(attribute.value.value, start) };
          }
        }
        break;
    }
    if (!('children' in node)) continue;
    if (!setBack(node, text)) return false;
    if (node.children.length > 0 && depth === maxDepth) throw tooDeep();
    for (const child of node.children) {
      if ('children' in child || child.type.startsWith('mdx') || (math && child.type === 'text'))
        pending.push({ node: child, block, depth: depth + 1 });
    }
  }
  return true;
}

const tooDeep = (): RangeError => new RangeError(`it is nested more than ${maxDepth} levels deep`);

/**
 * Puts elements back into paragraphs. satteri lifts them out of paragraphs that have nothing else, like the plugin of MDX, but `<a>x</a>` on a line
 * of its own is a line of text. False if elements and expressions may have shared a paragraph, which only micromark can tell.
 */
function setBack(parent: Parents, text: string): boolean {
  const { children } = parent;
  for (let index = 0; index < children.length; index += 1) {
    const child = children[index];
    if (child === undefined || !isFlow(child)) continue;
    const previous = children[index - 1];
    if (previous && isFlow(previous) && child.position?.start.line === previous.position?.end.line) {
      return false;
    }
    if (child.type !== 'mdxJsxFlowElement' || !child.children.some((inner) => isPhrasing(inner))) continue;
    if (!isApart(previous, child, text) || !isApart(child, children[index + 1], text)) return false;
    const { type: _, ...element } = child;
    const inner = { ...element, type: 'mdxJsxTextElement' } as MdxJsxTextElement;
    children[index] = { type: 'paragraph', children: [inner], position: child.position };
  }
  return true;
}

/** True if the two blocks cannot be one paragraph: an empty line separates them, or one of them is a heading. */
function isApart(before: Nodes | undefined, after: Nodes | undefined, text: string): boolean {
  if (before === undefined || after === undefined || before.type === 'heading' || after.type === 'heading') return true;
  return blankLine.test(text.slice(before.position?.end.offset, after.position?.start.offset));
}

const isFlow = ({ type }: Nodes): boolean => type === 'mdxJsxFlowElement' || type === 'mdxFlowExpression';
const blankLine = /\n[ \t>]*\n/;
const isPhrasing = ({ type }: Nodes): boolean => phrasing.has(type) || alwaysInText.has(type);
const alwaysInText = new Set([
  'inlineCode',
  'image',
  'imageReference',
  'break',
  'footnoteReference',
  'mdxTextExpression',
]);

/** Maximum depth, which no real page reaches, because later code that walks trees is recursive. */
const maxDepth = 500;
const phrasing = new Set(['text', 'emphasis', 'strong', 'delete', 'link', 'linkReference', 'mdxJsxTextElement']);

/**
 * Matches stars or underscores where CommonMark and the rule for Chinese, Japanese and Korean may differ: between a character of these languages and
 * punctuation, and beside punctuation of these languages. satteri does not have that rule.
 */
const cjk = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303f\u30fb\u30fc\uff00-\uffef]`;
const besideCjk = (marker: '*' | '_'): string => {
  const run = `[${marker}]+`;
  const punctuation = String.raw`[[\p{P}\p{S}]--[${marker}]]`;
  const cjkPunctuation = String.raw`[${cjk}&&[\p{P}\p{S}]]`;
  return [cjk + run + punctuation, punctuation + run + cjk, run + cjkPunctuation, cjkPunctuation + run].join('|');
};
const cjkEmphasis = new RegExp(`${besideCjk('*')}|${besideCjk('_')}`, 'v');
const cjkUnderscores = new RegExp(besideCjk('_'), 'v');
/** Fast check: a page that does not match has no characters of these languages. */
const cjkCharacter = /[\u1100-\uffff]/;

/**
 * True if all stars of a block belong to its emphasis, which is not nested and has the same number of stars everywhere. Then each run of stars opens
 * or closes emphasis in turn. The rule for Chinese, Japanese and Korean lets more runs open and close, so it makes the same pairs.
 */
function hasSimpleStars(block: Nodes, text: string): boolean {
  const source = sourceOf(block, text);
  if (cjkUnderscores.test(source) || variationSelector.test(source)) return false;
  let kind: string | undefined;
  const isSimple = (node: Nodes, isInStars: boolean): boolean => {
    if (opaque.has(node.type)) return !sourceOf(node, text).includes('*');
    const isStars = (node.type === 'emphasis' || node.type === 'strong') && sourceOf(node, text).startsWith('*');
    if (isStars && (isInStars || node.type !== (kind ??= node.type))) return false;
    return !('children' in node) || node.children.every((child) => isSimple(child, isInStars || isStars));
  };
  return isSimple(block, false);
}

/** The rule for Chinese, Japanese and Korean ignores these characters, so it may find punctuation where satteri finds none. */
const variationSelector = /[\ufe00-\ufe0f]/;
/** Nodes that show their stars, or whose stars may belong to a label that is not in the tree. */
const opaque = new Set<string>(['text', 'image', 'imageReference', 'linkReference', 'footnoteReference']);

const sourceOf = ({ position }: Pick<Nodes, 'position'>, text: string): string =>
  text.slice(position?.start.offset, position?.end.offset);

/** True if a block has a dollar that may open and a later one that may close. A single dollar is a price, and `$5 or $10` are prices too. */
function mayHaveMath(text: string, { position }: Nodes): boolean {
  const block = sourceOf({ position }, text);
  const opening = block.search(/\$\S/);
  const closing = block.slice(opening + 1).search(/[^\s\\]\$(?!\d)/);
  return opening >= 0 && closing >= 0;
}

/**
 * Replaces a paragraph of one line by micromark's reading of it, for its formulas or its emphasis in Chinese, Japanese or Korean, because micromark
 * takes a hundred times as long for the whole page. False if the page must be read as a whole, because text around the paragraph may decide its
 * meaning.
 */
function readAgain(block: Nodes, text: string, readLine: ReadLine, hasDefinitions: () => boolean): boolean {
  const { start, end } = block.position ?? {};
  if (block.type !== 'paragraph' || start?.offset === undefined || start.line !== end?.line) return false;
  const line = text.slice(start.offset, end.offset);
  if (/^[ \t[]|[{<]/.test(line) || (line.includes(']') && hasDefinitions())) return false;
  const [paragraph, other] = readLine(line).children;
  if (paragraph?.type !== 'paragraph' || other !== undefined) return false;
  move(paragraph, start);
  block.children = paragraph.children;
  return true;
}

/** Moves a tree of one line to the place that the line has in its page. */
function move(tree: Parents, { line, column, offset = 0 }: Point): void {
  for (const node of tree.children) {
    for (const point of [node.position?.start, node.position?.end]) {
      if (point === undefined) continue;
      point.line += line - 1;
      point.column += column - 1;
      point.offset = (point.offset ?? 0) + offset;
    }
    if ('children' in node) move(node, { line, column, offset });
  }
}
