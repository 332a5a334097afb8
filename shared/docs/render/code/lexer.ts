import { plain, Runs } from './runs.ts';

/*
 * Colours code in one pass from left to right. A language is a table: for each state, the rules of the next token, by its first character. A pattern
 * must find the end of its token alone and never search far ahead or back, so that the time grows with the length of the code.
 */

/** The current token, from `from` to `end`. A rule may move `end`. */
export type Cursor = {
  readonly code: string;
  from: number;
  end: number;
  /** Class of the next word, set by the word before it (`def`, `class`). */
  due: string | undefined;
};

/** Class of a token: a class of the theme, a function that finds one (undefined if the rule does not match), or the lexer of an embedded language. */
type Kind = string | ((cursor: Cursor) => string | undefined) | { lexer: Lexer };

/**
 * A rule for tokens. `begins`: the first characters, as in the brackets of a regular expression (`\u0080` for all beyond ASCII). `next`: the next
 * state: `name` enters a state, `=name` replaces the current one, `back` leaves it.
 */
export type Rule = readonly [begins: string, pattern: RegExp, kind: Kind, next?: string];

/** States by name. Code begins in the first one. */
export type Table = Readonly<Record<string, readonly Rule[]>>;

type CompiledRule = { pattern: RegExp; kind: Kind; next: State | undefined; replaces: boolean; leaves: boolean };
type State = { byCharacter: (CompiledRule[] | undefined)[]; rest: string };

/** Colours code of one language. */
export type Lexer = (code: string) => Runs;

/** Compiles a table. `rest`: the class of text that no rule matches, by state. */
export function lexer(table: Table, rest: Readonly<Record<string, string>> = {}): Lexer {
  const states = new Map<string, State>();
  for (const name of Object.keys(table)) states.set(name, { byCharacter: [], rest: rest[name] ?? plain });
  for (const [name, rules] of Object.entries(table)) {
    const { byCharacter } = states.get(name) as State;
    for (const [begins, { source, flags }, kind, next = ''] of rules) {
      const fits = new RegExp(`[${begins}]`);
      const target = states.get(next.replace(/^=/, ''));
      if (next !== '' && next !== 'back' && target === undefined) throw new Error(`there is no state ${next}`);
      const pattern = new RegExp(source, `${flags}y`);
      const rule = { pattern, kind, next: target, replaces: next.startsWith('='), leaves: next === 'back' };
      for (let code = 0; code <= 128; code += 1) {
        if (fits.test(String.fromCharCode(code))) (byCharacter[code] ??= []).push(rule);
      }
    }
    for (let code = 0; code <= 128; code += 1) byCharacter[code] ??= undefined;
  }
  const [first] = states.values();
  return (code) => lex(code, first as State);
}

function lex(code: string, first: State): Runs {
  const runs = new Runs(code);
  const around: State[] = [];
  const cursor: Cursor = { code, from: 0, end: 0, due: undefined };
  let state = first;
  let taken = 0;
  for (let at = 0; at < code.length; ) {
    const character = code.charCodeAt(at);
    const rules = state.byCharacter[character < 128 ? character : 128];
    const rule = rules === undefined ? undefined : fitting(rules, cursor, at);
    if (rule === undefined) {
      at += 1;
      continue;
    }
    if (at > taken) runs.add(at, state.rest);
    if (typeof rule.kind === 'object') runs.addAll(rule.kind.lexer(code.slice(at, cursor.end)), at);
    else runs.add(cursor.end, classFound);
    at = taken = cursor.end;
    if (rule.leaves) state = around.pop() ?? first;
    else if (rule.next !== undefined) {
      if (!rule.replaces) around.push(state);
      state = rule.next;
    }
  }
  runs.add(code.length, state.rest);
  return runs;
}

/** Class that the last call of `fitting` found. */
let classFound = plain;

/** The first rule that matches at this place. It sets the cursor and `classFound`. */
function fitting(rules: readonly CompiledRule[], cursor: Cursor, at: number): CompiledRule | undefined {
  for (const rule of rules) {
    const { pattern, kind } = rule;
    pattern.lastIndex = at;
    if (!pattern.test(cursor.code) || pattern.lastIndex === at) continue;
    cursor.from = at;
    cursor.end = pattern.lastIndex;
    const found = typeof kind === 'function' ? kind(cursor) : typeof kind === 'string' ? kind : plain;
    if (found === undefined) continue;
    classFound = found;
    return rule;
  }
  return undefined;
}

/** The character code before the token, without blanks; 10 at the start of a line, -1 at the start of the code. */
export function before({ code, from }: Cursor): number {
  let at = from - 1;
  while (at >= 0 && isBlank(code.charCodeAt(at))) at -= 1;
  return at < 0 ? -1 : code.charCodeAt(at);
}

/** The character code after the token, without blanks; 10 at the end of a line, -1 at the end of the code. */
export function after({ code, end }: Cursor): number {
  let at = end;
  while (isBlank(code.charCodeAt(at))) at += 1;
  return at < code.length ? code.charCodeAt(at) : -1;
}

const isBlank = (character: number): boolean => character === 0x20 || character === 0x09;

export const isUpper = (character: number): boolean => character > 0x40 && character < 0x5b;
/** True for a token that begins with a capital letter. */
export const isCapital = ({ code, from }: Cursor): boolean => isUpper(code.charCodeAt(from));
/** True for a token directly after a dot. */
export const isMember = ({ code, from }: Cursor): boolean => code.charCodeAt(from - 1) === 0x2e;

/** True if the text after the token and blanks begins with `text`. */
export function continues({ code, end }: Cursor, text: string): boolean {
  let at = end;
  while (isBlank(code.charCodeAt(at))) at += 1;
  return code.startsWith(text, at);
}

/**
 * Finds the class of a word. `known`: words by class. `names`: words by the class of the name that follows them. `other`: class of all other words.
 * `isName`: true where a known word is used as a name. `ignoresCase`: the known words are in lower case, and match any case.
 */
export function word(
  known: Readonly<Record<string, string>>,
  {
    names = {},
    other = plain,
    isName,
    ignoresCase = false,
  }: {
    names?: Readonly<Record<string, string>>;
    other?: string | ((cursor: Cursor) => string | undefined);
    isName?: (cursor: Cursor) => boolean;
    ignoresCase?: boolean;
  } = {},
): (cursor: Cursor) => string | undefined {
  const classes = byWord(known);
  const due = byWord(names);
  return (cursor) => {
    const written = cursor.code.slice(cursor.from, cursor.end);
    const text = ignoresCase ? written.toLowerCase() : written;
    const found = classes.get(text);
    if (found !== undefined && isName?.(cursor) !== true) {
      cursor.due = due.get(text);
      return found;
    }
    const named = cursor.due;
    cursor.due = undefined;
    return named ?? (typeof other === 'string' ? other : other(cursor));
  };
}

const byWord = (known: Readonly<Record<string, string>>): Map<string, string> =>
  new Map(
    Object.entries(known).flatMap(([className, words]) =>
      words
        .trim()
        .split(/\s+/)
        .map((text) => [text, className] as const),
    ),
  );
