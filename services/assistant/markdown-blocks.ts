import { analyzeText } from '#shared/search/ranking/analyze-text.ts';

/** A unit of Markdown that must not be cut: a paragraph, a whole list, a table, code, a quotation or a heading. */
export type MarkdownBlock = { kind: 'paragraph' | 'list' | 'table' | 'code' | 'quote' | 'heading'; text: string };

const fenceMark = /^\s*(`{3,}|~{3,})/;
const listItem = /^(?:[-*+]|\d{1,9}[.)])\s/;

/** The blocks of a Markdown text, in order. Pure. */
export function markdownBlocks(markdown: string): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  let lines: string[] = [];
  let fence: string | undefined;
  const end = (): void => {
    const text = lines.join('\n').trimEnd();
    if (text.trim() !== '') blocks.push({ kind: kindOf(lines), text });
    lines = [];
  };
  for (const line of markdown.split('\n')) {
    const [, mark] = fenceMark.exec(line) ?? [];
    if (fence !== undefined) {
      lines.push(line);
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
      continue;
    }
    const inList = lines.length > 0 && kindOf(lines) === 'list';
    const goesOn = inList && (/^\s+\S/.test(line) || listItem.test(line));
    if (line.trim() === '') {
      // A list may continue after an empty line; the next line decides.
      if (inList) lines.push(line);
      else end();
      continue;
    }
    if (inList && !goesOn && lines.at(-1) === '') end();
    if (/^#{1,6}\s/.test(line) || (mark !== undefined && !goesOn)) end();
    fence = mark;
    lines.push(line);
    if (/^#{1,6}\s/.test(line)) end();
  }
  end();
  return blocks;
}

function kindOf([first = '', second = '']: readonly string[]): MarkdownBlock['kind'] {
  if (fenceMark.test(first)) return 'code';
  if (/^#{1,6}\s/.test(first)) return 'heading';
  if (listItem.test(first)) return 'list';
  if (first.startsWith('>')) return 'quote';
  if (first.includes('|') && /^[\s:|-]+$/.test(second) && second.includes('-')) return 'table';
  return 'paragraph';
}

/**
 * The section of a page under a heading, without the heading; for `''` the text before the first heading. A heading that is followed only by
 * subheadings includes their sections. Undefined if no heading has that name.
 * `heading`: as passages have it, outermost first. Pure.
 */
export function markdownSection(markdown: string, heading: string): MarkdownBlock[] | undefined {
  const blocks = markdownBlocks(markdown);
  const wanted = plain(heading.split(' › ').at(-1) ?? '');
  const isTitle = ({ kind, text }: MarkdownBlock): boolean => kind === 'heading' && text.startsWith('# ');
  const start = blocks.findIndex((block) =>
    wanted === '' ? isTitle(block) : block.kind === 'heading' && !isTitle(block) && plain(block.text) === wanted,
  );
  if (start === -1) return undefined;
  const rest = blocks.slice(start + 1);
  const own = rest.slice(
    0,
    endOf(rest, () => true),
  );
  if (own.length > 0 || wanted === '') return own;
  const level = levelOf(blocks[start]);
  return rest.slice(
    0,
    endOf(rest, (heading) => levelOf(heading) <= level),
  );
}

const levelOf = (heading: MarkdownBlock | undefined): number => /^#+/.exec(heading?.text ?? '')?.[0].length ?? 0;

/** Index of the first heading that matches, or the end. */
function endOf(blocks: readonly MarkdownBlock[], isEnd: (heading: MarkdownBlock) => boolean): number {
  const end = blocks.findIndex((block) => block.kind === 'heading' && isEnd(block));
  return end === -1 ? blocks.length : end;
}

const plain = (heading: string): string =>
  heading
    .replace(/^#+\s+/, '')
    .replaceAll(/\[([^[\]]*)\]\((?:[^()]|\([^()]*\))*\)/g, '$1')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
    .toLowerCase();

const mostRows = 6;
const bestRows = 4;

/** A long table reduced to the rows that have most of the terms, in order, and the number of omitted rows. A term weighs more if fewer rows have it. Pure. */
export function shortTable({ kind, text }: MarkdownBlock, terms: ReadonlySet<string>): MarkdownBlock {
  const [head = '', rule = '', ...rows] = text.split('\n');
  if (kind !== 'table' || rows.length <= mostRows) return { kind, text };
  const found = rows.map((row) => new Set(analyzeText(row)).intersection(terms));
  const rowsWith = (term: string): number => found.filter((row) => row.has(term)).length;
  const weights = new Map([...terms].map((term) => [term, Math.log(1 + rows.length / Math.max(1, rowsWith(term)))]));
  const counted = rows.map((row, at) => ({
    ...{ at, row },
    count: [...(found[at] ?? [])].reduce((sum, term) => sum + (weights.get(term) ?? 0), 0),
  }));
  const best = counted.toSorted((a, b) => b.count - a.count || a.at - b.at).slice(0, bestRows);
  const most = best[0]?.count ?? 0;
  const kept = best.filter(({ count }) => count * 2 >= most).toSorted((a, b) => a.at - b.at);
  const left = `| … ${rows.length - kept.length} more rows |${' |'.repeat(Math.max(0, cellsOf(rule) - 1))}`;
  return { kind, text: [head, rule, ...kept.map(({ row }) => row), left].join('\n') };
}

const cellsOf = (rule: string): number => rule.split('|').filter((cell) => cell.trim() !== '').length;

/** Number of the terms that a text has. Pure. */
export const termCount = (text: string, terms: ReadonlySet<string>): number =>
  new Set(analyzeText(text)).intersection(terms).size;

/** Blocks as one Markdown text. Pure. */
export const markdownOfBlocks = (blocks: readonly MarkdownBlock[]): string =>
  blocks.map(({ text }) => text).join('\n\n');

/** The first blocks of a Markdown text, whole ones, up to a number of characters. A first block that is longer is cut. Pure. */
export function leadingBlocks(markdown: string, most: number): string {
  if (markdown.length <= most) return markdown;
  return markdownOfBlocks(blocksAround(markdownBlocks(markdown), 0, most)) || markdown.slice(0, most);
}

/** Whole blocks up to a number of characters: those before this position as far as a quarter of it, then the others in order. Pure. */
export function blocksAround(blocks: readonly MarkdownBlock[], position: number, most: number): MarkdownBlock[] {
  let [start, characters] = [position, 0];
  const fits = (block: MarkdownBlock | undefined, limit: number): boolean => {
    if (block === undefined || characters + block.text.length > limit) return false;
    characters += block.text.length + 2;
    return true;
  };
  while (fits(blocks[start - 1], most / 4)) start -= 1;
  let end = position;
  while (fits(blocks[end], most)) end += 1;
  return blocks.slice(start, end);
}
