/** Text that is already HTML. Only `html` and constants of this folder create it. */
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

/**
 * Template for HTML. Every value is escaped unless it is `SafeHtml`; arrays are joined; undefined and false render as nothing. Attributes must be
 * quoted.
 */
export function html(strings: TemplateStringsArray, ...parts: Part[]): SafeHtml {
  let text = strings[0] ?? '';
  for (let at = 0; at < parts.length; at += 1) text += inside(parts[at]) + (strings[at + 1] ?? '');
  return new SafeHtml(text);
}

function inside(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof SafeHtml) return part.text;
  if (Array.isArray(part)) return part.map(inside).join('');
  return escapeHtml(String(part));
}

/** Escapes text and quoted attribute values. Characters that HTML or XML does not allow become U+FFFD. */
export function escapeHtml(text: string): string {
  return escaped(text, true);
}

/** Escapes text between tags. Quotes are kept. */
export function escapeHtmlText(text: string): string {
  return escaped(text, false);
}

/** This is a loop, because a regular expression takes four times as long for the short texts that are most common. */
function escaped(text: string, quotes: boolean): string {
  let made = '';
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x3e && code < 0xfffe) continue;
    const escape = escapeOf(code, quotes);
    if (escape === undefined) continue;
    made += text.slice(from, at) + escape;
    from = at + 1;
  }
  return from === 0 ? text : made + text.slice(from);
}

function escapeOf(code: number, quotes: boolean): string | undefined {
  switch (code) {
    case 0x26:
      return '&amp;';
    case 0x3c:
      return '&lt;';
    case 0x3e:
      return '&gt;';
    case 0x22:
      return quotes ? '&quot;' : undefined;
    case 0x27:
      return quotes ? '&#39;' : undefined;
    case 0x0d:
      // A parser would turn a plain carriage return into a line feed.
      return '&#13;';
    case 0x09:
    case 0x0a:
      return undefined;
    default:
      return code < 0x20 || code > 0xfffd ? '\ufffd' : undefined;
  }
}

/** A value as JSON that is safe inside `<script>`. */
export function scriptJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(
    /[<>&\u2028\u2029]/g,
    (character) => scriptEscapes[character] ?? '',
  );
}

const scriptEscapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};
