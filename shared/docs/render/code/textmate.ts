import { createRequire } from 'node:module';
import {
  createCssVariablesTheme,
  createHighlighterCoreSync,
  type HighlighterCore,
  type LanguageRegistration,
} from 'shiki/core';
import { createOnigurumaEngine } from 'shiki/engine/oniguruma';
import { bundledLanguages } from 'shiki/langs';

const themeName = 'bindery';
/** Grammars backtrack on long lines. The limit is a length and not a time, so that the same code always looks the same. */
const maxLineLength = 2000;
const maxCodeLength = 200_000;
const mostRemembered = 1000;

/** A piece of a line; `className` is absent for plain text. */
export type Token = { text: string; className?: string };

/** Classes by the theme's names of colours, short because a page has thousands. */
const classes: ReadonlyMap<string, string> = new Map([
  ['constant', 'tc'],
  ['string', 'ts'],
  ['comment', 'tm'],
  ['keyword', 'tk'],
  ['parameter', 'tp'],
  ['function', 'tf'],
  ['string-expression', 'te'],
  ['punctuation', 'tu'],
  ['link', 'tl'],
]);

/** Names that authors write and the highlighter does not know. A map, so that names of JavaScript's own properties find nothing. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['curl', 'bash'],
  ['shell-session', 'shellsession'],
  ['env', 'dotenv'],
  ['golang', 'go'],
  ['node', 'javascript'],
  ['nodejs', 'javascript'],
  ['js-nolint', 'javascript'],
  ['jsonl', 'json'],
  ['mermaid', 'text'],
]);
const languageNames: ReadonlySet<string> = new Set(Object.keys(bundledLanguages));

const require = createRequire(import.meta.url);
/** The engine that grammars are written for. The one on JavaScript's own expressions keeps a position, so earlier code changed colours. */
const engine = await createOnigurumaEngine(import('shiki/wasm'));
const highlighters = new Map<string, HighlighterCore>();
const remembered = new Map<string, Token[][]>();

/** The highlighter's name of a language, or undefined when the code is shown as plain text. */
export function knownLanguage(written: string): string | undefined {
  const name = written.toLowerCase();
  const language = aliases.get(name) ?? name;
  return languageNames.has(language) ? language : undefined;
}

/** Colours code, line by line. Languages are loaded when they are first seen; long lines and unknown languages stay plain. */
export function highlight(code: string, written: string): Token[][] {
  const language = knownLanguage(written);
  if (language === undefined || code.length > maxCodeLength) return code.split('\n').map((text) => [{ text }]);
  const key = `${language}\0${code}`;
  const known = remembered.get(key);
  if (known) {
    remembered.delete(key);
    remembered.set(key, known);
    return known;
  }
  const tokens = tokenize(code, language);
  remembered.set(key, tokens);
  if (remembered.size > mostRemembered) remembered.delete(remembered.keys().next().value as string);
  return tokens;
}

function tokenize(code: string, language: string): Token[][] {
  const limits = { tokenizeMaxLineLength: maxLineLength, tokenizeTimeLimit: 0 };
  const lines = highlighterOf(language).codeToTokensBase(code, { lang: language, theme: themeName, ...limits });
  return lines.map((line) => merged(line.map(({ content, color }) => ({ text: content, ...classOf(color) }))));
}

/**
 * One highlighter per language. Grammars colour embedded code (YAML in Markdown) if that language happens to be loaded, so in a shared
 * highlighter the same code would look different after other pages.
 */
function highlighterOf(language: string): HighlighterCore {
  const known = highlighters.get(language);
  if (known) return known;
  // The name comes from a fixed set, never from an author.
  const grammar = require(`shiki/langs/${language}.mjs`) as { default: LanguageRegistration[] };
  const highlighter = createHighlighterCoreSync({
    themes: [createCssVariablesTheme({ name: themeName, variablePrefix: '--' })],
    langs: [grammar.default],
    engine,
    warnings: false,
  });
  highlighters.set(language, highlighter);
  return highlighter;
}

function classOf(color: string | undefined): { className?: string } {
  const className = classes.get(/^var\(--token-([a-z-]+)\)$/.exec(color ?? '')?.[1] ?? '');
  return className === undefined ? {} : { className };
}

/** Neighbours of the same class become one piece. */
function merged(tokens: Token[]): Token[] {
  const pieces: Token[] = [];
  for (const token of tokens) {
    const last = pieces.at(-1);
    if (last && last.className === token.className) last.text += token.text;
    else pieces.push({ ...token });
  }
  return pieces;
}
