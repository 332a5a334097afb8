import type { Program } from 'estree';
import type { Options } from 'mdast-util-from-markdown';
import { mdxjs } from 'micromark-extension-mdxjs';
import type { Code, Construct, Effects, State, TokenizeContext, Tokenizer } from 'micromark-util-types';
import { messageOf } from '#shared/runtime/failures.ts';
import { boundedAcorn, readExpression } from '../acorn-programs.ts';
import { type LooseTag, readLooseTag } from './loose-tag.ts';
import { readModule } from './read-module.ts';
import { type Repairs, TooManyRepairs } from './repairs.ts';

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    looseFlowTag: 'looseFlowTag';
    looseTextTag: 'looseTextTag';
    droppedCode: 'droppedCode';
    droppedCodeData: 'droppedCodeData';
    mdxjsEsm: 'mdxjsEsm';
    mdxjsEsmData: 'mdxjsEsmData';
  }
  interface Token {
    looseTag?: LooseTag;
    estree?: Program;
  }
}

type Syntax = NonNullable<Options['extensions']>[number];
type Constructs = NonNullable<Syntax['flow']>;

const [openBrace, lessThan, lowercaseE, lowercaseI] = [123, 60, 101, 105];
const isEol = (code: Code): boolean => code !== null && code < -2;
const isSpace = (code: Code): boolean => code === -2 || code === -1 || code === 32;

/** Matches `<https://…>` and `<name@host>`, which are links in Markdown and not valid MDX. */
const autolinkPattern = /^<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.!#$%&'*+/=?^`{|}~-]+@[\w-]+(?:\.[\w-]+)+)>/;

/**
 * The syntax of MDX for a page that the strict syntax refuses. A brace or `<` that does not begin a readable expression or tag becomes text, and the
 * rest of the page is read as usual. The changes are recorded in `repairs`.
 */
export function lenientMdx(repairs: Repairs): Syntax {
  const strict = mdxjs({ acorn: boundedAcorn(repairs.text) });
  return {
    flow: {
      [openBrace]: only(strict.flow, openBrace).map((construct) => guarded(construct, repairs, readsBraces(repairs))),
      [lessThan]: [
        ...only(strict.flow, lessThan).map((construct) => guarded(construct, repairs, readsTag(repairs))),
        looseTag('looseFlowTag', repairs),
      ],
      [lowercaseE]: module(repairs),
      [lowercaseI]: module(repairs),
    },
    text: {
      [openBrace]: only(strict.text, openBrace).map((construct) => guarded(construct, repairs, isExpression(repairs))),
      [lessThan]: [
        ...only(strict.text, lessThan).map((construct) => guarded(construct, repairs, readsTag(repairs))),
        looseTag('looseTextTag', repairs),
        textOf(repairs),
      ],
    },
    // CommonMark's own `autolink` comes after these.
    disable: { null: ['codeIndented', 'htmlFlow', 'htmlText'] },
  };
}

/**
 * The syntax of MDX. It refuses at once a brace that does not begin an expression: micromark would look for its end at each later brace, in time that
 * grows with the square of the page.
 */
export function strictMdx(text: string): Syntax {
  const strict = mdxjs({ acorn: boundedAcorn(text) });
  const refusing = (construct: Construct): Construct => ({
    ...construct,
    tokenize(effects, ok, nok) {
      const { line, column, offset } = this.now();
      const read = isInQuote(text, offset) ? undefined : readExpression(text.slice(offset));
      if (read !== undefined && 'problem' in read) {
        const reason = `This brace begins no expression (${read.problem}).`;
        throw Object.assign(new SyntaxError(reason), { reason, line, column });
      }
      return construct.tokenize.call(this, effects, ok, nok);
    },
  });
  return {
    ...strict,
    flow: { ...strict.flow, [openBrace]: only(strict.flow, openBrace).map(refusing) },
    text: { ...strict.text, [openBrace]: only(strict.text, openBrace).map(refusing) },
  };
}

function only(constructs: Constructs | undefined, code: number): Construct[] {
  const found = constructs?.[code] ?? [];
  return Array.isArray(found) ? found : [found];
}

/**
 * Wraps a construct so that it gives up where it would throw; its first character is then read in another way. `mayBegin` looks ahead, because a
 * block that fails after reading many lines has already excluded them from lists and quotes.
 */
