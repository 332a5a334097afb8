import { withoutEscapes } from '#shared/docs/project/css-addresses.ts';
import { classifyUrl } from '#shared/docs/project/url-policy.ts';

/** Functions of CSS that load what their strings name. */
const loading = /^(?:-[a-z]+-)?(?:url|src|image|image-set|cross-fade|element|paint)$/;
/** Functions that insert a value from elsewhere, which may be an address. */
const inserting = /^(?:var|attr|env|if|inherit|--.*)$/;
const longestName = 60;

/**
 * Restricts the addresses of a style sheet to those that pages may have: paths, `data:` and https. When a bundle is read from a folder, `//host/x`
 * and `file://host/x` name a computer in the network, and some systems sign in there. `parts`: the tokens of the sheet, with matching brackets. Pure.
 */
export function withSafeLoads(parts: readonly string[]): string {
  /** The open brackets: true for a bracket of a function that loads, and for brackets inside one. */
  const open: boolean[] = [];
  const made: string[] = [];
  /** The end of the text so far, which may name a function. */
  let end = '';
  for (const part of parts) {
    const around = open.at(-1);
    let written = part;
    if (part.length > 4 && /^url\(/i.test(part)) {
      written = address(part.slice(4, -1).trim(), part, (url) => `url("${url}")`);
    } else if (part.startsWith('"') || part.startsWith("'")) {
      if (around === true) written = address(withoutEscapes(part.slice(1, -1)), part, (url) => `"${url}"`);
    } else if (/^(?:[([{]|url\()$/i.test(part)) {
      const name = part.endsWith('(') ? nameIn(end + part.slice(0, -1)) : '';
      if (around === true && inserting.test(name)) written = '-left-out(';
      open.push(around === true || loading.test(name));
    } else if (/^[)\]}]$/.test(part)) open.pop();
    made.push(written);
    end = (end + part).slice(-longestName);
  }
  return made.join('');
}

/** The name at the end of a text, in lower case and without escapes. */
const nameIn = (end: string): string =>
  (/[-\w\\\u0080-\uffff]*$/.exec(end)?.[0] ?? '').replaceAll('\\', '').toLowerCase();

/** An address that loads nothing and that the policy of pages allows. */
const nothing = 'data:,';

/** The text for an address. `written`: the text as written, which stays if pages may have the address. `form`: makes the text for another address. */
function address(named: string, written: string, form: (url: string) => string): string {
  if (/^\s*data:/i.test(named)) return written;
  const url = classifyUrl(named);
  if (url.kind === 'path' || url.kind === 'anchor') return written;
  if (url.kind !== 'external' || !/^https?:/.test(url.href)) return form(nothing);
  return /^https?:\/\//i.test(named) ? written : form(url.href);
}
