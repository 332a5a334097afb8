import { expect, test } from 'vitest';
import { readPageMenu } from './read-page-menu.ts';

function read(href: unknown) {
  const problems: string[] = [];
  const options = JSON.parse(JSON.stringify([{ title: 'Ask', href }]));
  const menu = readPageMenu({ options }, 'guides/x', (problem) => problems.push(problem));
  return { href: menu?.items.map((item) => ('href' in item ? item.href : item.kind))[0], problems };
}

test.each([
  ['https://a.example/%ff?q=$path', 'https://a.example/%ff?q=%2Fguides%2Fx'],
  ['https://a.example/100%', 'https://a.example/100%'],
  [
    { base: 'https://a.example/', query: [{ key: '\ud800', value: '\udc00$path' }] },
    /^https:\/\/a\.example\/\?%EF%BF%BD=%EF%BF%BD%2Fguides%2Fx$/,
  ],
])('an address with invalid escapes is kept: %j', (written, expected) => {
  const { href, problems } = read(written);
  if (typeof expected === 'string') expect(href).toBe(expected);
  else expect(href).toMatch(expected);
  expect(problems).toEqual([]);
});

test('the endpoint for agents has entries to copy it, and to add it to editors', () => {
  const problems: string[] = [];
  const options = ['mcp', 'add-mcp', 'cursor', 'vscode', 'devin-mcp'];
  const menu = readPageMenu({ options }, 'guides/x', (problem) => problems.push(problem));
  expect(menu?.items).toEqual(['address', 'command', 'cursor', 'vscode'].map((client) => ({ kind: 'mcp', client })));
  expect(problems).toEqual([expect.stringContaining('"devin-mcp" has no effect')]);
});

test.each([
  'https://a.example/?q=$page',
  'https://a.example/?q=%24mcp',
  'javascript:alert(1)',
  'https://$path.example/',
])('an option that cannot be offered is reported: %s', (written) => {
  const { href, problems } = read(written);
  expect(href).toBeUndefined();
  expect(problems).toHaveLength(1);
});
