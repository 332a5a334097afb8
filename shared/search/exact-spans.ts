import { analyzeQuery, analyzeText } from './analyze-text.ts';

/**
 * A part of a question that is meant as it stands: a flag, a name in code, an address, or what is quoted.
 */
type ExactSpan = {
  /** Each finds it in a text, see `plainText`. */
  patterns: readonly RegExp[];
  /** Of a quotation or a name, which may also be written in another way: with other forms of its words, as `max_size` or `maxSize`. */
  sequence?: readonly string[] | undefined;
  /** How much of the question it is, 0–1: a name in a long sentence says little of what is asked. */
  share: number;
};

const mostSpans = 8;
const mostCharacters = 200;
const mostQueryCharacters = 2_000;

/** The parts of a question that are meant as they stand; most questions have none. Pure. */
export function exactSpans(query: string): ExactSpan[] {
  const spans = new Map<string, ExactSpan>();
  // The value of what is set is seldom in the documentation, and it may be long.
  const asked = new Set(analyzeQuery(query.split(/\s+/).map(withoutValue).join(' ')));
  const add = (literals: readonly string[], text: string): void => {
    const [key] = literals;
    if (key === undefined || key.length > mostCharacters || spans.size === mostSpans || spans.has(key)) return;
    const terms = analyzeText(text);
    const share = new Set(terms.filter((term) => asked.has(term))).size / Math.max(1, asked.size);
    if (share === 0) return;
    spans.set(key, { patterns: literals.map(patternOf), sequence: key.includes('/') ? undefined : terms, share });
  };
  const rest = query.slice(0, mostQueryCharacters).replaceAll(quotation, (_, ...groups: (string | undefined)[]) => {
    const quoted = (groups.slice(0, 4).find((group) => group !== undefined) ?? '').trim();
    const literals = literalsOf(quoted);
    if (literals.length > 0) add(literals, nameIn(quoted));
    else add([plainText(quoted)], quoted);
    return ' ';
  });
  for (const word of rest.split(/\s+/)) add(literalsOf(word), nameIn(word));
  return [...spans.values()];
}

const quotation = /"([^"\n]{1,300})"|“([^”\n]{1,300})”|«([^»\n]{1,300})»|`([^`\n]{1,300})`/g;

/** How much of the question the spans are that a text has, 0–1. Pure. */
export function exactShare(spans: readonly ExactSpan[], text: string): number {
  const plain = plainText(text);
  let terms: string | undefined;
  const has = ({ patterns, sequence }: ExactSpan): boolean => {
    if (patterns.some((pattern) => pattern.test(plain))) return true;
    if (sequence === undefined || sequence.length < 2) return false;
    terms ??= ` ${analyzeText(text).join(' ')} `;
    return terms.includes(` ${sequence.join(' ')} `);
  };
  return Math.min(
    1,
    spans.filter(has).reduce((sum, { share }) => sum + share, 0),
  );
}

/** In small letters, with one space between words, and with the same sign for all parameters of addresses: `{id}`, `<id>`, `:id`. */
const plainText = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/(?<=\/)(?:\{[^{}\s/]{0,60}\}|<[^<>\s/]{0,60}>|:\w{1,60})/g, parameter)
    .replaceAll(/\s+/g, ' ');
const parameter = '{}';

/**
 * Not in the middle of a longer word; a part of a name between underscores is a word. A path may stand behind a host or the first parts of a longer one:
 * samples have whole addresses.
 */
const patternOf = (literal: string): RegExp => {
  const before = literal.startsWith('/') ? '' : '(?<![\\p{L}\\p{N}])';
  return new RegExp(`${before}${literal.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}(?![\\p{L}\\p{N}])`, 'u');
};

/** What a flag or a variable of the environment is set to. */
const value = /(?<=^-{1,2}[\w-]+|^[A-Z][A-Z0-9_]*)=.*$/s;
const withoutValue = (word: string): string => word.replace(value, '');

/** Without what stands around a name where it was copied: brackets, quotes, the value of a flag, arguments, punctuation. Of an address the path. */
function nameIn(word: string): string {
  const url = /^https?:\/\/[^/\s]+(\/[^\s?#]*)/i.exec(word)?.[1];
  return (url ?? word)
    .replace(/^[([{'"$<,;]+/, '')
    .replace(value, '')
    .replace(/\(.*$/s, '')
    .replace(/[)\]'",;:?!.]+$/, '')
    .replace(/(?<![{\w])\}+$/, '');
}

/** As which texts a word of a question may be found, when it is a name that people paste; else none. */
function literalsOf(word: string): string[] {
  const bare = nameIn(word);
  if (bare.length < 3 || bare.length > mostCharacters || /\s/.test(bare) || !isName(bare)) return [];
  const plain = plainText(bare);
  if (!bare.includes('/')) return [plain];
  const path = plain.replace(/(?<=.)\/+$/, '');
  // An address as it was called has a value where the documentation names a parameter.
  const called = path.replaceAll(/(?<=\/)[\w.-]*\d[\w.-]*(?=\/|$)/g, (part) =>
    /^v\d+$/.test(part) ? part : parameter,
  );
  return called === path ? [path] : [path, called];
}

/** Names of code, not of language: `e-mail` and `and/or` are words. */
function isName(word: string): boolean {
  return (
    /^--?[\p{L}\d][\p{L}\d-]*$/u.test(word) ||
    (/^[\p{L}\d]+(?:[-_][\p{L}\d]+){2,}$/u.test(word) && !/^(?:\p{Ll}+-){2}\p{Ll}+$/u.test(word)) ||
    /^x(?:-[\p{L}\d]+)+$/iu.test(word) ||
    /^v?\d+(?:\.\d+)+$/.test(word) ||
    /^[\p{L}\d]*_[\p{L}\d_]+$/u.test(word) ||
    /^\p{L}*\p{Ll}\p{Lu}[\p{L}\d]*$/u.test(word) ||
    /^@[\w-]+\/[\w.-]+$/.test(word) ||
    /^(?:[\w-]{2,}\.)+[\w-]{2,}$/.test(word) ||
    /^(?:\/[^/\s]+){2,}\/?$/.test(word) ||
    /^[\w.-]+(?:\/[\w.-]+)*\/[\w-]+\.[a-z]{1,5}$/i.test(word)
  );
}
