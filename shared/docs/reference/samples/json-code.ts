/** Syntax of JSON values in a language. */
export type JsonDialect = {
  text: (text: string) => string;
  /** Writes the name of a member. Default: as a text. */
  name?: (name: string) => string;
  words: Readonly<Record<'true' | 'false' | 'null', string>>;
};

/** Matches texts, numbers, words and line breaks. Everything else in JSON is brackets, commas, colons and spaces. */
const tokens = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d[\d.eE+-]*|true|false|null|\n */g;

/**
 * Converts JSON with line breaks to code of another language, and keeps the digits of its numbers. `indent` is the number of spaces before each line.
 */
export const jsonAsCode = (json: string, { text, name = text, words }: JsonDialect, indent: number): string =>
  json.replaceAll(tokens, (token: string, colon: string | undefined) => {
    if (token.startsWith('\n')) return token + ' '.repeat(indent);
    if (token.startsWith('"')) {
      if (colon === undefined) return text(JSON.parse(token) as string);
      return name(JSON.parse(token.slice(0, -colon.length)) as string) + colon;
    }
    return words[token as 'true'] ?? token;
  });

/** True if some number would change in a language that has only floating-point numbers. */
export const hasExactNumbers = (json: string): boolean =>
  [...json.matchAll(tokens)].some(([token]) => /^[-\d]/.test(token) && String(Number(token)) !== token);