function guarded(
  construct: Construct,
  repairs: Repairs,
  mayBegin: (offset: number, context: TokenizeContext) => boolean,
): Construct {
  const tokenize: Tokenizer = function (effects, ok, nok) {
    const start = this.now();
    if (!mayBegin(start.offset, this)) return nok;
    let isOver = false;
    const over =
      (state: State): State =>
      (code) => {
        isOver = true;
        return state(code);
      };
    let state: State | undefined = construct.tokenize.call(this, effects, over(ok), over(nok));
    const step: State = (code) => {
      try {
        state = state?.(code);
      } catch (error) {
        if (isOver || error instanceof TooManyRepairs || error instanceof RangeError) throw error;
        const spent = this.now().offset - start.offset;
        repairs.spend(spent);
        if (construct.name === 'mdxTextExpression') noteBrace(repairs, start, reasonOf(error));
        return nok(code);
      }
      return isOver ? state : step;
    };
    return step;
  };
  return { ...construct, tokenize };
}

function reasonOf(error: unknown): string {
  const { reason, cause } = error as { reason?: string; cause?: unknown };
  return cause === undefined ? (reason ?? messageOf(error)) : messageOf(cause).replace(/ \(\d+:\d+\)$/, '');
}

function noteBrace(repairs: Repairs, start: ReturnType<TokenizeContext['now']>, why: string): void {
  const message = `This brace begins no expression (${why.slice(0, 120)}), so it is shown as text. Write \\{ for a brace.`;
  repairs.note(start, message);
  repairs.markText(start.offset, balancedEnd(repairs.text, start.offset));
}

/** Offset of the brace that closes the one at `start`, found by counting braces in its paragraph; `start` if it is not closed. */
function balancedEnd(text: string, start: number): number {
  const paragraph = text.slice(start, start + 20_000).split(/\n[ \t>]*\n/, 1)[0] ?? '';
  let depth = 0;
  for (let at = 0; at < paragraph.length; at += 1) {
    if (paragraph[at] === '{') depth += 1;
    else if (paragraph[at] === '}') depth -= 1;
    if (depth === 0) return start + at + 1;
  }
  return start + 1;
}

/** True if a brace begins an expression. Braces inside braces that became text are text too. */
const isExpression =
  (repairs: Repairs) =>
  (offset: number, context: TokenizeContext): boolean => {
    if (repairs.isText(offset)) return false;
    const { text } = repairs;
    // The lines of a quote have markers, which are not JavaScript.
    if (isInQuote(text, offset)) return true;
    const read = readExpression(text.slice(offset));
    if ('length' in read) return true;
    repairs.spend(1_000);
    noteBrace(repairs, context.now(), read.problem);
    return false;
  };

function isInQuote(text: string, offset: number): boolean {
  return /^[ \t]*(?:[-*+\d.)]+[ \t]+)*>/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset));
}

/** A block that is never closed would take the rest of the page, including its lists and quotes. */
const readsBraces =
  (repairs: Repairs) =>
  (offset: number): boolean => {
    const { text } = repairs;
    if (isInQuote(text, offset)) return true;
    const read = readExpression(text.slice(offset));
    if ('length' in read) return true;
    repairs.spendOn(read.problem, text.length - offset);
    return false;
  };

const readsTag =
  (repairs: Repairs) =>
  (offset: number): boolean =>
    !isOddClosing(repairs.text, offset) && (isInQuote(repairs.text, offset) || isTag(repairs.text, offset, repairs));

/** True for a closing tag with attributes or a second slash, which only the builder of the tree would refuse. */
function isOddClosing(text: string, offset: number): boolean {
  const head = text.slice(offset, offset + 200);
  return /^<\s*\//.test(head) && !/^<\s*\/\s*[\w.:$-]*\s*>/.test(head);
}

/** True if the tag at `offset` ends somewhere. Otherwise a block would take the rest of the page for a tag. */
function isTag(text: string, offset: number, repairs: Repairs): boolean {
  let at = offset + 1;
  const spend = (): boolean => {
    repairs.spend(at - offset);
    return false;
  };
  while (at < text.length) {
    const stop = nextStop(text, at);
    if (stop < 0) return spend();
    const character = text[stop];
    if (character === '>') return true;
    if (character === '{') {
      const read = readExpression(text.slice(stop));
      if (!('length' in read)) {
        repairs.spendOn(read.problem, text.length - stop);
        return spend();
      }
      at = stop + read.length;
    } else {
      const close = text.indexOf(character ?? '', stop + 1);
      at = close + 1;
      if (close < 0) return spend();
    }
  }
  return spend();
}

