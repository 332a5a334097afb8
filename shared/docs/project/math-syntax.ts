import type { Paragraph, Root } from 'mdast';
import type { Options } from 'mdast-util-from-markdown';
import type { Code, Effects, State, TokenizeContext } from 'micromark-util-types';
import type { BlockMath, InlineMath } from './parse-page.ts';
import { fencedLines } from './prepare-source.ts';

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    mathText: 'mathText';
    mathTextSequence: 'mathTextSequence';
    mathTextData: 'mathTextData';
    mathFlow: 'mathFlow';
    mathFlowFence: 'mathFlowFence';
    mathFlowData: 'mathFlowData';
  }
}

type Syntax = NonNullable<Options['extensions']>[number];
type TreeExtension = Exclude<NonNullable<Options['mdastExtensions']>[number], unknown[]>;

const dollar = 36;
const backslash = 92;
const backtick = 96;
const isEol = (code: Code): boolean => code !== null && code < -2;
const isSpace = (code: Code): boolean => code === -2 || code === -1 || code === 32 || isEol(code);

/**
 * `$…$` and `$$…$$` for micromark. It is stricter than other syntaxes, because documentation is full of prices and `$ref`: a single dollar opens only
 * before a non-space, and closes only after a non-space and before a non-digit, with no backtick between them: `$ref` in a sentence and `$x` in code
 * make no formula. `blocks` are the result of `mathBlocks` for the parsed text.
 */
export function mathSyntax(blocks: ReadonlyMap<number, number>): Syntax {
  return {
    flow: { [dollar]: { name: 'mathFlow', concrete: true, tokenize: blockTokenizer(blocks) } },
    text: { [dollar]: { name: 'mathText', tokenize: tokenizeMath } },
  };
}

/**
 * Finds blocks of math with several lines, from `$$` at the start of a line to the next `$$`, which must be at the end of its line. Returns the last
 * line by first line, from 1. Their content is not parsed as Markdown, so that `+ b` is not a list. If both `$$` are alone on their lines, a block
 * may contain empty lines; it cannot contain tags, code fences, or the end of the quote or list around it. Time grows with the text.
 */
export function mathBlocks(text: string): Map<number, number> {
  const blocks = new Map<number, number>();
  if (!text.includes('$$')) return blocks;
  const lines = text.split('\n');
  const fenced = fencedLines(lines);
  for (let first = 0; first < lines.length; first++) {
    const last = fenced[first] === true ? undefined : endOfBlock(lines, fenced, first);
    if (last === undefined) continue;
    blocks.set(first + 1, last + 1);
    first = last;
  }
  return blocks;
}

function endOfBlock(lines: readonly string[], fenced: readonly boolean[], first: number): number | undefined {
  const [, before = '', rest] = /^((?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t]+)*)\$\$([^$]*)$/.exec(lines[first] ?? '') ?? [];
  if (rest === undefined) return undefined;
  const quotes = quotesIn(before);
  let hasEmptyLine = false;
  for (let at = first + 1; at < lines.length; at++) {
    const [, start = '', line = ''] = /^([ \t>]*)(.*)$/.exec(lines[at] ?? '') ?? [];
    if (line === '') hasEmptyLine = true;
    const isElsewhere = quotes > 0 ? quotesIn(start) < quotes : line !== '' && start.length < before.length;
    if (isElsewhere || fenced[at] === true || /^<\/?[a-z]/i.test(line)) return undefined;
    const end = line.indexOf('$$');
    if (end < 0) continue;
    const isAlone = rest.trim() === '' && end === 0;
    return /^\$\$\s*$/.test(line.slice(end)) && (isAlone || !hasEmptyLine) ? at : undefined;
  }
  return undefined;
}

const quotesIn = (start: string): number => start.split('>').length - 1;

function blockTokenizer(blocks: ReadonlyMap<number, number>) {
  return function tokenizeBlock(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
    const { parser, interrupt } = this;
    const line = (): number => this.now().line;
    const last = blocks.get(line());
    let dollars = 0;

    const open = (code: Code): State | undefined => {
      if (code === dollar && dollars < 2) {
        effects.consume(code);
        dollars += 1;
        return open;
      }
      effects.exit('mathFlowFence');
      // Math interrupts a paragraph.
      if (interrupt === true) return ok(code);
      return content(code);
    };
    const content = (code: Code): State | undefined => {
      if (code === null) return end(code);
      if (isEol(code)) {
        effects.enter('lineEnding');
        effects.consume(code);
        effects.exit('lineEnding');
        return lineStart;
      }
      if (code === dollar && line() === last) {
        effects.enter('mathFlowFence');
        return close(code);
      }
      effects.enter('mathFlowData');
      return data(code);
    };
    // The block ends where the list or quote around it ends.
    const lineStart = (code: Code): State | undefined => (parser.lazy[line()] === true ? end(code) : content(code));
    const data = (code: Code): State | undefined => {
      if (code === null || isEol(code) || (code === dollar && line() === last)) {
        effects.exit('mathFlowData');
        return content(code);
      }
      effects.consume(code);
      return data;
    };
    const close = (code: Code): State | undefined => {
      if (code !== null && !isEol(code)) {
        effects.consume(code);
        return close;
      }
      effects.exit('mathFlowFence');
      return end(code);
    };
    const end = (code: Code): State | undefined => {
      effects.exit('mathFlow');
      return ok(code);
    };
    return (code) => {
      if (last === undefined) return nok(code);
      effects.enter('mathFlow');
      effects.enter('mathFlowFence');
      return open(code);
    };
  };
}

