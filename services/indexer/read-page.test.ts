import { expect, test } from 'vitest';
import { readPage } from './read-page.ts';

const read = (source: string, dependencies: Record<string, string> = {}) =>
  readPage({ file: 'x.mdx', source, dependencies, title: 'X', variables: { product: 'Bindery' } });

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

test('what readers do not see is not there: comments, hidden elements, what is for agents only', () => {
  const { sections } = read(
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
      '<Visibility for="agents">secret for agents</Visibility>',
      '',
      '<div className="hidden dark:block">Shown in the dark.</div>',
    ].join('\n'),
  );
  const text = sections.map((section) => section.text).join('\n');
  expect(text).not.toContain('secret');
  expect(text).toContain('Shown.');
  expect(text).toContain('Shown in the dark.');
});
