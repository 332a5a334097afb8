/** How a language writes what JSON has. */
export type JsonDialect = {
  text: (text: string) => string;
  /** The name of a member; without it, as a text. */
  name?: (name: string) => string;
  words: Readonly<Record<'true' | 'false' | 'null', string>>;
};

/** Texts, numbers and words; all else in JSON is brackets, commas, colons and space. */
const tokens = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d[\d.eE+-]*|true|false|null|\n */g;

/** JSON with line breaks as code of another language, with its numbers digit by digit. `indent`: spaces in front of each line. */
export const jsonAsCode = (json: string, { text, name = text, words }: JsonDialect, indent: number): string =>
  json.replaceAll(tokens, (token: string, colon: string | undefined) => {
    if (token.startsWith('\n')) return token + ' '.repeat(indent);
    if (token.startsWith('"')) {
      if (colon === undefined) return text(JSON.parse(token) as string);
      return name(JSON.parse(token.slice(0, -colon.length)) as string) + colon;
    }
    return words[token as 'true'] ?? token;
  });

/** Some number would be another one in a language that has floating-point numbers alone. */
export const hasExactNumbers = (json: string): boolean =>
  [...json.matchAll(tokens)].some(([token]) => /^[-\d]/.test(token) && String(Number(token)) !== token);
