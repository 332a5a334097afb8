import { analyzeQuery } from '#shared/search/ranking/analyze-text.ts';
import { type MarkdownBlock, markdownBlocks, markdownOfBlocks, shortTable, termCount } from './markdown-blocks.ts';

/** The kind of answer that a question needs; `page`: a page as a whole. */
export type QuestionKind = 'start' | 'how' | 'what' | 'page' | 'other';

/** A section up to this length is quoted whole. */
const shortSection = 600;
const quoteCharacters = 1_100;
/** Length of a quotation from the start of a page. */
const pageQuoteCharacters = 1_600;
/** Limit for one block, such as code that fills a page or a long list. */
const mostCharacters = 2_600;

export function questionKind(question: string): QuestionKind {
  if (
    /\b(?:get(?:ting)? started|quick ?start|begin(?:ning)?|where (?:do|should|can) (?:i|we) start|first steps|try it)\b|\bhow (?:do|can|should|to|would)\b(?: (?:i|we|you|one))? start(?: with)?(?: it| this)?\W*$/i.test(
      question,
    )
  )
    return 'start';
  if (
    /^\s*(?:what(?:'s| is| are| does)|who is|define|explain|describe|tell me (?:more )?about|meaning of)\b/i.test(
      question,
    )
  )
    return 'what';
  if (/\b(?:how (?:do|can|to|should|would)|command|install|set up|configure|run|use|add|make|create)\b/i.test(question))
    return 'how';
  return 'other';
}

/**
 * The part of a section that answers the question, in whole blocks: it starts with the definition for `what is`, includes the steps or the command
 * for "how", and reduces a long table to the matching rows. It never ends before a block that it introduces, nor inside a step. `terms`: the words of
 * the search query; `asked`: the words of the last question alone, which may match the name of a step. Pure.
 */
export function quoteSection(
  markdown: string,
  terms: ReadonlySet<string>,
  kind: QuestionKind,
  asked: ReadonlySet<string> = terms,
): string {
  const shown = markdownBlocks(markdown)
    .filter((block) => !isTitle(block))
    .map(withoutPictures);
  const readable = shown.filter((block) => block.text !== '' && !isMark(block));
  while (readable.at(-1)?.kind === 'heading') readable.pop();
  const blocks = cardsAsList(withoutVariants(readable.map(headingAsLabel), terms))
    .map((block) => shortTable(block, terms))
    .map((block) => (kind === 'how' ? stepsCalled(block, asked) : block))
    .map(leadingItems)
    .map(leadingLines)
    .filter((block) => block.text.length <= mostCharacters);
  const size = (some: readonly MarkdownBlock[]): number => some.reduce((sum, { text }) => sum + text.length, 0);
  if (size(blocks) <= shortSection) return markdownOfBlocks(blocks);
  const [start, end] = bestRun(blocks, terms, kind);
  let run = blocks.slice(start, end);
  const readsOn = kind === 'page' || (kind === 'start' && !run.some(isShown));
  // The next block is included while the result is short, or if it has more of the terms.
  for (let next = end; next < blocks.length; next += 1) {
    const longer = blocks.slice(start, next + 1);
    const adds = termCount(markdownOfBlocks(longer), terms) > termCount(markdownOfBlocks(run), terms);
    if (size(longer) > (readsOn ? pageQuoteCharacters : adds ? quoteCharacters : shortSection)) break;
    run = longer;
  }
  while (run.length > 1 && (announces(run.at(-1)) || isLabel(run.at(-1)))) run.pop();
  return markdownOfBlocks(run);
}

/** The range around the block with most of the terms, extended back to its introduction and on to the blocks that it introduces. */
function bestRun(blocks: readonly MarkdownBlock[], terms: ReadonlySet<string>, kind: QuestionKind): [number, number] {
  const scores = blocks.map((block, at) => {
    const does = block.kind === 'code' || block.kind === 'list';
    const bonus = (kind === 'how' && does ? 0.6 : 0) + (kind === 'what' && at === 0 ? 1.5 : 0);
    return termCount(block.text, terms) + bonus;
  });
  const isFromStart = kind === 'start' || kind === 'page';
  let start = isFromStart ? 0 : scores.indexOf(Math.max(...scores));
  // For questions about how to start, the quotation extends to the first steps or command.
  const steps = isFromStart ? blocks.findIndex(isShown) : -1;
  const firstSteps = markdownOfBlocks(blocks.slice(0, steps + 1)).length > mostCharacters ? -1 : steps;
  let end = Math.max(start, firstSteps) + 1;
  while (start > 0 && (announces(blocks[start - 1]) || isShown(blocks[start]))) {
    start -= 1;
    if (!isShown(blocks[start])) break;
  }
  const wantsIt = (at: number): boolean => kind === 'how' && isShown(blocks[at]) && !isShown(blocks[at - 1]);
  while (end < blocks.length && (announces(blocks[end - 1]) || wantsIt(end))) end += 1;
  return [start, end];
}

const isTitle = ({ kind, text }: MarkdownBlock): boolean => kind === 'heading' && text.startsWith('# ');

/** Removes pictures with their captions, which make no sense without them. */
function withoutPictures({ kind, text }: MarkdownBlock): MarkdownBlock {
  if (kind === 'code' || !text.includes('![')) return { kind, text };
  const rest = text.replaceAll(
    /(?:\[\s*)?!\[(?:[^[\]\\]|\\.)*\]\([^()]*(?:\([^()]*\)[^()]*)*\)(?:\s*\]\([^()]*\))?/g,
    '',
  );
  return { kind, text: rest.replaceAll(/(?<![ \t])[ \t]+$/gm, '').trim() === '' ? '' : rest };
}

/** Turns a heading into a label, because a quotation has no sections. */
const headingAsLabel = ({ kind, text }: MarkdownBlock): MarkdownBlock =>
  kind === 'heading'
    ? { kind: 'paragraph', text: `**${text.replace(/^#+\s+/, '').replaceAll('**', '')}**` }
    : { kind, text };

/** Minimum number of adjacent code blocks that count as variants for several languages or cases. */
const leastVariants = 3;

/** Keeps one of several variants of code: the one with most of the terms, or the first. */
function withoutVariants(blocks: readonly MarkdownBlock[], terms: ReadonlySet<string>): MarkdownBlock[] {
  const result: MarkdownBlock[] = [];
  for (let at = 0; at < blocks.length; ) {
    const rest = blocks.slice(at);
    const length = rest.findIndex(({ kind }) => kind !== 'code');
    const run = length === -1 ? rest : rest.slice(0, length);
    if (run.length < leastVariants) {
      result.push(...rest.slice(0, Math.max(1, run.length)));
    } else {
      const counts = run.map(({ text }) => termCount(text, terms));
      const best = counts.indexOf(Math.max(...counts));
      const { text = '' } = run[best] ?? {};
      result.push(withRemark(text, `This is one of ${run.length} variants of the code on the page.`));
    }
    at += Math.max(1, run.length);
  }
  return result;
}

/** Code with a sentence below it, as one block, so that a quotation has both. */
const withRemark = (code: string, sentence: string): MarkdownBlock => ({
  kind: 'code',
  text: `${code}\n\n*${sentence}*`,
});

/** Reduces code that is too long to its first lines, whole ones, and says so. */
function leadingLines(block: MarkdownBlock): MarkdownBlock {
  if (block.kind !== 'code' || block.text.length <= mostCharacters) return block;
  const lines = block.text.split('\n');
  const fence = /^\s*(?:`{3,}|~{3,})/.exec(lines[0] ?? '')?.[0] ?? '```';
  const isClosed = lines.at(-1)?.trim() === fence.trim();
  const code = lines.slice(1, isClosed ? -1 : undefined);
  let characters = 0;
  const end = code.findIndex((line) => (characters += line.length + 1) > pageQuoteCharacters);
  const kept = code.slice(0, Math.max(1, end)).map((line) => line.slice(0, mostLineCharacters));
  const left = code.length - kept.length;
  const sentence = `The code is cut here: the page has ${left} more ${left === 1 ? 'line' : 'lines'} of it.`;
  return withRemark([lines[0] ?? '', ...kept, fence].join('\n'), sentence);
}

/** Limit of one line of code that is cut, such as minified code or encoded data. */
const mostLineCharacters = 1_000;

/** True for a thematic break, and for a comment that separates two lists. */
const isMark = ({ text }: MarkdownBlock): boolean => /^(?:<!--.*?-->|[-*_](?:\s*[-*_]){2,})$/s.test(text.trim());

/** Turns cards, which are links with a sentence below them, into one list. */
function cardsAsList(blocks: readonly MarkdownBlock[]): MarkdownBlock[] {
  const result: MarkdownBlock[] = [];
  let cards: string[] = [];
  const end = (): void => {
    if (cards.length > 0) result.push({ kind: 'list', text: cards.join('\n') });
    cards = [];
  };
  for (const [at, block] of blocks.entries()) {
    if (isCard(block)) cards.push(`- ${block.text}`);
    else if (isCard(blocks[at - 1]) && block.kind === 'paragraph' && !isLabel(block))
      cards.push(`${cards.pop()}: ${block.text.replaceAll(/\s*\n\s*/g, ' ')}`);
    else {
      end();
      result.push(block);
    }
  }
  end();
  return result;
}

const isCard = (block: MarkdownBlock | undefined): boolean =>
  block?.kind === 'paragraph' && /^\[[^\]]*\]\([^)]*\)$/.test(block.text);

