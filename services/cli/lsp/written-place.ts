import { fencedLines } from '#shared/docs/project/prepare-source.ts';

/** The thing that an author writes at a place of a page. `start` and `end`: offsets of the word or value around the place, which may be empty. */
export type WrittenPlace = { start: number; end: number } & (
  | { kind: 'frontmatter-key'; keys: string[] }
  | { kind: 'frontmatter-value'; key: string }
  /** An address of a link, a picture, an import or a `Snippet`. */
  | { kind: 'address'; of: 'link' | 'picture' | 'import' | 'snippet'; text: string }
  | { kind: 'component' }
  | { kind: 'prop'; component: string; written: string[] }
  | { kind: 'prop-value'; component: string; prop: string }
);

/** Longest tag, and longest distance to its begin, that are searched. */
const mostAround = 4_000;

/** Finds the thing at an offset of a page or snippet; undefined in code and in running text. Pure. */
export function placeInPage(text: string, offset: number): WrittenPlace | undefined {
  const front = frontmatterEnd(text);
  if (front !== undefined && offset <= front) return placeInFrontmatter(text, offset, front);
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const lineEnd = endOfLine(text, offset);
  const before = text.slice(Math.max(lineStart, offset - mostAround), offset);
  if (isInFence(text, lineStart)) return undefined;
  const link = /(!?)\[[^\]\n]*\]\(<?([^()\s<>]*)$/.exec(before);
  if (link !== null) {
    const [, mark = '', address = ''] = link;
    const start = offset - address.length;
    const rest = /^[^()\s<>"]*/.exec(text.slice(offset, lineEnd))?.[0] ?? '';
    return { kind: 'address', of: mark === '!' ? 'picture' : 'link', text: address, start, end: offset + rest.length };
  }
  const imported = /^\s*(?:import|export)\b[^'"]*\bfrom\s*(["'])([^'"]*)$/.exec(before);
  if (imported !== null) {
    const [, , address = ''] = imported;
    const rest = /^[^'"\n]*/.exec(text.slice(offset, lineEnd))?.[0] ?? '';
    return { kind: 'address', of: 'import', text: address, start: offset - address.length, end: offset + rest.length };
  }
  return placeInTag(text, offset);
}

function endOfLine(text: string, offset: number): number {
  const found = text.slice(offset, offset + mostAround).search(/[\r\n]/);
  return found < 0 ? Math.min(text.length, offset + mostAround) : offset + found;
}

/** The offset of the end of the frontmatter, before its last line; undefined if there is none. */
function frontmatterEnd(text: string): number | undefined {
  const begin = /^\ufeff?---[ \t]*\r?\n/.exec(text)?.[0].length;
  if (begin === undefined) return undefined;
  const end = /^---[ \t]*$/m.exec(text.slice(begin, begin + 64 * 1024));
  return end === null ? undefined : begin + end.index;
}

function placeInFrontmatter(text: string, offset: number, end: number): WrittenPlace | undefined {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  if (lineStart === 0) return undefined;
  const line = text.slice(lineStart, endOfLine(text, offset));
  const at = offset - lineStart;
  const key = /^[\w-]*(?::[\w-]+)*/.exec(line)?.[0] ?? '';
  const keys = [...text.slice(0, end).matchAll(/^([\w:-]+):/gm)].map(([, name = '']) => name);
  if (at <= key.length) return { kind: 'frontmatter-key', keys, start: lineStart, end: lineStart + key.length };
  const value = /^([\w:-]+):[ \t]*(["']?)/.exec(line);
  if (value === null || at < value[0].length) return undefined;
  const rest = line.slice(value[0].length).replace(/["']?\s*$/, '');
  const start = lineStart + value[0].length;
  return { kind: 'frontmatter-value', key: value[1] ?? '', start, end: Math.max(offset, start + rest.length) };
}

/** True if a line is in a fenced code block, which the text before it decides. */
function isInFence(text: string, lineStart: number): boolean {
  const before = text.slice(0, lineStart);
  if (!before.includes('```') && !before.includes('~~~')) return false;
  const lines = [...before.split(/\r\n|\r|\n/).slice(0, -1), 'x'];
  return fencedLines(lines).at(-1) === true;
}

/** Finds the tag around an offset by reading from each `<` before it. */
function placeInTag(text: string, offset: number): WrittenPlace | undefined {
  const from = Math.max(0, offset - mostAround);
  for (
    let at = text.lastIndexOf('<', offset - 1);
    at >= from && at >= 0;
    at = at === 0 ? -1 : text.lastIndexOf('<', at - 1)
  ) {
    const name = /^<\/?([A-Za-z][\w.]*)?/.exec(text.slice(at, at + 200));
    if (name === null) continue;
    const nameEnd = at + name[0].length;
    const isClosing = text[at + 1] === '/';
    if (offset <= nameEnd) {
      const start = at + (isClosing ? 2 : 1);
      return offset < start ? undefined : { kind: 'component', start, end: nameEnd };
    }
    if (name[1] === undefined || isClosing) continue;
    const place = placeInProps(text, nameEnd, offset, name[1]);
    if (place !== 'outside') return place;
  }
  return undefined;
}

function placeInProps(
  text: string,
  from: number,
  offset: number,
  component: string,
): WrittenPlace | undefined | 'outside' {
  const written: string[] = [];
  let at = from;
  while (at < offset) {
    const character = text[at] ?? '';
    if (character === '>') return 'outside';
    if (/[\s/]/.test(character)) {
      at += 1;
      continue;
    }
    if (character === '{') {
      const end = endOfBraces(text, at);
      if (end === undefined || end > offset) return undefined;
      at = end;
      continue;
    }
    const prop = /^[\w:.-]+/.exec(text.slice(at, at + 200))?.[0];
    if (prop === undefined) return 'outside';
    const propEnd = at + prop.length;
    if (offset <= propEnd) return { kind: 'prop', component, written, start: at, end: propEnd };
    written.push(prop);
    const mark = /^\s*=\s*/.exec(text.slice(propEnd, propEnd + 200))?.[0];
    at = propEnd;
    if (mark === undefined) continue;
    at += mark.length;
    const quote = text[at] ?? '';
    if (quote === '"' || quote === "'") {
      const closing = text.indexOf(quote, at + 1);
      const end = closing < 0 || closing > at + mostAround ? endOfLine(text, at) : closing;
      if (offset > at && offset <= end) return { kind: 'prop-value', component, prop, start: at + 1, end };
      at = end + 1;
    } else if (quote === '{') {
      const end = endOfBraces(text, at);
      if (end === undefined || end > offset) return undefined;
      at = end;
    } else if (offset <= at) return undefined;
  }
  const next = /^[\w:.-]*/.exec(text.slice(offset, offset + 200))?.[0] ?? '';
  return /\s/.test(text[offset - 1] ?? '')
    ? { kind: 'prop', component, written, start: offset, end: offset + next.length }
    : undefined;
}

function endOfBraces(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < Math.min(text.length, from + mostAround); at += 1) {
    if (text[at] === '{') depth += 1;
    else if (text[at] === '}' && (depth -= 1) === 0) return at + 1;
  }
  return undefined;
}

/** A string of a JSON text: the keys and positions around it, and whether it is a key itself. Offsets are inside of its quotation marks. */
export type JsonPlace = { path: (string | number)[]; isKey: boolean; start: number; end: number };

/** Finds the string around an offset of a JSON text, which may be incomplete. Pure. */
export function placeInJson(text: string, offset: number): JsonPlace | undefined {
  const stack: { isList: boolean; key: string; position: number }[] = [];
  let isAfterColon = false;
  const token = /"(?:[^"\\\n\r]|\\.)*"?|[{}[\],:]/g;
  for (let match = token.exec(text); match !== null && match.index < offset; match = token.exec(text)) {
    const [found] = match;
    const around = stack.at(-1);
    if (found.startsWith('"')) {
      const isClosed = found.length > 1 && found.endsWith('"') && !/(?:^|[^\\])(?:\\\\)*\\"$/.test(found.slice(1));
      const end = match.index + found.length - (isClosed ? 1 : 0);
      const isKey = around !== undefined && !around.isList && !isAfterColon;
      if (offset > match.index && offset <= end) {
        const path = stack.map(({ isList, key, position }) => (isList ? position : key));
        if (isKey) path[path.length - 1] = found.slice(1, isClosed ? -1 : undefined);
        return { path, isKey, start: match.index + 1, end };
      }
      if (isKey) around.key = found.slice(1, -1);
    } else if (found === '{' || found === '[') {
      stack.push({ isList: found === '[', key: '', position: 0 });
      isAfterColon = false;
    } else if (found === '}' || found === ']') {
      stack.pop();
      isAfterColon = false;
    } else if (found === ':') isAfterColon = true;
    else {
      isAfterColon = false;
      if (around?.isList === true) around.position += 1;
    }
  }
  return undefined;
}
