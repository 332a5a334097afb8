import { expect, test } from 'vitest';
import { markdownBlocks, markdownSection } from './markdown-blocks.ts';
import { questionKind, quoteSection } from './quote-section.ts';

const filler = 'Nothing of interest is said in this whole sentence. '.repeat(6).trim();
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
  const nested = '# Keys\n\n## All\n\n### One\n\nx\n\n### Two\n\ny\n\n## Last\n\nz';
  expect(markdownSection(nested, 'All')?.map((block) => block.text)).toEqual(['### One', 'x', '### Two', 'y']);
});

test('the part of a long section with the words of the question is quoted', () => {
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

test('a question about how to start is answered up to the first steps', () => {
  const steps = '1. Install it.\n2. Start it.';
  const page = ['# Quickstart', filler, filler, steps, '## Later', filler].join('\n\n');
  expect(quoteSection(page, terms, 'start')).toBe([filler, filler, steps].join('\n\n'));
});

test('a word that few rows of a long table have counts more', () => {
  const rows = Array.from({ length: 20 }, (_, at) => `| ${at === 12 ? 'rotate' : 'key'} | ${at} |`);
  expect(quote('other', ['| a | b |', '|---|---|', ...rows].join('\n'))).toMatch(
    /^\| a \| b \|\n\|---\|---\|\n\| rotate \| 12 \|\n/,
  );
});

test('a long table keeps its head and the matching rows, and says that there are more', () => {
  const rows = Array.from({ length: 20 }, (_, at) => `| option ${at} | ${at === 12 ? 'rotate the key' : 'other'} |`);
  expect(quote('other', ['| a | b |', '|---|---|', ...rows].join('\n'))).toBe(
    '| a | b |\n|---|---|\n| option 12 | rotate the key |\n| … 19 more rows | |',
  );
});

test('a list that is too long ends after a whole item', () => {
  const items = Array.from({ length: 30 }, (_, at) => `${at + 1}. Rotate the key\n\n   ${filler}`);
  const shown = quote('how', items.join('\n\n'));
  expect(shown.startsWith('1. Rotate')).toBe(true);
  expect(shown).toMatch(/\n- … \d+ more on the page$/);
  expect(shown.split('\n- …')[0]?.endsWith(filler)).toBe(true);
});

test('the named step that matches the question is quoted', () => {
  const steps = [
    '1. **Install**\n\n   Run it.',
    '2. **Rotate your key**\n\n   Press it.',
    '3. **Stop it**\n\n   Ctrl-C.',
  ].join('\n\n');
  expect(quote('how', 'You need Node.', steps)).toBe('You need Node.\n\n2. **Rotate your key**\n\n   Press it.');
  expect(quote('other', steps)).toBe(steps);
  expect(quoteSection(steps, new Set([...terms, 'stop']), 'how', new Set(['stop']))).toBe(
    '3. **Stop it**\n\n   Ctrl-C.',
  );
  expect(quoteSection(steps, new Set(['key', 'stop', 'run', 'node']), 'how')).toBe(steps);
});

test('first steps that are far from the start are not reached', () => {
  const page = [...Array<string>(12).fill(filler), '1. Go.'].join('\n\n');
  const { length } = quoteSection(page, terms, 'start');
  expect(length).toBeGreaterThan(1_000);
  expect(length).toBeLessThan(1_700);
});

test('the kind of a question', () => {
  for (const asks of ['How do I get started?', 'How do I start?', 'how to start with it?'])
    expect(questionKind(asks)).toBe('start');
  expect(questionKind('How do I start a job?')).toBe('how');
  expect(questionKind('How do I rotate a key?')).toBe('how');
  expect(questionKind('What is a bundle?')).toBe('what');
  expect(questionKind('cheapest first')).toBe('other');
});

test('one of several variants of code is quoted, and said to be one: the one with most of the terms, or the first', () => {
  const said = '*This is one of 3 variants of the code on the page.*';
  const variant = (name: string, text: string) => `\`\`\`sh ${name}\n${text}\n\`\`\``;
  const [curl, go, js] = [variant('cURL', 'curl /'), variant('Go', 'get()'), variant('JS', 'fetch()')];
  expect(quote('how', 'Rotate a key:', curl, go, js)).toBe(`Rotate a key:\n\n${curl}\n\n${said}`);
  const best = variant('JS', 'rotate(key)');
  expect(quote('how', 'Rotate a key:', curl, go, best)).toBe(`Rotate a key:\n\n${best}\n\n${said}`);
  expect(quote('how', 'Rotate a key:', curl, go)).toBe(`Rotate a key:\n\n${curl}\n\n${go}`);
});

test('pictures are left out with their captions, alone, in a line and as a link', () => {
  expect(
    quote('other', '![Keys](/a.png)![Keys](/b.png)', 'Press ![the button](/b.svg) here.', '[![x](/c.png)](/d)'),
  ).toBe('Press  here.');
  const code = '```md\n![Keys](/a.png)\n```';
  expect(quote('other', code)).toBe(code);
});

test('headings of a whole page become labels, and none ends a quotation', () => {
  const page = ['# Install', '## macOS', 'Use brew.', '## Windows', 'Use WSL.', '## Next'].join('\n\n');
  expect(quoteSection(page, terms, 'start')).toBe('**macOS**\n\nUse brew.\n\n**Windows**\n\nUse WSL.');
});

test.each(['![', '![a](', '[ ', '![a]( '])('pictures that never end are read in one pass: %s', (unit) => {
  // A parser that backtracks takes hours for this input.
  const text = `${unit.repeat(200_000)}![a](b)${' '.repeat(200_000)}c`;
  expect(quoteSection(text, new Set(['c']), 'other')).toBeDefined();
});

test('code that is too long is cut after a whole line, and the answer says so', () => {
  const code = (closed: boolean) =>
    [
      '```ts',
      ...Array.from({ length: 200 }, (_, at) => `rotate(${at}); // ${'x'.repeat(20)}`),
      ...(closed ? ['```'] : []),
    ].join('\n');
  for (const closed of [true, false]) {
    const shown = quote('how', 'Rotate a key:', code(closed));
    expect(shown).toMatch(/^Rotate a key:\n\n```ts\nrotate\(0\);/);
    const [, last, left] =
      /\nrotate\((\d+)\); \/\/ x{20}\n```\n\n\*The code is cut here: the page has (\d+) more lines of it\.\*$/.exec(
        shown,
      ) ?? [];
    expect(Number(last) + Number(left)).toBe(199);
  }
});
