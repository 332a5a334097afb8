import { createContext, runInContext } from 'node:vm';
import { Parser } from 'acorn';
import type { Expression } from 'estree';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { evaluateExpression } from './evaluate-expression.ts';
import { Budget, type Evaluation, type Frame, NotStatic } from './evaluation.ts';
import { Closure, Scope, type StaticValue } from './static-tree.ts';

/** Names in the scope of every expression, here and in JavaScript. */
const known = { words: ['b', 'a', 'c'], one: 1, none: null, page: { title: 'T', tags: ['x'], size: 2 } };

const javascript = createContext({ ...known });

/** The value of an expression in JavaScript; undefined if JavaScript throws. All functions are equal. */
function inJavaScript(code: string): { value: unknown } | undefined {
  try {
    return { value: plain(runInContext(`"use strict"; (${code})`, javascript)) };
  } catch {
    return undefined;
  }
}

/** The value of an expression in pages; undefined if it is refused. */
function inPages(code: string): { value: unknown } | undefined {
  const node = Parser.parseExpressionAt(code, 0, { ecmaVersion: 'latest' }) as unknown as Expression;
  const scope = new Scope();
  for (const [name, value] of Object.entries(known)) scope.set(name, asStatic(value));
  const evaluation = { budget: new Budget(), diagnostics: [] } as unknown as Evaluation;
  try {
    return { value: plain(evaluateExpression(node, { evaluation, scope } as Frame)) };
  } catch (error) {
    if (error instanceof NotStatic) return undefined;
    throw error;
  }
}

const someFunction = 'a function';

function plain(value: unknown): unknown {
  if (typeof value === 'function' || value instanceof Closure) return someFunction;
  if (Array.isArray(value)) return Array.from(value as unknown[], plain);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, of]) => [key, plain(of)]));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, plain(of)]));
  }
  return value;
}

function asStatic(value: unknown): StaticValue {
  if (Array.isArray(value)) return value.map(asStatic);
  if (value !== null && typeof value === 'object') {
    return new Map(Object.entries(value).map(([key, of]) => [key, asStatic(of)]));
  }
  return value as StaticValue;
}

const quoted = fc
  .constantFrom('', 'a', 'bc', '1', ' 2 ', 'ä', '😀', "it's", '\\', '${x}', '`')
  .map((text) => JSON.stringify(text));
const digits = fc.constantFrom('0', '1', '2', '-1', '1.5', '1e21', '0.1', '(0/0)', '(1/0)').map((text) => `(${text})`);

