import type { BlockContent, Code, DefinitionContent, Heading, List, ListItem, Nodes, RootContent, Table } from 'mdast';
import { plainLine } from './plain-lines.ts';

type Block = BlockContent | DefinitionContent | RootContent;
type Parent = { spread?: boolean | null | undefined };

/**
 * Writes blocks as Markdown, with the same bytes as `mdast-util-to-markdown` with our options, at a fifth of the cost: the library tries some sixty
 * patterns on each text, and tracks line and column of each word. `other` writes a paragraph, heading, table or code that is not plain. Undefined if
 * a block type is not supported here.
 */
export function plainBlocks(blocks: readonly Block[], other: (block: Block) => string): string | undefined {
  try {
    return new BlockWriter(other).flow(blocks, {});
  } catch (error) {
    if (error instanceof NotPlain) return undefined;
    throw error;
  }
}

class NotPlain extends Error {
  override name = 'NotPlain';
}

class BlockWriter {
  readonly #other: (block: Block) => string;
  /** Bullet of the previous list. Adjacent lists have different bullets, because they would otherwise become one. */
  #lastBullet: string | undefined;

  constructor(other: (block: Block) => string) {
    this.#other = other;
  }

  flow(blocks: readonly Block[], parent: Parent): string {
    let text = '';
    for (const [at, block] of blocks.entries()) {
      text += this.#block(block);
      if (block.type !== 'list') this.#lastBullet = undefined;
      const next = blocks[at + 1];
      if (next !== undefined) text += isTight(block, next, parent) ? '\n' : '\n\n';
    }
    return text;
  }

  #block(block: Block): string {
    switch (block.type) {
      case 'paragraph':
        return plainLine(block.children, 'paragraph', '\n', '\n') ?? this.#other(block);
      case 'heading':
        return heading(block) ?? this.#other(block);
      case 'code':
        return fence(block) ?? this.#other(block);
      case 'table':
        return table(block) ?? this.#other(block);
      case 'list':
        return this.#list(block);
      case 'blockquote':
        return quoted(this.flow(block.children, {}));
      case 'thematicBreak':
        return '---';
      case 'math':
        return `$$\n${block.value}\n$$`;
      default:
        throw new NotPlain();
    }
  }

  #list(list: List): string {
    const [own, different] = list.ordered ? ['.', ')'] : ['-', '*'];
    const isRule = !list.ordered && list.children.some(({ children }) => children[0]?.type === 'thematicBreak');
    const bullet = isRule || this.#lastBullet === own ? different : own;
    const start = typeof list.start === 'number' && list.start >= 0 ? list.start : 1;
    let text = '';
    for (const [at, item] of list.children.entries()) {
      const mark = list.ordered ? `${start + at}${bullet}` : bullet;
      text += this.#item(item, mark);
      this.#lastBullet = undefined;
      if (at + 1 < list.children.length) text += list.spread === false ? '\n' : '\n\n';
    }
    this.#lastBullet = bullet;
    return text;
  }

  #item(item: ListItem, mark: string): string {
    const [first] = item.children;
    if (first === undefined) throw new NotPlain();
    const isTask = typeof item.checked === 'boolean' && first.type === 'paragraph';
    if (isTask && first.children.length === 0) throw new NotPlain();
    const text = (isTask ? `[${item.checked ? 'x' : ' '}] ` : '') + this.flow(item.children, item);
    if (/^[\r\n]|^$/.test(text)) throw new NotPlain();
    return `${mark} ${text.replaceAll(/(\r?\n|\r)(?=[^\r\n])/g, `$1${' '.repeat(mark.length + 1)}`)}`;
  }
}

const quoted = (text: string): string =>
  `\n${text}`
    .replaceAll(/(\r?\n|\r)(?=([^\r\n]?))/g, (_, end: string, next: string) => `${end}>${next === '' ? '' : ' '}`)
    .slice(1);

function heading({ depth, children }: Heading): string | undefined {
  const text = plainLine(children, 'heading', '# ', '\n');
  if (text === undefined || /^[ \t]|[\r\n]/.test(text)) return undefined;
  return text === '' ? '#'.repeat(depth) : `${'#'.repeat(depth)} ${text}`;
}

const plainLanguage = /^[^\s`&\\]*$/;
const plainMeta = /^[^\r\n`&\\]*$/;

function fence({ lang, meta, value }: Code): string | undefined {
  if (!plainLanguage.test(lang ?? '') || !plainMeta.test(meta ?? '')) return undefined;
  const longest = value.includes('```') ? Math.max(...Array.from(value.matchAll(/`+/g), ([run]) => run.length)) : 2;
  const marks = '`'.repeat(longest + 1);
  const info = lang ? lang + (meta ? ` ${meta}` : '') : '';
  return `${marks}${info}\n${value === '' ? '' : `${value}\n`}${marks}`;
}

const delimiters: Record<string, string> = { left: ':-', center: ':-:', right: '-:' };

function table({ align, children }: Table): string | undefined {
  const rows: string[][] = [];
  for (const row of children) {
    const cells: string[] = [];
    for (const cell of row.children) {
      const text = plainLine(cell.children, 'cell', '|', '|');
      if (text === undefined) return undefined;
      cells.push(text);
    }
    rows.push(cells);
  }
  const [head, ...others] = rows;
  if (head === undefined) return undefined;
  const columns = align?.length || Math.max(...rows.map(({ length }) => length));
  while (head.length < columns) head.push('');
  const delimiter = head.map((_, at) => delimiters[align?.[at] ?? ''] ?? '-');
  return [head, delimiter, ...others]
    .map((cells) => `|${cells.length === 0 ? '|' : cells.map((cell) => `${cell}|`).join('')}`)
    .join('\n');
}

/** True if no empty line is needed between two children of an item. Blocks that would merge or change their meaning need one. */
function isTight(left: Block, right: Block, { spread }: Parent): boolean {
  if (spread !== false) return false;
  if (left.type === 'blockquote' && right.type === 'blockquote') return false;
  if (left.type === 'table' && (right.type === 'paragraph' || right.type === 'table')) return false;
  // The heading may have an underline instead of its marks.
  if (right.type === 'heading') throw new NotPlain();
  if (left.type === 'paragraph' && right.type === 'thematicBreak') return false;
  if (
    left.type === 'paragraph' &&
    right.type === 'list' &&
    right.ordered &&
    typeof right.start === 'number' &&
    right.start !== 1
  )
    return false;
  return !(right.type === 'paragraph' && lastIn(left).type === 'paragraph');
}

function lastIn(block: Nodes): Nodes {
  let last = block;
  while (last.type === 'blockquote' || last.type === 'list' || last.type === 'listItem') {
    const inside: Nodes | undefined = last.children.at(-1);
    if (inside === undefined) break;
    last = inside;
  }
  return last;
}
