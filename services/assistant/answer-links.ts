import type { SearchIndex, SearchScope } from '#shared/search/search-index.ts';
import type { UiChunk } from './answer-wire.ts';
import type { PromptPassage } from './prompt-passages.ts';
import { pagePathOf } from './retrieval.ts';

/** Lets an answer through as it is written. Hold back what may still become a link; `end` gives the rest. */
export type LinkFilter = { push(delta: string): Promise<string>; end(): Promise<string> };

/** A link that is longer than this, with its text, is none. */
const longestLink = 2_000;

const special = /[\\`[!<\n]|https?:\/\/|www\./i;
/** What may be the beginning of an address. */
const addressBegins = /(?:^|[^\p{L}\p{N}])(?:h|ht|htt|https?|https?:|https?:\/|w|ww|www)$/iu;
const address = /^(?:https?:\/\/|www\.)[^\s<>()[\]"'`]*/i;
const fence = /^(?:[ \t]|>)*(`{3,}|~{3,})/;
const linkTarget = /^\(\s*(?:<([^<>\n]*)>|((?:[^\s()<>]|\([^\s()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/;

/**
 * Keeps links of a Markdown stream only where `isAllowed` says so, whatever a page or a reader made the model write. Of other links the text
 * stays, of pictures what they show in words; other bare addresses become code, which nobody makes a link of; HTML becomes text. Code stays
 * as it is.
 */
export function linkFilter(isAllowed: (url: string) => Promise<boolean> | boolean): LinkFilter {
  let rest = '';
  let openFence: string | undefined;
  let atLineStart = true;

  function take(length: number): string {
    const taken = rest.slice(0, length);
    rest = rest.slice(length);
    if (taken !== '') atLineStart = taken.endsWith('\n');
    return taken;
  }

  /** Undefined: wait for more. */
  function codeBlock(isLast: boolean): string | undefined {
    const end = rest.indexOf('\n');
    const line = end === -1 ? rest : rest.slice(0, end);
    if (atLineStart) {
      if (end === -1 && !isLast && /^[ \t>]*[`~]*$/.test(line)) return undefined;
      const [, marks = ''] = fence.exec(line) ?? [];
      if (marks !== '' && openFence === undefined) openFence = marks;
      else if (openFence !== undefined && marks.startsWith(openFence) && line.trimEnd().endsWith(marks))
        openFence = undefined;
      else if (openFence === undefined) return '';
    }
    return take(end === -1 ? rest.length : end + 1);
  }

  async function step(isLast: boolean): Promise<string | undefined> {
    if (openFence !== undefined || (atLineStart && /^[ \t>]*(?:[`~]|$)/.test(rest))) {
      const code = codeBlock(isLast);
      if (code !== '') return code;
    }
    const at = rest.search(special);
    if (at === -1) {
      const held = isLast ? undefined : addressBegins.exec(rest);
      return take(held === null || held === undefined ? rest.length : held.index) || undefined;
    }
    if (at > 0) return take(at);
    const [first = ''] = rest;
    if (first === '\n') return take(1);
    if (first === '\\') return rest.length === 1 && !isLast ? undefined : take(rest[1] === '\n' ? 1 : 2);
    if (first === '`') return inlineCode(isLast);
    if (first === '<') {
      if (rest.length === 1 && !isLast) return undefined;
      return /^<[a-z/!?]/i.test(rest) ? `\\${take(1)}` : take(1);
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
    if (marks.length === rest.length && !isLast) return undefined;
    const end = rest.slice(marks.length).search(new RegExp(`(?<!\`)${marks}(?!\`)`));
    const isClosed = end !== -1 && (isLast || marks.length * 2 + end < rest.length);
    if (isClosed) return take(marks.length * 2 + end);
    if (isLast || rest.includes('\n\n') || rest.length > longestLink) return take(marks.length);
    return undefined;
  }

  async function link(isLast: boolean): Promise<string | undefined> {
    const mayGrow = !isLast && rest.length < longestLink && !rest.includes('\n\n');
    if (rest === '!') return mayGrow ? undefined : take(1);
    if (rest.startsWith('!') && rest[1] !== '[') return take(1);
    const opens = rest.startsWith('!') ? 2 : 1;
    const closes = closingBracket(rest, opens);
    if (closes === -1) return mayGrow ? undefined : take(1);
    const text = rest.slice(opens, closes);
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
      return `[${await filtered(text)}](${url})`;
    }
    return await plain(text, whole.length + target[0].length);
  }

  async function plain(text: string, length: number): Promise<string> {
    take(length);
    return await filtered(text);
  }

  async function filtered(text: string): Promise<string> {
    const inner = linkFilter(isAllowed);
    return (await inner.push(text)) + (await inner.end());
  }

  async function run(isLast: boolean): Promise<string> {
    let shown = '';
    for (;;) {
      const next = rest === '' ? undefined : await step(isLast);
      if (next === undefined) return shown;
      shown += next;
    }
  }

  return {
    push(delta) {
      rest += delta;
      return run(false);
    },
    end: () => run(true),
  };
}

/** Where the text of a link ends that begins at `from`; -1: not within what is long enough for a link. It reads each character once. */
function closingBracket(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length && at < longestLink; at += 1) {
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
