import { expect, test } from 'vitest';
import { linkFilter } from './answer-links.ts';

const ours = (url: string): boolean => url.startsWith('/guides/') || url === 'https://ok.example/a';

/** The answer, however it is cut into pieces. */
async function filter(text: string): Promise<string> {
  const results = new Set<string>();
  for (const size of [1, 2, 3, 7, text.length]) {
    const links = linkFilter(ours);
    let shown = '';
    for (let at = 0; at < text.length; at += size) shown += await links.push(text.slice(at, at + size));
    results.add(shown + (await links.end()));
  }
  expect(results.size).toBe(1);
  return [...results].join('|');
}

test.each([
  ['Press "Rotate", see [keys](/guides/keys#rotate).', 'Press "Rotate", see [keys](/guides/keys#rotate).'],
  ['See [here](https://evil.example/?q=1) and go.', 'See here and go.'],
  ['[x](javascript:alert(1)) [y](//evil.example) [z](<https://evil.example/a b>)', 'x y z'],
  ['![a picture](https://evil.example/?secret)', 'a picture'],
  ['![ours](/guides/x.png)!', 'ours!'],
  ['[![x](https://evil.example)](/guides/a) [![y](/guides/y)](https://evil.example)', '[x](/guides/a) y'],
  [
    'Open https://evil.example/a?b, or https://ok.example/a.',
    'Open `https://evil.example/a?b`, or https://ok.example/a.',
  ],
  ['<https://evil.example> <a href="x">', '\\<`https://evil.example`> \\<a href="x">'],
  ['[ref]\n\n[ref]: https://evil.example', '[ref]\n\n[ref]: `https://evil.example`'],
  ['www.evil.example is here', '`www.evil.example` is here'],
  ['A list [1] and [2][3], 1 < 2, wow! [', 'A list [1] and [2][3], 1 < 2, wow! ['],
  ['Run `curl https://evil.example` and ``a ` b``', 'Run `curl https://evil.example` and ``a ` b``'],
  ['```sh\ncurl https://evil.example # [x](y)\n```\n[x](y)', '```sh\ncurl https://evil.example # [x](y)\n```\nx'],
  ['> ~~~\n> <a>\n> ~~~\n\n<b>', '> ~~~\n> <a>\n> ~~~\n\n\\<b>'],
  ['a ` b [x](y)\n\nc', 'a ` b x\n\nc'],
  ['the way www', 'the way www'],
  ['\\[text](javascript:x) \\<a> \\', '\\[text](javascript:x) \\<a> \\'],
])('%s', async (text, shown) => {
  expect(await filter(text)).toBe(shown);
});

test('a link that never ends holds nothing back for ever', async () => {
  const links = linkFilter(ours);
  expect((await links.push(`[${'a '.repeat(2_000)}`)).length).toBeGreaterThan(3_000);
});

test.each(['[a](b)', '![a]', '[a]', '[', '\\['])('brackets that never close are read in one pass: %s', async (unit) => {
  // Read with backtracking, this takes longer than anybody lives.
  const links = linkFilter(ours);
  await links.push(`[${unit.repeat(2_000)}`);
  expect(await links.end()).toBeDefined();
});
