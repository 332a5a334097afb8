import type { SearchIndex, SearchScope } from '#shared/search/search-index.ts';
import type { UiChunk } from './answer-wire.ts';
import { markdownAddress } from './markdown-text.ts';
import type { PromptPassage } from './prompt-passages.ts';
import { pagePathOf } from './retrieval.ts';

/** Lets an answer through as it is written. Hold back what may still become a link; `end` gives the rest. */
export type LinkFilter = { push(delta: string): Promise<string>; end(): Promise<string> };

/** A link that is longer than this, with its text, is none. */
const longestLink = 2_000;
/** So that a long row of brackets is not read again from each of them. */
const deepestBrackets = 8;

const special = /[\\`[\]!<\n]|https?:\/\/|www\./i;
/** What may be the beginning of an address. */
const addressBegins = /(?:^|[^\p{L}\p{N}])(?:h|ht|htt|https?|https?:|https?:\/|w|ww|www)$/iu;
const escapedAddressBegins = /^\\(?:h|ht|htt|https?|https?:|https?:\/|w|ww|www)?$/i;
const address = /^(?:https?:\/\/|www\.)[^\s<>()[\]"'`|]*/i;
/** An open block of code. `column`: of its mark, after the marks of quotations. */
type Fence = { before: string; marks: string; quotes: number; column: number };

