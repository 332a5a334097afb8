/** A heading of a page, with the number of its first line (from 0) and its level. */
type Heading = { line: number; level: number; text: string };

const fenceMark = /^\s*(`{3,}|~{3,})/;
const headingMark = /^(#{1,6})\s+(.*)$/;

/** The headings of a Markdown text outside of code. Pure. */
export function headingsOf(markdown: string): Heading[] {
  const headings: Heading[] = [];
  let fence: string | undefined;
  for (const [line, text] of markdown.split('\n').entries()) {
    const mark = fenceMark.exec(text)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && text.trim() === mark) fence = undefined;
      continue;
    }
    fence = mark;
    const [, hashes = '', title = ''] = headingMark.exec(text) ?? [];
    if (hashes !== '') headings.push({ line, level: hashes.length, text: plainText(title) });
  }
  return headings;
}

/**
 * The section of a page with its heading and subsections; undefined if no heading has the name. `name`: the heading, as a passage has it (`Guides › Install`
 * means the last part), or its anchor. Pure.
 */
export function pageSection(markdown: string, name: string): string | undefined {
  const wanted = keyOf(name.split(' › ').at(-1) ?? '');
  const headings = headingsOf(markdown);
  const at = wanted === '' ? -1 : headings.findIndex(({ text }) => keyOf(text) === wanted);
  const heading = headings[at];
  if (heading === undefined) return undefined;
  const end = headings.find(({ level }, other) => other > at && level <= heading.level)?.line;
  return markdown.split('\n').slice(heading.line, end).join('\n').trim();
}

/** Letters and digits, which a heading and its anchor share, whatever made the anchor. */
const keyOf = (text: string): string =>
  plainText(text)
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '');

/** The text of a heading without the marks of links, code and emphasis. */
const plainText = (text: string): string =>
  text
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]|\s#+\s*$/g, '')
    .trim();
