/** Namespaces whose documents can run scripts. */
const runs = /w3\.org\/(1999\/xhtml|2000\/svg|1999\/XSL|1998\/Math)/i;

/**
 * Returns XML unchanged if a browser that opens it shows it as text: it uses no namespace with scripts, has no style sheet, defines no entities, and
 * is UTF-8. Undefined otherwise. Pure.
 */
export function isolateXml(text: string): string | undefined {
  if (/<\?xml-stylesheet|<!DOCTYPE|<!ENTITY/i.test(text)) return undefined;
  if (/^\ufeff?<\?xml[^>]*encoding\s*=\s*["'](?!utf-8["'])/i.test(text)) return undefined;
  // XML does not allow this character. A browser that finds one reads the file as UTF-16.
  if (text.includes('\0')) return undefined;
  // The whole text is searched, because an apparent attribute may be part of another value, and the other way round.
  return runs.test(withoutReferences(text)) ? undefined : text;
}

/** Replaces references such as `&#120;` by their characters, because they could hide a name. */
const withoutReferences = (text: string): string =>
  text.replaceAll(/&#(?:x([0-9a-f]+)|([0-9]+));/gi, (written, hex: string | undefined, decimal: string | undefined) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : written;
  });