const fenceLine = /^([ \t>]*)(`{3,}|~{3,})([^\n]*)$/;
/** A list item with something in it; `* * *` is a line across the page. */
const listItem = /^([ \t]*)(?:[-+*]|(\d{1,9})[.)])([ \t]+)(?=[^\s])(?!(?:[-*_][ \t]*)+$)/;
/** What ends a paragraph where a line begins with it, and with that all code in its lines. */
const blockBegins = /\n[ \t>]*(?:[-+*#|=`~\n]|\d{1,9}[.)])/;
const mostIndent = 3;
const linkTarget = /^\(\s*(?:<([^<>\n]*)>|((?:[^\s()<>]|\([^\s()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/;

/**
 * Keeps links of a Markdown stream only where `isAllowed` says so, whatever a page or a reader made the model write. Of other links the text
 * stays, of pictures what they show in words; other bare addresses become code, which nobody makes a link of; HTML becomes text. Code stays
 * as it is, and what is written here leaves no doubt for any reader of Markdown about what is code: marks that open none are escaped, and a
 * block of code is closed where the quotation or list around it ends.
 */
export function linkFilter(isAllowed: (url: string) => Promise<boolean> | boolean): LinkFilter {
  let rest = '';
  let endsWithMark = false;
  let fence: Fence | undefined;
  let atLineStart = true;
  let afterEmptyLine = true;
  /** Where the text of the open list item begins; 0: there is none. */
  let listColumn = 0;

  function take(length: number): string {
    const taken = rest.slice(0, length);
    rest = rest.slice(length);
    if (taken !== '') atLineStart = taken.endsWith('\n');
    return taken;
  }

  /** What a line begins with: '' when it is no code. Undefined: wait for more. */
  function lineStart(isLast: boolean): string | undefined {
    const end = rest.indexOf('\n');
    const line = end === -1 ? rest : rest.slice(0, end);
    const mayGrow = end === -1 && !isLast && line.length < longestLink;
    if (fence !== undefined) return codeLine(fence, line, mayGrow);
    if (mayGrow && /^[ \t>]*(?:[-+*]?[ \t]*|\d{1,9}[.)]?[ \t]*|[`~].*)$/.test(line)) return undefined;
    const [, before = '', marks = '', info = ''] = fenceLine.exec(line) ?? [];
    const { quotes, column } = placeOf(before);
    if (line.trim() !== '' && column < listColumn) listColumn = 0;
    const isClear = column - listColumn <= mostIndent && !(quotes > 0 && before.includes('\t'));
    const isCode = marks !== '' && isClear && !(marks.startsWith('`') && info.includes('`'));
    if (isCode) {
      fence = { before, marks, quotes, column };
      return take(line.length + 1);
    }
    if (marks.startsWith('~')) return `${take(before.length)}\\${take(1)}`;
    const [item = '', indent = '', number, gap = ''] = listItem.exec(line) ?? [];
    // Other numbers go on with a list or begin one after an empty line; inside a paragraph they are text.
    const isItem = item !== '' && (number === undefined || number === '1' || afterEmptyLine || listColumn > 0);
    if (isItem && columnOf(indent) - listColumn <= mostIndent)
      listColumn = columnOf(indent) + item.length - indent.length - (gap.length > 4 ? gap.length - 1 : 0);
    afterEmptyLine = line.trim() === '';
    atLineStart = false;
    return '';
  }

  function codeLine(open: Fence, line: string, mayGrow: boolean): string | undefined {
    if (mayGrow && /^[ \t>]*[`~]*[ \t]*$/.test(line)) return undefined;
    const inner = withoutQuotes(line, open.quotes);
    const [, blanks = '', marks = ''] = /^([ \t]*)(`+|~+)?/.exec(inner ?? '') ?? [];
    const column = columnOf(blanks);
    const isMark = marks.startsWith(open.marks) && inner?.slice(blanks.length + marks.length).trim() === '';
    const isEnd = isMark && column <= open.column + mostIndent;
    const isOutside = inner === undefined || (inner.trim() !== '' && column < open.column);
    if (!isEnd && !isOutside) return take(line.length + 1);
    fence = undefined;
    afterEmptyLine = true;
    // The same mark as at its start ends it in every reading.
    const closed = `${open.before}${open.marks}`;
    if (!isEnd) return `${closed}\n`;
    const ends = take(line.length + 1).endsWith('\n');
    return ends ? `${closed}\n` : closed;
  }

  async function step(isLast: boolean): Promise<string | undefined> {
    if (atLineStart) {
      const code = lineStart(isLast);
      if (code !== '') return code;
    } else if (fence !== undefined) {
      const end = rest.indexOf('\n');
      return take(end === -1 ? rest.length : end + 1);
    }
    const at = rest.search(special);
    if (at === -1) {
      const held = isLast ? undefined : addressBegins.exec(rest);
      return take(held === null || held === undefined ? rest.length : held.index) || undefined;
    }
    if (at > 0) return take(at);
    const [first = ''] = rest;
    if (first === '\n') return take(1);
    if (first === '\\') {
      if (!isLast && escapedAddressBegins.test(rest)) return undefined;
      // Before an address it is a backslash, and must not escape the mark of code there.
      if (address.test(rest.slice(1))) return `${take(1)}\\`;
      return take(rest[1] === '\n' ? 1 : 2);
    }
    if (first === '`') return inlineCode(isLast);
    if (first === '<') {
      if (rest.length === 1 && !isLast) return undefined;
      return /^<[a-z/!?]/i.test(rest) ? `\\${take(1)}` : take(1);
    }
    if (first === ']') {
      // What has come so far is no link, and this must not end one for others; nor may anything define where links lead.
      if (rest.length === 1 && !isLast) return undefined;
      return /^\][(:]/.test(rest) ? `${take(1)}\\${take(1)}` : take(1);
    }
    if (first === '[' || first === '!') return await link(isLast);
    const [url = ''] = address.exec(rest) ?? [];
    if (url.length === rest.length && !isLast && url.length < longestLink) return undefined;
    const shown = url.replace(/[.,;:!?*_]+$/, '');
    take(shown.length);
    return (await isAllowed(shown)) ? shown : `\`${shown}\``;
  }

  function inlineCode(isLast: boolean): string | undefined {
    const [marks = ''] = /^`+/.exec(rest) ?? [];
    const mayGrow = !isLast && rest.length < longestLink && !/\n[ \t>]*\n/.test(rest);
    if (marks.length === rest.length && mayGrow) return undefined;
    const end = rest.slice(marks.length, longestLink).search(new RegExp(`(?<!\`)${marks}(?!\`)`));
    const length = marks.length * 2 + end;
    if ((end === -1 || length === rest.length) && mayGrow) return undefined;
    const inside = rest.slice(marks.length, marks.length + end);
    // Cells of tables end at `|`, also in code.
    const isCell = inside.includes('|') && /\][(:[]|<[^>|]*[:=]|:\/\/|www\./i.test(inside);
    if (end === -1 || blockBegins.test(inside) || isCell) return take(marks.length).replaceAll('`', '\\`');
    // On one line nothing can come between its marks.
    return take(length).replaceAll(/\s*\n[ \t>]*/g, ' ');
  }

  async function link(isLast: boolean): Promise<string | undefined> {
    const mayGrow = !isLast && rest.length < longestLink && !rest.includes('\n\n');
    if (rest === '!') return mayGrow ? undefined : take(1);
    if (rest.startsWith('!') && rest[1] !== '[') return take(1);
    const opens = rest.startsWith('!') ? 2 : 1;
    const closes = closingBracket(rest, opens);
    if (closes === -1 || rest.slice(0, closes).includes('\n\n')) return mayGrow ? undefined : take(1);
    const text = rest.slice(opens, closes).replaceAll(/\s*\n[\s>]*/g, ' ');
    const whole = rest.slice(0, closes + 1);
    const after = rest.slice(whole.length);
    if (after === '' && mayGrow) return undefined;
    if (!after.startsWith('(')) return take(1);
    const target = linkTarget.exec(after);
    if (target === null) return mayGrow ? undefined : plain(text, whole.length + 1);
    const url = target[1] ?? target[2] ?? '';
    const isPicture = rest.startsWith('!');
    if (!isPicture && (await isAllowed(url))) {
      take(whole.length + target[0].length);
      return `[${await filtered(text)}](${linkAddress(url)})`;
    }
    return await plain(text, whole.length + target[0].length);
  }

  async function plain(text: string, length: number): Promise<string> {
    take(length);
    const shown = await filtered(text);
    const begun = /^\s*(?:[~>]|[-+*=#]+\s)/.test(shown) ? `\\${shown.trimStart()}` : shown;
    // What comes next must not make a link of it again.
    return begun.replace(/(?<!\\)((?:\\\\)*)\]$/, '$1\\]');
  }

  async function filtered(text: string): Promise<string> {
    // The letter keeps its start from counting as the start of a line.
    const inner = linkFilter(isAllowed);
    return ((await inner.push(`a${text}`)) + (await inner.end())).slice(1);
  }

  async function run(isLast: boolean): Promise<string> {
    let shown = '';
    for (;;) {
      const wasCode = fence !== undefined;
      const next = rest === '' ? undefined : await step(isLast);
      if (next === undefined) return shown;
      const isCode = wasCode || fence !== undefined;
      // Marks of code that touch would be one.
      shown += endsWithMark && !isCode && next.startsWith('`') ? ` ${next}` : next;
      if (next !== '') endsWithMark = next.endsWith('`');
    }
  }

  return {
    push(delta) {
      rest += delta.replaceAll('\r', '');
      return run(false);
    },
    end: () => run(true),
  };
}

const columnOf = (blanks: string): number =>
  blanks.split('').reduce((column, blank) => (blank === '\t' ? column + 4 - (column % 4) : column + 1), 0);

/** How many quotations a line is in, by what it begins with, and how far its text is moved in there. */
function placeOf(before: string): { quotes: number; column: number } {
  const parts = before.split('>');
  const blanks = parts.at(-1) ?? '';
  return { quotes: parts.length - 1, column: columnOf(parts.length > 1 ? blanks.replace(' ', '') : blanks) };
}

/** The rest of a line after the marks of so many quotations; undefined when it has fewer. */
function withoutQuotes(line: string, quotes: number): string | undefined {
  let inner = line;
  for (let quote = 0; quote < quotes; quote += 1) {
    const [mark] = /^ {0,3}> ?/.exec(inner) ?? [];
    if (mark === undefined) return undefined;
    inner = inner.slice(mark.length);
  }
  return inner;
}

/** An address so that nothing in it ends its link, or begins code or the cell of a table. */
const linkAddress = (url: string): string => markdownAddress(url).replaceAll('`', '%60').replaceAll('|', '%7C');

/** Where the text of a link ends that begins at `from`; -1: not within what is long enough for a link, or too deep for one. */
function closingBracket(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length && at < longestLink && depth <= deepestBrackets; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '[') depth += 1;
    else if (text[at] === ']' && --depth === 0) return at;
  }
  return -1;
}

/** Filters the texts of an answer's chunks; what is held back at the end of a text comes before its end. */
export async function* linkedAsAllowed(
  chunks: AsyncIterable<UiChunk>,
  isAllowed: (url: string) => Promise<boolean> | boolean,
): AsyncGenerator<UiChunk> {
  const texts = new Map<unknown, LinkFilter>();
  for await (const chunk of chunks) {
    const { type, id } = chunk;
    if (type === 'text-start') texts.set(id, linkFilter(isAllowed));
    const links = texts.get(id);
    if (type === 'text-delta' && links !== undefined) {
      const delta = await links.push(String(chunk.delta));
      if (delta !== '') yield { ...chunk, delta };
      continue;
    }
    // An answer that breaks off has no end of its text.
    const ended =
      type === 'text-end' && links !== undefined
        ? [[id, links] as const]
        : type === 'error' || type === 'abort'
          ? [...texts]
          : [];
    for (const [ofText, filter] of ended) {
      const delta = await filter.end();
      if (delta !== '') yield { type: 'text-delta', id: ofText, delta };
      texts.delete(ofText);
    }
    yield chunk;
  }
}

/** Answers may link to what the passages name, and to pages of the site that the reader may see. */
export function ownLinks(
  { searchIndex }: { searchIndex: Pick<SearchIndex, 'findPage'> },
  scope: SearchScope,
  groups: readonly string[],
  passages: readonly PromptPassage[],
): (url: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  const isPage = async (path: string) => (await searchIndex.findPage(scope, path, groups)) !== undefined;
  return async (url) => {
    if (passages.some((passage) => passage.url === url)) return true;
    // Whole addresses only: `https://a.example` is no beginning of `https://a.example.net`.
    if (/^https?:\/\//i.test(url)) return passages.some(({ text }) => namesAddress(text, url));
    const path = /^\/(?![/\\])/.test(url) ? pagePathOf(url) : undefined;
    if (path === undefined) return false;
    const answer = known.get(path) ?? isPage(path);
    known.set(path, answer);
    return answer;
  };
}

function namesAddress(text: string, url: string): boolean {
  for (let at = text.indexOf(url); at !== -1; at = text.indexOf(url, at + 1)) {
    if (!/^[.,;:!?]*[^\s<>()[\]"'`.,;:!?]/.test(text.slice(at + url.length, at + url.length + 8))) return true;
  }
  return false;
}