function tokenizeMath(effects: Effects, ok: State, nok: State): State {
  let opening = 0;
  let closing = 0;
  let before: Code = null;
  let dataOpen = false;

  const open = (code: Code): State | undefined => {
    if (code === dollar) {
      effects.consume(code);
      opening += 1;
      return open;
    }
    if (opening > 2 || code === null || (opening === 1 && isSpace(code))) return nok(code);
    effects.exit('mathTextSequence');
    return between(code);
  };
  const endData = (): void => {
    if (dataOpen) effects.exit('mathTextData');
    dataOpen = false;
  };
  const between = (code: Code): State | undefined => {
    if (code === null) {
      endData();
      return nok(code);
    }
    // remark-math would read this as a formula. But TeX has backticks only as quotation marks in text, and prose has them around code.
    if (code === backtick && opening === 1) {
      endData();
      return nok(code);
    }
    if (code === dollar) {
      endData();
      effects.enter('mathTextSequence');
      closing = 0;
      return close(code);
    }
    if (isEol(code)) {
      endData();
      effects.enter('lineEnding');
      effects.consume(code);
      effects.exit('lineEnding');
      before = code;
      return between;
    }
    if (!dataOpen) effects.enter('mathTextData');
    dataOpen = true;
    effects.consume(code);
    before = code;
    return code === backslash ? escaped : between;
  };
  const escaped = (code: Code): State | undefined => {
    if (code === null || isEol(code)) return between(code);
    effects.consume(code);
    before = code;
    return between;
  };
  const close = (code: Code): State | undefined => {
    if (code === dollar) {
      effects.consume(code);
      closing += 1;
      return close;
    }
    const digitFollows = code !== null && code >= 48 && code <= 57;
    if (closing !== opening || (opening === 1 && (isSpace(before) || digitFollows))) return nok(code);
    effects.exit('mathTextSequence');
    effects.exit('mathText');
    return ok(code);
  };
  return (code) => {
    effects.enter('mathText');
    effects.enter('mathTextSequence');
    return open(code);
  };
}

/** Converts the tokens to `math` and `inlineMath` nodes, and a paragraph that is only `$$…$$` to a `math` block. */
export function mathFromMarkdown(): TreeExtension {
  return {
    enter: {
      mathFlow(token) {
        this.enter({ type: 'math', value: '' }, token);
        this.buffer();
      },
      mathText(token) {
        this.enter({ type: 'inlineMath', value: '', display: false }, token);
        this.buffer();
      },
    },
    exit: {
      mathFlow(token) {
        const value = this.resume();
        const node = this.stack.at(-1) as BlockMath;
        this.exit(token);
        node.value = value.trim();
      },
      mathFlowData(token) {
        this.config.enter['data']?.call(this, token);
        this.config.exit['data']?.call(this, token);
      },
      mathText(token) {
        const value = this.resume();
        const node = this.stack.at(-1) as InlineMath;
        this.exit(token);
        node.value = value.trim();
        node.display = this.sliceSerialize(token).startsWith('$$');
      },
      mathTextData(token) {
        this.config.enter['data']?.call(this, token);
        this.config.exit['data']?.call(this, token);
      },
    },
    transforms: [blocksFromParagraphs],
  };
}

function blocksFromParagraphs(tree: Root): void {
  const stack: { children?: unknown[] }[] = [tree];
  while (stack.length > 0) {
    const children = (stack.pop()?.children ?? []) as Root['children'];
    for (const [index, child] of children.entries()) {
      const math = child.type === 'paragraph' ? onlyMath(child) : undefined;
      if (math) children[index] = { type: 'math', value: math.value, position: child.position };
      else if ('children' in child) stack.push(child);
    }
  }
}

function onlyMath(paragraph: Paragraph): InlineMath | undefined {
  const [first, second] = paragraph.children;
  return first?.type === 'inlineMath' && first.display && !second ? first : undefined;
}
