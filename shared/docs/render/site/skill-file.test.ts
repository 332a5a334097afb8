import { expect, test } from 'vitest';
import { skillName, skillText } from './skill-file.ts';

const source = {
  ...{ name: 'Acme Docs', description: 'How to use\nAcme.', address: 'https://docs.acme.com', hasMcp: true },
  parts: [
    { title: 'Start', pages: [{ path: 'index', title: 'Home [new]', description: 'The beginning.' }] },
    { title: '', pages: [{ path: 'a b', title: 'Other' }] },
  ],
};

test('a skill says when to use it, how to read the pages, and which there are', () => {
  expect(skillText(source).split('\n')).toEqual([
    '---',
    'name: acme-docs',
    'description: "Use for questions and tasks about Acme Docs: How to use Acme."',
    '---',
    '',
    '# Acme Docs',
    '',
    'How to use Acme.',
    '',
    '## How to read the documentation',
    '',
    expect.stringContaining('`https://docs.acme.com/index.md`'),
    expect.stringContaining('`https://docs.acme.com/mcp`'),
    expect.stringContaining('Say where an answer comes from.'),
    '',
    '## Pages',
    '',
    '### Start',
    '',
    '- [Home \\[new\\]](https://docs.acme.com/index.md): The beginning.',
    '',
    '- [Other](https://docs.acme.com/a%20b.md)',
    '',
  ]);
  expect(skillText({ ...source, hasMcp: false })).not.toContain('/mcp');
});

test('a skill stays small, however many pages there are', () => {
  const pages = Array.from({ length: 500 }, (_, at) => ({ path: `p/${at}`, title: 'T'.repeat(80) }));
  const text = skillText({ ...source, parts: [...source.parts, { title: 'Many', pages }] });
  expect(text.length).toBeLessThan(31_000);
  expect(text).toContain('500 more pages are in llms.txt.');
});

test.each([
  ['Acme Docs', 'acme-docs'],
  ['文档', 'documentation'],
  ['Ünïcode!', 'unicode'],
])('%s has the name of a skill', (name, expected) => {
  expect(skillName(name)).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  expect(skillName(name)).toBe(expected);
});