/** Expressions of the subset, by the type of their value. They may not be refused. */
const typed = fc.letrec<Record<'text' | 'number' | 'truth' | 'value' | 'texts', string>>((tie) => {
  const [text, number, truth, value, texts] = [tie('text'), tie('number'), tie('truth'), tie('value'), tie('texts')];
  const depth = { depthSize: 'small', withCrossShrink: true } as const;
  return {
    text: fc.oneof(
      depth,
      quoted,
      fc.constantFrom('page.title', 'words[1]', 'page["title"]'),
      fc.tuple(text, value).map(([a, b]) => `(${a} + ${b})`),
      fc.tuple(value, value).map(([a, b]) => `\`<\${${a}}|\${${b}}>\``),
      fc.tuple(texts, quoted).map(([a, b]) => `${a}.join(${b})`),
      fc.tuple(text, number, number).map(([a, from, to]) => `(${a}).slice(${from}, ${to})`),
      value.map((a) => `(typeof (${a}))`),
      fc.tuple(truth, text, text).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    ),
    number: fc.oneof(
      depth,
      digits,
      fc.constantFrom('one', 'page.size', 'words.length'),
      fc.tuple(number, fc.constantFrom('+', '-', '*', '/', '%', '**'), number).map((parts) => `(${parts.join(' ')})`),
      fc.tuple(fc.constantFrom('-', '+'), value).map(([sign, a]) => `(${sign} (${a}))`),
      text.map((a) => `(${a}).length`),
      texts.map((a) => `${a}.length`),
    ),
    truth: fc.oneof(
      depth,
      fc.constantFrom('true', 'false'),
      value.map((a) => `!(${a})`),
      fc
        .tuple(value, fc.constantFrom('===', '!==', '==', '!=', '<', '>', '<=', '>='), value)
        .map((parts) => `(${parts.join(' ')})`),
    ),
    value: fc.oneof(
      depth,
      fc.constantFrom(
        'null',
        'undefined',
        'none',
        'page.nothing',
        'none?.title',
        'none?.a.b.c',
        'none?.map((x) => x).length',
      ),
      text,
      number,
      truth,
      fc.tuple(value, fc.constantFrom('&&', '||', '??'), value).map(([a, by, b]) => `((${a}) ${by} (${b}))`),
      fc.tuple(texts, number).map(([a, at]) => `${a}[${at}]`),
    ),
    texts: fc.oneof(
      depth,
      fc.constantFrom('words', 'page.tags', '[]'),
      fc.array(value, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      fc.tuple(texts, texts).map(([a, b]) => `[...${a}, ...${b}]`),
      fc.tuple(texts, value).map(([a, b]) => `${a}.map((x, at) => [x, at, ${b}][at % 3])`),
      fc.tuple(texts, value).map(([a, b]) => `${a}.map((x) => { const y = ${b}; if (y) { return x; } return y; })`),
      fc.tuple(texts, truth).map(([a, b]) => `${a}.filter((x) => x !== "a" && ${b})`),
      fc.tuple(texts, number).map(([a, from]) => `${a}.slice(${from})`),
    ),
  };
});

test('expressions of the static subset have the same value as in JavaScript', () => {
  fc.assert(
    fc.property(fc.oneof(typed.value, typed.texts), (code) => {
      expect({ code, ...inPages(code) }).toStrictEqual({ code, ...inJavaScript(code) });
    }),
    { numRuns: 2_000 },
  );
});

const names = fc.constantFrom(
  ...['length', 'map', 'filter', 'join', 'slice', 'at', 'concat', 'title', 'tags', 'nothing', 'toString', 'valueOf'],
  ...[
    'constructor',
    'prototype',
    '__proto__',
    'hasOwnProperty',
    'toUpperCase',
    'toFixed',
    'size',
    'get',
    'has',
    'keys',
  ],
);
const keys = fc.oneof(names, fc.constantFrom('0', '00', '01', '1', '-1', '1.0', ' 1', '1e0', '+1', ''));

/** Any expression, of the subset or not. */
const { any } = fc.letrec<Record<'any', string>>((tie) => {
  const any = tie('any');
  const depth = { depthSize: 'small', withCrossShrink: true } as const;
  return {
    any: fc.oneof(
      depth,
      fc.constantFrom(
        'words',
        'page',
        'one',
        'none',
        'undefined',
        'true',
        '({})',
        '[]',
        '"abc"',
        '7',
        '[, 1]',
        '/a/',
        '2n',
      ),
      fc.tuple(any, names).map(([a, name]) => `(${a}).${name}`),
      fc.tuple(any, names).map(([a, name]) => `(${a})?.${name}`),
      fc.tuple(any, names, names).map(([a, name, next]) => `(${a})?.${name}.${next}`),
      fc.tuple(any, keys).map(([a, key]) => `(${a})[${JSON.stringify(key)}]`),
      fc.tuple(any, any).map(([a, b]) => `(${a})[${b}]`),
      fc.tuple(any, names, any).map(([a, name, b]) => `(${a}).${name}(${b})`),
      fc.tuple(any, names, any).map(([a, name, b]) => `(${a})?.${name}((x) => ${b})`),
      fc
        .tuple(any, fc.constantFrom('+', '-', '==', '===', '<', '&&', '||', '??', 'in', 'instanceof', '|', '>>'), any)
        .map(([a, by, b]) => `((${a}) ${by} (${b}))`),
      fc.tuple(fc.constantFrom('!', '-', '+', '~', 'typeof', 'void'), any).map(([by, a]) => `(${by} (${a}))`),
      fc.array(any, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      any.map((a) => `[...(${a})]`),
      fc.tuple(keys, any).map(([key, a]) => `({ ${JSON.stringify(key)}: ${a} })`),
      fc.tuple(keys, any, any).map(([key, a, b]) => `({ ...(${a}), [${JSON.stringify(key)}]: ${b} })`),
      fc.tuple(any, any).map(([a, b]) => `\`\${${a}}\${${b}}\``),
      any.map((a) => `((x) => ${a})`),
    ),
  };
});

test('any expression has the same value as in JavaScript, or is refused', () => {
  fc.assert(
    fc.property(any, (code) => {
      const found = inPages(code);
      if (found !== undefined) expect({ code, ...found }).toStrictEqual({ code, ...inJavaScript(code) });
    }),
    { numRuns: 10_000 },
  );
});
