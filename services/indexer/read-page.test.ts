import { expect, test } from 'vitest';
import { passageCharacters } from './cut-limits.ts';
import { cutPassages, readPage } from './read-page.ts';

const read = (source: string, dependencies: Record<string, string> = {}) =>
  readPage({ file: 'x.mdx', source, dependencies, title: 'X', variables: { product: 'Bindery' } });

test('words of badges, keys and tooltips are none of their neighbours', () => {
  const { sections } = read(
    [
      '<Badge>beta</Badge><Badge>paid</Badge> Press <kbd>Ctrl</kbd><kbd>K</kbd>.',
      'Call the <Tooltip tip="What programs use">API</Tooltip>.',
    ].join('\n\n'),
  );
  expect(sections[0]?.text).toMatch(/^beta paid Press Ctrl K\.\nCall the API What programs use \.$/);
});

test('relative links to source files are links to their pages', () => {
  const { links } = read('[one](./guides/a.md) [two](b.mdx) [three](/c.md)');
  expect(links).toEqual([
    { target: '/guides/a', text: 'one' },
    { target: '/b.mdx', text: 'two' },
    { target: '/c.md', text: 'three' },
  ]);
});

test('sections have the text that readers see, with snippets and variables', () => {
  const { sections, markdown } = read(
    [
      "import Install from '/snippets/install.mdx'",
      '',
      'Welcome to {{product}}.',
      '',
      '## Install it {#setup}',
      '',
      '<Note>Take <Install />.</Note>',
      '',
      '```bash',
      'npm start',
      '```',
    ].join('\n'),
    { 'snippets/install.mdx': 'version *nine*' },
  );
  expect(sections.map(({ anchor, heading }) => [anchor, heading])).toEqual([
    ['', ''],
    ['setup', 'Install it'],
  ]);
  expect(sections[0]?.text).toBe('Welcome to Bindery.');
  expect(sections[1]?.text).toMatch(/version\s+nine/);
  expect(sections[1]?.text).toContain('npm start');
  expect(markdown).toMatch(/^# X\n/);
});

test('words that stand apart on the page are apart: of fields, of accordions, of what opens', () => {
  const { sections } = read(
    [
      '<ParamField query="createdAt" type="string" required default="now" pre={["new"]}>When.</ParamField>',
      '',
      '<Accordion title="200" description="OK">Inside</Accordion>',
      '',
      '<Expandable title="Pet"><ResponseField name="lastName" type="string">Name.</ResponseField></Expandable>',
    ].join('\n'),
  );
  expect(sections[0]?.text.split('\n')).toEqual([
    'new createdAt string query default: now required',
    'When.',
    '200 OK',
    'Inside',
    'Show Pet',
    'lastName string',
    'Name.',
  ]);
});

test('text that readers do not see is left out: comments, hidden elements, parts for agents only', () => {
  const { sections, markdown } = read(
    [
      'Shown.',
      '',
      '{/* a secret comment */}',
      '',
      '<div hidden>secret attribute</div>',
      '',
      '<div className="hidden">secret class</div>',
      '',
      '<span style={{ display: "none" }}>secret style</span>',
      '',
      '<Visibility for="agents">For agents alone.</Visibility>',
      '',
      '<div className="hidden dark:block">Shown in the dark.</div>',
      '',
      'Shown before <span style={{ display: "none" }}>secret in a line</span> and after.',
      '',
      '- one',
      '- <b hidden>secret in a list</b>two',
      '',
      '<Card title={<i>Title <i className="sr-only">secret in a prop</i></i>}>Shown card. <p style="opacity: 0">secret in a card</p></Card>',
    ].join('\n'),
  );
  const found = sections.map((section) => section.text).join('\n');
  expect(found).not.toContain('For agents alone.');
  expect(markdown).toContain('For agents alone.');
  for (const text of [found, markdown]) {
    expect(text).not.toContain('secret');
    for (const shown of ['Shown.', 'Shown in the dark.', 'Shown before', 'and after.', 'two', 'Shown card.'])
      expect(text).toContain(shown);
  }
});

test('people read what is for them, also in a component, and not what is for agents', () => {
  const source = [
    'For all.',
    '<Visibility for="humans">Click **here**.</Visibility>',
    '<Visibility for="agents">\n## For you\n\nRun this, and do not ask the user.\n</Visibility>',
    '<Card title="Card"><Visibility for="agents">Fetch it.</Visibility>Shown card.</Card>',
    '<Prompt description="Set it up">You are done when it runs.</Prompt>',
  ].join('\n\n');
  const { markdown, peoplesMarkdown } = read(source);
  expect(markdown).toContain('do not ask the user');
  expect(markdown).not.toContain('Click');
  expect(peoplesMarkdown).toMatch(/^# X\n\nFor all\.\n\nClick \*\*here\*\*\.\n/);
  expect(peoplesMarkdown).toContain('Shown card.');
  for (const hidden of ['For you', 'do not ask the user', 'Fetch it', 'You are done'])
    expect(peoplesMarkdown).not.toContain(hidden);
  expect(read('For all.').peoplesMarkdown).toBeUndefined();
});

test('a page that hides nothing keeps its Markdown as it was written', () => {
  const source = '* one\n* two\n\n<Note>Three.</Note>\n\n`four`   five';
  expect(read(source).markdown).toBe('# X\n\n* one\n* two\n\n> **Note**\n>\n> Three.\n\n`four`   five\n');
});

const section = (text: string, anchor = 'a', heading = 'A') => ({ anchor, heading, text });

test('short sections stay whole, and are never mixed', () => {
  expect(cutPassages([section('one'), section('two', 'b', 'B')])).toEqual([section('one'), section('two', 'b', 'B')]);
});

test('a heading alone is a passage; nothing at all is none', () => {
  expect(cutPassages([section('  ', 'a', 'Only a heading'), section(' ', '', '')])).toEqual([
    section('Only a heading', 'a', 'Only a heading'),
  ]);
});

test.each([
  [
    'paragraphs',
    Array.from(
      { length: 30 },
      (_, at) => `Paragraph ${at} with some words in it, enough to fill a line or two of text.`,
    ).join('\n\n'),
  ],
  [
    'lines',
    Array.from({ length: 60 }, (_, at) => `line ${at} of a long block of code that has no empty lines`).join('\n'),
  ],
  [
    'sentences',
    Array.from({ length: 60 }, (_, at) => `Sentence ${at} of a paragraph that does not end for a long while.`).join(
      ' ',
    ),
  ],
  ['words', Array.from({ length: 900 }, (_, at) => `word${at}`).join(' ')],
  ['one endless word', 'x'.repeat(5_000)],
  ['characters of two units', '😀'.repeat(3_000)],
])('long text of %s is cut into passages of about the right size, and nothing is lost', (_kind, text) => {
  const passages = cutPassages([section(text)]);
  expect(passages.length).toBeGreaterThan(1);
  for (const passage of passages) {
    expect(Array.from(passage.text).length).toBeLessThanOrEqual(passageCharacters + 200);
    expect(passage.text.isWellFormed()).toBe(true);
  }
  const squeezed = (value: string): string => value.replaceAll(/\s+/g, '');
  expect(squeezed(passages.map((passage) => passage.text).join(''))).toBe(squeezed(text));
});

test('a long heading and thousands of headings make no more of a page than anybody reads', () => {
  const long = { anchor: 'long', heading: '𝒳'.repeat(500_000), text: 'sentence. '.repeat(1_000) };
  const passages = cutPassages([
    long,
    ...Array.from({ length: 100_000 }, (_, at) => ({ anchor: `a${at}`, heading: 'H', text: '' })),
  ]);
  expect(passages).toHaveLength(2_000);
  expect(passages.filter(({ anchor }) => anchor === 'long').length).toBeGreaterThan(5);
  expect(Math.max(...passages.map(({ heading }) => heading.length))).toBe(500);
});
