import type { Image, Link, PhrasingContent } from 'mdast';

/** The block that contains a line. It determines which characters have a meaning in Markdown. */
export type LinePlace = 'paragraph' | 'heading' | 'cell';
type Around = { place: LinePlace; inLabel: boolean; inAttention: boolean };

/**
 * Writes a line of text as Markdown if nothing in it must be escaped or encoded; undefined otherwise. `before` and `after` are the characters around
 * it.
 */
export const plainLine = (
  nodes: readonly PhrasingContent[],
  place: LinePlace,
  before: string,
  after: string,
): string | undefined => lineOf(nodes, { place, inLabel: false, inAttention: false }, before, after);

function lineOf(nodes: readonly PhrasingContent[], around: Around, before: string, after: string): string | undefined {
  let line = '';
  let last = before;
  for (const [at, node] of nodes.entries()) {
    const next = nodes[at + 1];
    const first = next === undefined ? after : firstOf(next);
    const isBesideAttention = isAttention(next) || isAttention(nodes[at - 1]);
    const written =
      first === undefined || (isAttention(node) && isBesideAttention) ? undefined : write(node, around, last, first);
    if (written === undefined) return undefined;
    if (written === '') continue;
    line += written;
    last = written.charAt(written.length - 1);
  }
  return line;
}

function write(node: PhrasingContent, around: Around, before: string, after: string): string | undefined {
  switch (node.type) {
    case 'text':
      return isPlainText(node.value, around, before, after) ? node.value : undefined;
    case 'inlineCode':
      return codeSpan(node.value, around);
    case 'link':
      return link(node, around);
    case 'image':
      return image(node, around);
    case 'strong':
      return attention('**', node.children, around, before, after);
    case 'emphasis':
      return attention('_', node.children, around, before, after);
    case 'inlineMath':
      return `$${node.value}$`;
    case 'break':
      return around.place === 'paragraph' ? '\\\n' : undefined;
    default:
      return undefined;
  }
}

const firstCharacters = {
  inlineCode: '`',
  link: '[',
  image: '!',
  strong: '*',
  emphasis: '_',
  inlineMath: '$',
  break: '\\',
};

/** First character of the Markdown of a node, if the node is plain. */
const firstOf = (node: PhrasingContent): string | undefined =>
  node.type === 'text' ? node.value.charAt(0) : firstCharacters[node.type as keyof typeof firstCharacters];

const isAttention = (node: PhrasingContent | undefined): boolean =>
  node?.type === 'strong' || node?.type === 'emphasis';

/** Characters that may begin a construct anywhere. */
const marks = /[*_[`~\\\r\t]/;
/** Pairs of characters that may begin a construct, such as an address. */
const pairs = /[Ww]\.[-.\w]|[ps]:\/|!\[|[-+.\w]@[-.\w]|&[#A-Za-z]|<[!/?A-Za-z]|\]\(/;
/** Characters that may begin a construct at the start of a line, and spaces there. */
const lineStart = /^(?:[#*+=>|:<~[`_ \n-]|\d+[.)])/;
const lineBreaks = /\n(?:[#*+=>|:<~[`_ \n-]|\d+[.)])| \n/;

function isPlainText(value: string, { place, inLabel }: Around, before: string, after: string): boolean {
  if (value === '' || marks.test(value) || pairs.test(before + value + after)) return false;
  if (inLabel && value.includes(']')) return false;
  if (place !== 'paragraph' && (value.includes('\n') || value.includes(place === 'cell' ? '|' : '#'))) return false;
  if (before === '\n' && lineStart.test(value)) return false;
  if (after === '\n' && (value.endsWith(' ') || value.endsWith('\n'))) return false;
  return !value.includes('\n') || !lineBreaks.test(value);
}

function codeSpan(value: string, { place, inLabel }: Around): string | undefined {
  if (/[`\r\n]/.test(value) || (inLabel && value.includes(']')) || (place === 'cell' && value.includes('|')))
    return undefined;
  return value.startsWith(' ') && value.endsWith(' ') && value.trim() !== '' ? undefined : `\`${value}\``;
}

/** Matches letters and digits. The characters beside marks of emphasis decide whether the marks are parsed. */
const letter = /[\p{L}\p{N}]/u;
const punctuation = /[!-/:-@[-`{-~]/;

/** Writes emphasis without other emphasis in it or beside it; undefined if the characters around it prevent its marks from being parsed. */
function attention(
  mark: '**' | '_',
  children: readonly PhrasingContent[],
  around: Around,
  before: string,
  after: string,
): string | undefined {
  if (around.inAttention) return undefined;
  const character = mark.charAt(0);
  const inside = lineOf(children, { ...around, inAttention: true }, mark, mark);
  if (inside === undefined || inside === '') return undefined;
  const reads = (outside: string, next: string): boolean => {
    if (letter.test(outside)) return character === '*' && letter.test(next);
    return (/[ \n]/.test(outside) || punctuation.test(outside)) && (letter.test(next) || punctuation.test(next));
  };
  const isRead = reads(before.slice(-1), inside.charAt(0)) && reads(after.charAt(0), inside.charAt(inside.length - 1));
  return isRead ? mark + inside + mark : undefined;
}

const plainAddress = /^[^\0- \u007f&()|\\<>[\]]*$/;
const plainTitle = /^[^"&\\\r\n\t|[\]]*$/;

function addressAndTitle({ url, title }: Pick<Link, 'url' | 'title'>): string | undefined {
  if (!plainAddress.test(url)) return undefined;
  if (!title) return `(${url})`;
  return url !== '' && plainTitle.test(title) ? `(${url} "${title}")` : undefined;
}

function link(node: Link, around: Around): string | undefined {
  const [only, other] = node.children;
  // The library may write a link whose text is its address without brackets.
  if (other === undefined && only?.type === 'text' && (only.value === node.url || `mailto:${only.value}` === node.url))
    return undefined;
  if (around.inLabel) return undefined;
  const to = addressAndTitle(node);
  const label =
    to === undefined ? undefined : lineOf(node.children, { ...around, inLabel: true, inAttention: false }, '[', ']');
  return label === undefined ? undefined : `[${label}]${to}`;
}

function image(node: Image, around: Around): string | undefined {
  const to = addressAndTitle(node);
  const alt = node.alt ?? '';
  return to !== undefined && isPlainText(alt, { ...around, inLabel: true }, '[', ']') ? `![${alt}]${to}` : undefined;
}
