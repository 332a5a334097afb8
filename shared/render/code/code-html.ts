import { escapeHtml } from '../shell/html.ts';
import type { FenceMeta } from './fence-meta.ts';
import { highlight, type Token } from './highlighter.ts';

/** Classes of the palette, short because a page has thousands. */
const CLASSES: ReadonlyMap<string, string> = new Map([
  ['constant', 'tc'],
  ['string', 'ts'],
  ['comment', 'tm'],
  ['keyword', 'tk'],
  ['parameter', 'tp'],
  ['function', 'tf'],
  ['string-expression', 'te'],
  ['punctuation', 'tu'],
  ['link', 'tl'],
]);

/** Characters that reorder what a reader sees: shown by their number, since in code they are an attack and nothing else. */
const BIDI = /[\u202a-\u202e\u2066-\u2069]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal codes are what is taken out
const TERMINAL_CODES = /\u001b\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

export type CodeHtml = {
  /** Safe HTML: text of the code escaped, in spans with classes of ours. Nothing of it is ever parsed again. */
  html: string;
  /** The code itself, marks taken out. */
  text: string;
  lineCount: number;
  hasBidi: boolean;
};

/** Inside of `<code>`: one span per line. Marks `[!code ++]`, `[!code --]`, `[!code highlight]`, `[!code focus]` in comments are obeyed. */
export function codeHtml(code: string, language: string, meta: FenceMeta): CodeHtml {
  const hasBidi = BIDI.test(code);
  BIDI.lastIndex = 0;
  const marks = new Map<number, string>();
  const cleaned = code
    .replace(TERMINAL_CODES, '')
    .replace(BIDI, (sign) => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase()}⟩`);
  const text = cleaned.includes('[!code') ? withoutMarks(cleaned, marks) : cleaned;
  const lines = highlight(text, language);
  const html = lines.map((line, position) => lineHtml(line, position + 1, meta, marks.get(position + 1))).join('\n');
  return { html, text, lineCount: lines.length, hasBidi };
}

function lineHtml(tokens: readonly Token[], number: number, meta: FenceMeta, mark: string | undefined): string {
  const classes = ['line'];
  if (meta.highlighted.has(number) || mark === 'highlight') classes.push('highlighted');
  if (meta.focused.has(number) || mark === 'focus') classes.push('focused');
  if (mark === '++') classes.push('diff', 'add');
  if (mark === '--') classes.push('diff', 'remove');
  let inside = '';
  for (const { text, kind } of tokens) {
    const name = kind === undefined ? undefined : CLASSES.get(kind);
    inside += name === undefined ? escapeHtml(text) : `<span class="${name}">${escapeHtml(text)}</span>`;
  }
  return `<span class="${classes.join(' ')}">${inside}</span>`;
}

const MARK =
  /\s*(?:\/\/|#|--|;|<!--|\/\*|\{\/\*|%)\s*\[!code\s+(\+\+|--|highlight|hl|focus)(?::(\d{1,4}))?\]\s*(?:-->|\*\/\}?)?\s*$/;

/** Takes marks off; `[!code ++:3]` means three lines from there. */
function withoutMarks(code: string, marks: Map<number, string>): string {
  const lines = code.split('\n');
  return lines
    .map((line, position) => {
      if (line.length > 2000) return line;
      const found = MARK.exec(line);
      if (!found) return line;
      const mark = found[1] === 'hl' ? 'highlight' : (found[1] ?? '');
      const count = Math.min(Number(found[2] ?? 1), lines.length - position);
      for (let offset = 0; offset < count; offset++) marks.set(position + 1 + offset, mark);
      return line.slice(0, found.index);
    })
    .join('\n');
}
