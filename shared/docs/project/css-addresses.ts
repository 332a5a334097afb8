/**
 * Matches `url(…)` of CSS. The address is in quotes and may then have spaces and brackets, or is without quotes. An escape is a backslash with hex
 * digits or one character.
 */
const pattern =
  /\burl\([ \t\n\r\f]*(?:"((?:[^"\\\n\r\f]|\\[^\n\r\f]){0,1000})"|'((?:[^'\\\n\r\f]|\\[^\n\r\f]){0,1000})'|((?:[^"'()\s\\]|\\[^\n\r\f]){1,1000}))[ \t\n\r\f]*\)/gi;

/** Returns the targets of the addresses in style sheets, with their escapes decoded. */
export function cssAddresses(text: string): string[] {
  return Array.from(text.matchAll(pattern), ([, double, single, plain]) =>
    withoutEscapes(double ?? single ?? plain ?? ''),
  );
}

/**
 * Replaces each address by the result of `written`, which gets the target and the quote around it. An undefined result keeps the address. Comments
 * and strings stay unchanged. The result must not need an escape.
 */
export function replaceCssAddresses(
  text: string,
  written: (named: string, quote: string) => string | undefined,
): string {
  return text.replace(parts, (whole: string, double?: string, single?: string, plain?: string) => {
    const named = double ?? single ?? plain;
    if (named === undefined) return whole;
    const quote = double === undefined ? (single === undefined ? '' : "'") : '"';
    return written(withoutEscapes(named), quote) ?? whole;
  });
}

/** Matches addresses, and the comments, escapes and strings that could look like parts of them. */
const parts = new RegExp(
  String.raw`/\*[^]*?\*/|\\[^]|${pattern.source}|"(?:[^"\\\n\r\f]|\\[^])*"|'(?:[^'\\\n\r\f]|\\[^])*'`,
  'gi',
);

/** A string or an address of CSS with its escapes decoded. */
export function withoutEscapes(written: string): string {
  return written.replace(/\\(?:([0-9a-f]{1,6})[ \t\n\r\f]?|([^]))/gi, (_whole, hex?: string, character?: string) => {
    const code = hex === undefined ? undefined : Number.parseInt(hex, 16);
    if (code === undefined) return character ?? '';
    return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? '\ufffd' : String.fromCodePoint(code);
  });
}
