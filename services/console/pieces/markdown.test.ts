import { expect, test } from 'vitest';
import { markdownHtml, webAddress } from './markdown.ts';

test('shows what a model writes', () => {
  const { text } = markdownHtml(
    'Run **it** with `npm`:\n\n```sh\nnpm start <x>\n```\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | 2 |',
  );
  expect(text).toContain('<p>Run <strong>it</strong> with <code>npm</code>:</p>');
  expect(text).toContain('<code>npm start &lt;x&gt;</code>');
  expect(text).toMatch(/<ol start="1"><li><p>one<\/p><\/li>/);
  expect(text).toContain('<tr><td>1</td><td>2</td></tr>');
});

test.each([
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '[x](javascript:alert(1))',
  '![x](javascript:alert(1))',
  '[x](data:text/html,<script>alert(1)</script>)',
  '[x](https://a.test/"onmouseover="alert(1))',
  '<https://a.test/"onload="x">',
  '[x][r]\n\n[r]: javascript:alert(1)',
])('nothing in %j can run', (markdown) => {
  const { text } = markdownHtml(markdown, 'https://docs.acme.test/');
  expect(text).not.toMatch(/<(script|img)|href="(?!https:)/i);
  expect(text.replaceAll(/"[^"]*"/g, '""')).not.toMatch(/<[^>]*\son\w+=/);
});

test('links without a host lead to the site', () => {
  expect(webAddress('/guides/x#y', 'https://docs.acme.test/')).toBe('https://docs.acme.test/guides/x#y');
  expect(webAddress('/guides/x')).toBeUndefined();
  expect(markdownHtml('[Guide](/guides/x)').text).toBe('<p>Guide</p>');
});

test.each([
  ['quotations', '>'.repeat(5_000)],
  ['lists', '- '.repeat(5_000)],
  ['numbered lists', '1. '.repeat(5_000)],
  ['emphasis', '*a _b '.repeat(1_500) + ' c_ d*'.repeat(1_500)],
  ['links', '['.repeat(5_000) + '](a)'.repeat(2_000)],
])('thousands of %s inside each other are shown as they are written', (_what, text) => {
  expect(markdownHtml(`${text}<b>end`).text).toMatch(/^<pre tabindex="0">.*&lt;b&gt;end<\/pre>$/);
});

test('names with underscores are no marks, however many there are', () => {
  expect(markdownHtml(`\`\`\`py\n${'a_name_of_it\n'.repeat(1_000)}\`\`\``).text).toContain(
    '<pre tabindex="0"><code>a_name',
  );
});