const stops = /[>{"'`]/g;
function nextStop(text: string, from: number): number {
  stops.lastIndex = from;
  return stops.exec(text)?.index ?? -1;
}

/** A tag that HTML accepts and JSX does not. In a block it must be alone on its line. */
function looseTag(type: 'looseFlowTag' | 'looseTextTag', repairs: Repairs): Construct {
  const isFlow = type === 'looseFlowTag';
  const tokenize: Tokenizer = function (effects, ok, nok) {
    const start = this.now();
    const { offset } = start;
    const tag = repairs.looseTagAt(start, (text) => readLooseTag(text, start));
    if (tag === undefined) return nok;
    const end = offset + tag.length;
    const inside: State = (code) => {
      if (this.now().offset >= end) {
        effects.exit(type);
        return isFlow ? after(code) : ok(code);
      }
      if (code === null) return nok(code);
      if (isEol(code)) return eol(effects, inside)(code);
      effects.consume(code);
      return inside;
    };
    const after: State = (code) => {
      if (isSpace(code)) {
        effects.enter('whitespace');
        return spaces(code);
      }
      return code === null || isEol(code) ? ok(code) : nok(code);
    };
    const spaces: State = (code) => {
      if (isSpace(code)) {
        effects.consume(code);
        return spaces;
      }
      effects.exit('whitespace');
      return after(code);
    };
    return (code) => {
      effects.enter(type).looseTag = tag;
      return inside(code);
    };
  };
  return { name: type, tokenize, ...(isFlow && { concrete: true }) };
}

function eol(effects: Effects, next: State): State {
  return (code) => {
    effects.enter('lineEnding');
    effects.consume(code);
    effects.exit('lineEnding');
    return next;
  };
}

/** Records that a `<` is text or a link, and fails, so that other constructs read it. */
function textOf(repairs: Repairs): Construct {
  const tokenize: Tokenizer = function (_effects, _ok, nok) {
    const start = this.now();
    const head = repairs.text.slice(start.offset, start.offset + 500);
    const link = autolinkPattern.exec(head)?.[0];
    // CommonMark reads these as text too, and authors intend it.
    if (link === undefined && /^<[\s<=]|^<$/.test(head)) return nok;
    const shown = JSON.stringify(head.split(/[\s>]/, 1)[0]?.slice(0, 30));
    repairs.note(
      start,
      link === undefined
        ? `${shown} begins no tag, so it is shown as text. Write &lt; for "<", or put it in backticks.`
        : `${link.slice(0, 100)} is read as a link. In MDX write [text](address).`,
    );
    return nok;
  };
  return { name: 'lenientText', tokenize };
}

/** The construct for imports and exports, which takes as many lines as are valid JavaScript. */
function module(repairs: Repairs): Construct {
  const tokenize: Tokenizer = function (effects, ok, nok) {
    const start = this.now();
    if (this.interrupt === true || start.column > 1) return nok;
    const read = readModule(repairs, start);
    if (read === undefined) return nok;
    const [type, data] = read.program
      ? (['mdxjsEsm', 'mdxjsEsmData'] as const)
      : (['droppedCode', 'droppedCodeData'] as const);
    const line: State = (code) => {
      effects.enter(data);
      return inLine(code);
    };
    const inLine: State = (code) => {
      if (code !== null && !isEol(code)) {
        effects.consume(code);
        return inLine;
      }
      effects.exit(data);
      return lineEnd(code);
    };
    const lineEnd: State = (code) => {
      if (code !== null && this.now().offset < read.end) return eol(effects, nextLine)(code);
      const token = effects.exit(type);
      if (read.program !== undefined) token.estree = read.program;
      return ok(code);
    };
    const nextLine: State = (code) => (code === null || isEol(code) ? lineEnd(code) : line(code));
    return (code) => {
      effects.enter(type);
      return line(code);
    };
  };
  return { name: 'lenientModule', tokenize, concrete: true };
}
