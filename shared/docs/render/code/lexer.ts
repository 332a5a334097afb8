import { plain, Runs } from './runs.ts';

/*
 * Colours code in one pass from left to right. A language is a table: in each state, what may come next, by the character it begins with. A
 * pattern must find its end by itself and never look far ahead or back, so that any code takes time with its length.
 */

/** What was taken, from `from` to `end`, which a rule may move. */
export type Cursor = {
  readonly code: string;
  from: number;
  end: number;
  /** Class of the word that comes next, because of the one before it (`def`, `class`). */
  due: string | undefined;
};

/** A class of the theme; what finds one, or undefined when the rule does not fit; or the lexer of another language. */
type Kind = string | ((cursor: Cursor) => string | undefined) | { lexer: Lexer };

/**
 * Characters that it begins with, as in the brackets of a regular expression (`\u0080` for all beyond ASCII); what is taken; its class; and the
 * state after it: `name` goes into one, `=name` goes over to one, `back` leaves.
 */
export type Rule = readonly [begins: string, pattern: RegExp, kind: Kind, next?: string];

/** States by their names, the first is where code begins. */
export type Table = Readonly<Record<string, readonly Rule[]>>;

type CompiledRule = { pattern: RegExp; kind: Kind; next: State | undefined; replaces: boolean; leaves: boolean };
type State = { byCharacter: (CompiledRule[] | undefined)[]; rest: string };

/** A language that is ready to use. */
export type Lexer = (code: string) => Runs;

/** `rest`: classes of what no rule takes, by state. */
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

/** Class of what `fitting` found last. */
let classFound = plain;

/** The first rule that takes something at this place. */
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

/** The character code before what was taken, blanks left out; 10 at the start of a line, -1 of the code. */
export function before({ code, from }: Cursor): number {
  let at = from - 1;
  while (at >= 0 && isBlank(code.charCodeAt(at))) at -= 1;
  return at < 0 ? -1 : code.charCodeAt(at);
}

/** The character code behind it, blanks left out; 10 at the end of a line, -1 of the code. */
export function after({ code, end }: Cursor): number {
  let at = end;
  while (isBlank(code.charCodeAt(at))) at += 1;
  return at < code.length ? code.charCodeAt(at) : -1;
}

const isBlank = (character: number): boolean => character === 0x20 || character === 0x09;

/** Whether what stands behind it, and blanks, begins so. */
export function continues({ code, end }: Cursor, text: string): boolean {
  let at = end;
  while (isBlank(code.charCodeAt(at))) at += 1;
  return code.startsWith(text, at);
}

/**
 * Class of a word. `known`: words by their class. `names`: the class of the name that follows a word. `other`: of all other words. `isName`: where
 * a known word is a name as any other. `ignoresCase`: the known words are in lower case, and fit any.
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
