import type { Paragraph, Root } from 'mdast';
import type { Options } from 'mdast-util-from-markdown';
import type { Code, Effects, State } from 'micromark-util-types';
import type { InlineMath } from './parse-page.ts';

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    mathText: 'mathText';
    mathTextSequence: 'mathTextSequence';
    mathTextData: 'mathTextData';
  }
}

type Syntax = NonNullable<Options['extensions']>[number];
type TreeExtension = Exclude<NonNullable<Options['mdastExtensions']>[number], unknown[]>;

const dollar = 36;
const backslash = 92;
const isEol = (code: Code): boolean => code !== null && code < -2;
const isSpace = (code: Code): boolean => code === -2 || code === -1 || code === 32 || isEol(code);

/**
 * `$…$` and `$$…$$` for micromark. Stricter than other syntaxes, because documentation is full of prices and `$ref`: a single dollar opens
 * only before a non-space, and closes only after a non-space and before a non-digit.
 */
export function mathSyntax(): Syntax {
  return { text: { [dollar]: { name: 'mathText', tokenize: tokenizeMath } } };
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

/** Turns the tokens into `inlineMath` nodes, and a paragraph that is only `$$…$$` into a `math` block. */
export function mathFromMarkdown(): TreeExtension {
  return {
    enter: {
      mathText(token) {
        this.enter({ type: 'inlineMath', value: '', display: false }, token);
        this.buffer();
      },
    },
    exit: {
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