const announces = (block: MarkdownBlock | undefined): boolean =>
  block?.kind === 'paragraph' && /[:：]\W*$/.test(block.text);

/** The title of a tab or a card, which introduces the block after it. */
const isLabel = (block: MarkdownBlock | undefined): boolean =>
  block?.kind === 'paragraph' && /^(?:\*\*[^*]+\*\*|\[[^\]]*\]\([^)]*\))$/.test(block.text);

/** True for a block that another block may introduce. */
const isShown = (block: MarkdownBlock | undefined): boolean =>
  block !== undefined && ['code', 'list', 'table'].includes(block.kind);

const itemsOf = (list: string): string[] => list.split(/\n(?=(?:[-*+]|\d{1,9}[.)])\s)/);

/** Reduces a list of named steps to those whose names match the question. */
function stepsCalled(block: MarkdownBlock, asked: ReadonlySet<string>): MarkdownBlock {
  if (block.kind !== 'list') return block;
  const called = itemsOf(block.text).filter((item) => {
    const name = analyzeQuery(/^\S+\s+\*\*([^*]+)\*\*/.exec(item)?.[1] ?? '');
    return name.length > 0 && name.length * 2 >= asked.size && name.every((term) => asked.has(term));
  });
  return called.length === 0 ? block : { kind: 'list', text: called.join('\n').trimEnd() };
}

/** Reduces a list that is too long to its first items, each of them whole. */
function leadingItems(block: MarkdownBlock): MarkdownBlock {
  if (block.kind !== 'list' || block.text.length <= mostCharacters) return block;
  const items = itemsOf(block.text);
  let text = items[0] ?? '';
  let count = 1;
  for (const item of items.slice(1)) {
    if (text.length + item.length > quoteCharacters) break;
    text += `\n${item}`;
    count += 1;
  }
  const left = items.length - count;
  const more = left === 0 ? '' : `\n- … ${left} more on the page`;
  return { kind: 'list', text: `${text.trimEnd()}${more}` };
}
