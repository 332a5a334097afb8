/** Documents in these languages run scripts. */
const runs = /w3\.org\/(1999\/xhtml|2000\/svg|1999\/XSL|1998\/Math)/i;

/**
 * XML as it is, if a browser that opens it shows it as text: it names no language with scripts, has no style sheet and no entities of its
 * own, and is UTF-8. Else undefined. Pure.
 */
export function isolateXml(text: string): string | undefined {
  if (/<\?xml-stylesheet|<!DOCTYPE|<!ENTITY/i.test(text)) return undefined;
  if (/^\ufeff?<\?xml[^>]*encoding\s*=\s*["'](?!utf-8["'])/i.test(text)) return undefined;
  // XML has no such character. Where there is one, a browser reads UTF-16.
  if (text.includes('\0')) return undefined;
  // Anywhere, because what looks like an attribute may be inside of another one's value, and the other way round.
  return runs.test(withoutReferences(text)) ? undefined : text;
}

/** With the characters that references such as `&#120;` stand for: they could spell a name so that nobody sees it. */
const withoutReferences = (text: string): string =>
  text.replaceAll(/&#(?:x([0-9a-f]+)|([0-9]+));/gi, (written, hex: string | undefined, decimal: string | undefined) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : written;
  });
