import type { Element, ElementContent } from 'hast';
import type { ContentContext } from '#shared/docs/render/content/content-context.ts';
import type { SharedCode } from '#shared/docs/render/evaluate/static-tree.ts';
import { namedIcon } from '#shared/docs/render/content/icon.ts';
import { escapeHtmlText, SafeHtml } from '../html.ts';
import { h, type Typeset } from '../content/content-tree.ts';
import { RecentValues } from '../recent-values.ts';
import { highlight } from './highlighter.ts';
import { plain, Runs, span, type Token } from './runs.ts';

type CodeInput = {
  code: string;
  language?: string | null | undefined;
  meta?: string | null | undefined;
  shared?: SharedCode | undefined;
};

const expandableFromLines = 14;
/** Limit of the coloured characters of code in a page. Hostile code of more characters could take seconds. */
const maxColoured = 100_000;

/** A block of code with its header. `bare`: without header, because the title is shown elsewhere. */
export function codeBlock(input: CodeInput, context: ContentContext, bare = false): Element {
  const { language, meta, title } = codeFacts(input);
  if (language === 'mermaid') return diagram(input.code, context, meta);
  context.codeLength += input.code.length;
  const coloured = codeHtml(input.code, context.codeLength > maxColoured ? '' : language, meta, input.shared);
  if (coloured.hasBidi) {
    context.report('bidi-in-code', 'A code block has characters that reorder text; they are shown as code points.');
  }
  const typeset: Typeset = { type: 'typeset', of: 'code', html: coloured.html, text: coloured.text };
  const classes = ['code-block'];
  if (meta.lines) classes.push('with-lines');
  if (meta.wrap) classes.push('wrapped');
  if (meta.focused.size > 0) classes.push('has-focus');
  if (meta.expandable && coloured.lineCount > expandableFromLines) classes.push('expandable-code');
  const pre = h('pre', { tabIndex: 0 }, [h('code', { className: [`language-${language || 'text'}`] }, typeset)]);
  const head: ElementContent[] =
    title === undefined || bare
      ? []
      : [
          h('div', { className: ['code-block-header'] }, [
            ...(meta.icon === undefined ? [] : namedIcon({ name: meta.icon }, 'code-block-icon', context)),
            h('span', { className: ['code-block-title'] }, title),
          ]),
        ];
  return h('div', { className: classes, ...(meta.copy ? {} : { dataNocopy: '' }), dataLanguage: language || 'text' }, [
    ...head,
    pre,
  ]);
}

