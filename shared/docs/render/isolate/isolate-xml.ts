/** Documents in these languages run scripts. */
const runs = /w3\.org\/(1999\/xhtml|2000\/svg|1999\/XSL|1998\/Math)/i;

/**
 * XML as it is, if a browser that opens it shows it as text: it is in no language with scripts, has no style sheet and no entities of its
 * own. Else undefined. Pure.
 */
export function isolateXml(text: string): string | undefined {
  if (/<\?xml-stylesheet|<!DOCTYPE|<!ENTITY/i.test(text)) return undefined;
  if (/^\ufeff?<\?xml[^>]*encoding\s*=\s*["'](?!utf-8["'])/i.test(text)) return undefined;
  const namespaces = text.matchAll(/xmlns(?::[^\s=]*)?\s*=\s*("[^"]*"|'[^']*'|[^"'])/g);
  // A reference such as `&#120;` could spell a name so that nobody sees it.
  return namespaces.some(([, name = '']) => runs.test(name) || name.includes('&')) ? undefined : text;
}
