import { expect, test } from 'vitest';
import { markdownBlocks, markdownSection } from './markdown-blocks.ts';
import { questionKind, quoteSection } from './quote-section.ts';

const filler = 'Nothing of interest is said in this sentence at all. '.repeat(6).trim();
const terms = new Set(['rotat', 'kei']);
const quote = (kind: 'how' | 'what' | 'other', ...blocks: string[]) => quoteSection(blocks.join('\n\n'), terms, kind);

test('blocks are whole: lists with their code, tables, fences with empty lines', () => {
  const list = '1. **One**\n\n   ```sh\n   # a\n\n   b\n   ```\n\n2. Two\n   more';
  const code = '```\n# no heading\n\nx\n```';
  const text = `# Title\n\nA line\nand more\n${code}\n\n${list}\n\nAfter.\n\n|a|b|\n|-|-|\n|1|2|\n\n> quoted`;
  expect(markdownBlocks(text).map(({ kind }) => kind)).toEqual([
    ...['heading', 'paragraph', 'code', 'list', 'paragraph', 'table', 'quote'],
  ]);
  expect(markdownBlocks(text)[3]?.text).toBe(list);
});

test('a section is found by its heading, without the sections below it', () => {
  const page = '# Keys\n\nIntro.\n\n## Rotate `a` key\n\nPress.\n\n### More\n\nx';
  const text = (heading: string) => markdownSection(page, heading)?.map((block) => block.text);
  expect(text('')).toEqual(['Intro.']);
  expect(text('Rotate a key')).toEqual(['Press.']);
  expect(text('Rotate a key › More')).toEqual(['x']);
  expect(text('Gone')).toBeUndefined();
});

test('of a long section the part with the words of the question counts', () => {
  expect(quote('other', filler, filler, 'To rotate the key, press it.', filler, filler)).toMatch(/^To rotate the key/);
});

test('a quote does not end before the command that it announces, nor begin without what introduces it', () => {
  const command = '```sh\nkeys rotate\n```';
  expect(quote('other', filler, filler, 'Rotate a key with this:', command, filler, filler)).toContain(
    `Rotate a key with this:\n\n${command}`,
  );
  expect(quote('how', filler, filler, 'Open a terminal.', command, filler)).toContain(`Open a terminal.\n\n${command}`);
});

test('"what is" begins with the definition', () => {
  expect(quote('what', 'A key opens the interface.', filler, filler, 'Rotate a key.')).toMatch(/^A key opens/);
});

test('cards become a list, and lines across the page are left out', () => {
  expect(quote('other', 'Keys:', '[Rotate](/rotate)', 'Twice\na year.', '[Revoke](/revoke)', '<!-- -->', '---')).toBe(
    'Keys:\n\n- [Rotate](/rotate): Twice a year.\n- [Revoke](/revoke)',
  );
});

test('whoever wants to start gets on to the first steps', () => {
  const steps = '1. Install it.\n2. Start it.';
  const page = ['# Quickstart', filler, filler, steps, '## Later', filler].join('\n\n');
  expect(quoteSection(page, terms, 'start')).toBe([filler, filler, steps].join('\n\n'));
});

test('a word that few rows of a long table have counts more', () => {
  const rows = Array.from({ length: 20 }, (_, at) => `| ${at === 12 ? 'rotate' : 'key'} | ${at} |`);
  expect(quote('other', ['| a | b |', '|---|---|', ...rows].join('\n'))).toBe('| a | b |\n|---|---|\n| rotate | 12 |');
});

test('of a long table the rows that count stay, under their head', () => {
  const rows = Array.from({ length: 20 }, (_, at) => `| option ${at} | ${at === 12 ? 'rotate the key' : 'other'} |`);
  expect(quote('other', ['| a | b |', '|---|---|', ...rows].join('\n'))).toBe(
    '| a | b |\n|---|---|\n| option 12 | rotate the key |',
  );
});

test('a list that is too long ends after a whole item', () => {
  const items = Array.from({ length: 30 }, (_, at) => `${at + 1}. Rotate the key\n\n   ${filler}`);
  const shown = quote('how', items.join('\n\n'));
  expect(shown.startsWith('1. Rotate')).toBe(true);
  expect(shown.endsWith(filler)).toBe(true);
});

test('what a question wants', () => {
  expect(questionKind('How do I get started?')).toBe('start');
  expect(questionKind('How do I rotate a key?')).toBe('how');
  expect(questionKind('What is a bundle?')).toBe('what');
  expect(questionKind('cheapest first')).toBe('other');
});
