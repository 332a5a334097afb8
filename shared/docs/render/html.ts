/** Text that is HTML already. Only `html` and constants of this folder create it. */
export class SafeHtml {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

type Part = string | number | SafeHtml | undefined | false | readonly Part[];

/** Template for HTML: every value is escaped unless it is `SafeHtml`; arrays are joined, undefined and false give nothing. Attributes must be quoted. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): SafeHtml {
  let text = strings[0] ?? '';
  for (const [position, part] of parts.entries()) text += inside(part) + (strings[position + 1] ?? '');
  return new SafeHtml(text);
}

function inside(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof SafeHtml) return part.text;
  if (Array.isArray(part)) return part.map(inside).join('');
  return escapeHtml(String(part));
}

const escapeOf: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
  // A parser takes it for a line end.
  ['\r', '&#13;'],
]);
const toEscape = /[&<>"'\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g;
const toEscapeBetweenTags = /[&<>\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g;

const escaped = (character: string): string => escapeOf.get(character) ?? '\ufffd';

/** For text and quoted attribute values alike. Characters that HTML or XML does not allow become U+FFFD. */
export function escapeHtml(text: string): string {
  return text.replace(toEscape, escaped);
}

/** For text between tags only: quotes stay. */
export function escapeHtmlText(text: string): string {
  return text.replace(toEscapeBetweenTags, escaped);
}

/** A value as JSON that can stand inside `<script>`. */
export function scriptJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
