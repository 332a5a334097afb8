import { analyzeQuery, analyzeText } from './analyze-text.ts';

/** A part of a question that has to occur literally: a flag, a name in code, an address, or a quotation. */
type ExactSpan = {
  /** Patterns for texts in the form of `plainText`. */
  patterns: readonly RegExp[];
  /** Terms of a quotation or a name, which may also occur in another spelling, such as `max_size` or `maxSize`. */
  sequence?: readonly string[] | undefined;
  /** Share of the question's terms, 0–1: a name in a long sentence is only a small part of it. */
  share: number;
};

const mostSpans = 8;
const mostCharacters = 200;
const mostQueryCharacters = 2_000;

/** The parts of a question that have to occur literally. Most questions have none. Pure. */
export function exactSpans(query: string): ExactSpan[] {
  const spans = new Map<string, ExactSpan>();
  // Values of settings are rarely in the documentation, and may be long.
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

/** Share of the question that the spans in a text cover, 0–1. Pure. */
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

/** Lower case, with one space between words, and with the same placeholder for all parameters of addresses: `{id}`, `<id>`, `:id`. */
const plainText = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/(?<=\/)(?:\{[^{}\s/]{0,60}\}|<[^<>\s/]{0,60}>|:\w{1,60})/g, parameter)
    .replaceAll(/\s+/g, ' ');
const parameter = '{}';

/**
 * Pattern of a literal, which does not match inside a longer word; a part of a name between underscores counts as a word. A path may follow a host or
 * the first parts of a longer path, because samples have whole addresses.
 */
const patternOf = (literal: string): RegExp => {
  const before = literal.startsWith('/') ? '' : '(?<![\\p{L}\\p{N}])';
  return new RegExp(`${before}${literal.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}(?![\\p{L}\\p{N}])`, 'u');
};

/** The value of a flag or an environment variable. */
const value = /(?<=^-{1,2}[\w-]+|^[A-Z][A-Z0-9_]*)=.*$/s;
const withoutValue = (word: string): string => word.replace(value, '');

/**
 * The name without the characters around it where it was copied: brackets, quotes, the value of a flag, arguments, punctuation. For an
 * address, its path.
 */
function nameIn(word: string): string {
  const url = /^https?:\/\/[^/\s]+(\/[^\s?#]*)/i.exec(word)?.[1];
  return (url ?? word)
    .replace(/^[([{'"$<,;]+/, '')
    .replace(value, '')
    .replace(/\(.*$/s, '')
    .replace(/[)\]'",;:?!.]+$/, '')
    .replace(/(?<![{\w])\}+$/, '');
}

/** The literal forms of a word, if it is a name that people paste; otherwise none. */
function literalsOf(word: string): string[] {
  const bare = nameIn(word);
  if (bare.length < 3 || bare.length > mostCharacters || /\s/.test(bare) || !isName(bare)) return [];
  const plain = plainText(bare);
  if (!bare.includes('/')) return [plain];
  const path = plain.replace(/(?<=.)\/+$/, '');
  // A called address has a value where the documentation has a parameter.
  const called = path.replaceAll(/(?<=\/)[\w.-]*\d[\w.-]*(?=\/|$)/g, (part) =>
    /^v\d+$/.test(part) ? part : parameter,
  );
  return called === path ? [path] : [path, called];
}

/** True for names of code, such as `BLOCKED` for a status. `e-mail` and `and/or` are ordinary words, and short words in capitals are abbreviations. */
function isName(word: string): boolean {
  return (
    /^--?[\p{L}\d][\p{L}\d-]*$/u.test(word) ||
    (/^[\p{L}\d]+(?:[-_][\p{L}\d]+){2,}$/u.test(word) && !/^(?:\p{Ll}+-){2}\p{Ll}+$/u.test(word)) ||
    /^x(?:-[\p{L}\d]+)+$/iu.test(word) ||
    /^v?\d+(?:\.\d+)+$/.test(word) ||
    /^[\p{L}\d]*_[\p{L}\d_]+$/u.test(word) ||
    /^\p{L}*\p{Ll}\p{Lu}[\p{L}\d]*$/u.test(word) ||
    /^\p{Lu}{6,}$/u.test(word) ||
    /^@[\w-]+\/[\w.-]+$/.test(word) ||
    /^(?:[\w-]{2,}\.)+[\w-]{2,}$/.test(word) ||
    /^(?:\/[^/\s]+){2,}\/?$/.test(word) ||
    /^[\w.-]+(?:\/[\w.-]+)*\/[\w-]+\.[a-z]{1,5}$/i.test(word)
  );
}