/** Language, options and title of a fence. `nocopy` may be written in place of the language. */
export function codeFacts({ code, language: written, meta: rest }: CodeInput): {
  language: string;
  meta: FenceMeta;
  title: string | undefined;
} {
  let language = (written ?? '').trim();
  let options = rest ?? '';
  if (language.includes('{') || language.includes('=') || language.includes('"')) {
    options = `${language.replace(/^[\w+#.-]*/, '')} ${options}`;
    language = /^[\w+#.-]*/.exec(language)?.[0] ?? '';
  }
  const meta = fenceMeta(options, options === '' ? 0 : linesIn(code));
  if (language === 'nocopy') {
    language = '';
    meta.copy = false;
  }
  return {
    language: language
      .toLowerCase()
      .replace(/[^a-z0-9+#-]/g, '')
      .slice(0, 40),
    meta,
    title: meta.title,
  };
}

/** Limit of the characters that Mermaid draws. */
const maxDiagram = 50_000;
const placements = /^(top|bottom)-(left|right)$/;

/** A diagram, with its source as content. A script of the page draws it, unless it is too long. */
export function diagram(
  source: string,
  context: Pick<ContentContext, 'report' | 'diagrams'>,
  { actions, placement = '' }: Pick<FenceMeta, 'actions' | 'placement'> = {},
): Element {
  const isTooLong = source.length > maxDiagram;
  if (isTooLong)
    context.report('diagram-too-large', `A diagram is shown as its source: it has more than ${maxDiagram} characters.`);
  else context.diagrams.count += 1;
  const data = {
    ...(actions === undefined ? {} : { dataActions: String(actions) }),
    ...(placements.test(placement) && { dataPlacement: placement }),
  };
  return h('figure', { className: [isTooLong ? 'mermaid-source' : 'mermaid'], ...data }, [
    h('pre', { tabIndex: 0 }, [h('code', { className: ['language-mermaid'] }, source)]),
  ]);
}

/** Characters that reorder the visible text. In code they can only be an attack, so their code points are shown. */
const bidi = /[\u202a-\u202e\u2066-\u2069]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are taken out
const terminalCodes = /\u001b\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** Matches any terminal code or bidi character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for
const hidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u202a-\u202e\u2066-\u2069]/;

/** `html`: the escaped code in spans with our own classes. `text`: the code without marks. */
type CodeHtml = Pick<Typeset, 'html' | 'text'> & {
  lineCount: number;
  hasBidi: boolean;
};

/**
 * Content of `<code>`. Each line has a span only if some line looks different, because most code is a quarter shorter without those spans. The marks
 * `[!code ++]`, `[!code --]`, `[!code highlight]` and `[!code focus]` in comments take effect.
 */
export function codeHtml(code: string, language: string, meta: FenceMeta, shared?: SharedCode): CodeHtml {
  const hasHidden = hidden.test(code);
  const hasBidi = hasHidden && code.search(bidi) >= 0;
  const marks = new Map<number, string>();
  const cleaned = hasHidden
    ? code
        .replace(terminalCodes, '')
        .replace(bidi, (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase()}⟩`)
    : code;
  const text = cleaned.includes('[!code') ? withoutMarks(cleaned, marks) : cleaned;
  const html = (): SafeHtml => {
    const byLine = meta.lines || meta.highlighted.size > 0 || meta.focused.size > 0 || marks.size > 0;
    if (!byLine) return (text === code && shared && sharedHtml(shared, language)) || plainHtml(text, language);
    const written = coloured(text, language)
      .lines()
      .map((line, at) => lineHtml(line, at + 1, meta, marks.get(at + 1)));
    return new SafeHtml(written.join('\n'));
  };
  return { html, text, lineCount: linesIn(text), hasBidi };
}

function linesIn(text: string): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Cache: examples of an API are the same on many pages. */
const recentHtml = new RecentValues<SafeHtml>(500_000, { fromSecond: true });

const plainHtml = (text: string, language: string): SafeHtml =>
  recentHtml.get(`${language}\n${text}`, () => new SafeHtml(coloured(text, language).html()));

/** Cache of the HTML of shared code, split at the occurrences of its mark; empty if colours split a mark. */
const recentParts = new RecentValues<string[]>(500_000);

function sharedHtml({ code, mark, text }: SharedCode, language: string): SafeHtml | undefined {
  const parts = recentParts.get(`${language}\n${mark}\n${code}`, () => {
    const made = plainHtml(code, language).text.split(mark);
    return made.length === code.split(mark).length ? made : [];
  });
  return parts.length === 0 ? undefined : new SafeHtml(parts.join(escapeHtmlText(text)));
}

function coloured(text: string, language: string): Runs {
  if (language !== '') return highlight(text, language);
  const runs = new Runs(text);
  runs.add(text.length, plain);
  return runs;
}

function lineHtml(tokens: readonly Token[], number: number, meta: FenceMeta, mark: string | undefined): string {
  const classes = ['line'];
  if (meta.highlighted.has(number) || mark === 'highlight') classes.push('highlighted');
  if (meta.focused.has(number) || mark === 'focus') classes.push('focused');
  if (mark === '++') classes.push('diff', 'add');
  if (mark === '--') classes.push('diff', 'remove');
  return `<span class="${classes.join(' ')}">${tokensHtml(tokens)}</span>`;
}

const tokensHtml = (tokens: readonly Token[]): string =>
  tokens
    .map(({ text, className }) => (className === undefined ? escapeHtmlText(text) : span(text, className)))
    .join('');

/**
 * Matches a mark at the end of a line. A repetition never starts where another one can end, so the time for a line of blanks grows with its length,
 * not with the square of it.
 */
const markPattern =
  /(?:\/\/|#|--|;|<!--|\/\*|\{\/\*|%)\s*\[!code\s+(\+\+|--|highlight|hl|focus)(?::(\d{1,4}))?\](?:\s*(?:-->|\*\/\}?))?\s*$/;

/** Removes marks from the code and adds them to `marks`. `[!code ++:3]` marks three lines from there. */
function withoutMarks(code: string, marks: Map<number, string>): string {
  const lines = code.split('\n');
  return lines
    .map((line, position) => {
      if (line.length > 2000) return line;
      const found = markPattern.exec(line);
      if (!found) return line;
      const mark = found[1] === 'hl' ? 'highlight' : (found[1] ?? '');
      const count = Math.min(Number(found[2] ?? 1), lines.length - position);
      for (let offset = 0; offset < count; offset++) marks.set(position + 1 + offset, mark);
      return line.slice(0, found.index).trimEnd();
    })
    .join('\n');
}

/** Options that an author wrote after the language of a fence. Line numbers count from 1. */
type FenceMeta = {
  title?: string;
  icon?: string;
  lines: boolean;
  wrap: boolean;
  expandable: boolean;
  copy: boolean;
  highlighted: ReadonlySet<number>;
  focused: ReadonlySet<number>;
  /** Buttons of a diagram: shown or not, and their place. */
  actions?: boolean;
  placement?: string;
};

/** Effects of the flags of a fence. */
const knownFlags: ReadonlyMap<string, Partial<FenceMeta>> = new Map([
  ['lines', { lines: true }],
  ['showLineNumbers', { lines: true }],
  ['wrap', { wrap: true }],
  ['expandable', { expandable: true }],
  ['nocopy', { copy: false }],
  ['twoslash', {}],
]);

/** Reads `title="x" icon="js" lines {1,3-5} focus={2} Some bare title`. Line ranges end at `lineCount`, so an author cannot make them large. */
export function fenceMeta(meta: string, lineCount: number): FenceMeta {
  const read: FenceMeta = {
    lines: false,
    wrap: false,
    expandable: false,
    copy: true,
    highlighted: new Set(),
    focused: new Set(),
  };
  if (meta === '') return read;
  const bare: string[] = [];
  const token = /([A-Za-z][\w-]*)=(?:"([^"]*)"|'([^']*)'|\{([^}]*)\}|(\S+))|\{([\d,\s-]+)\}|(\S+)/g;
  for (const [, key, double, single, braced, plain, range, word] of meta.slice(0, 2000).matchAll(token)) {
    const value = double ?? single ?? braced ?? plain ?? '';
    if (range !== undefined) read.highlighted = lineNumbers(range, lineCount);
    else if (word !== undefined) {
      if (knownFlags.has(word)) Object.assign(read, knownFlags.get(word));
      else bare.push(word);
    } else if (key === 'title' || key === 'filename') read.title = value.replace(/^["']|["']$/g, '');
    else if (key === 'icon') read.icon = value.replace(/^["']|["']$/g, '');
    else if (key === 'highlight') read.highlighted = lineNumbers(value, lineCount);
    else if (key === 'focus') read.focused = lineNumbers(value, lineCount);
    else if (key === 'actions') read.actions = value !== 'false';
    else if (key === 'placement') read.placement = value;
    else if (key !== undefined && knownFlags.has(key)) {
      if (value !== 'false') Object.assign(read, knownFlags.get(key));
    } else if (key !== undefined && !['theme', 'startLine'].includes(key)) bare.push(`${key}=${value}`);
  }
  const title = bare.join(' ').replace(/^["']|["']$/g, '');
  if (read.title === undefined && title !== '') read.title = title;
  return read;
}

/** `1,3-5` or `[1,3]` as a set of numbers from 1 to `lineCount`. */
function lineNumbers(written: string, lineCount: number): ReadonlySet<number> {
  const numbers = new Set<number>();
  for (const part of written
    .replace(/[[\]{}\s]/g, '')
    .split(',')
    .slice(0, 500)) {
    const range = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part);
    if (!range) continue;
    const first = Number(range[1]);
    const last = Math.min(Number(range[2] ?? range[1]), lineCount);
    for (let line = Math.max(1, first); line <= last; line++) numbers.add(line);
  }
  return numbers;
}
