import { expect, test } from 'vitest';
import { linkFilter } from './link-filter.ts';

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
  ['[ref]\n\n[ref]: https://evil.example', '[ref]\n\n[ref]\\: `https://evil.example`'],
  ['www.evil.example is here', '`www.evil.example` is here'],
  ['A list [1] and [2][3], 1 < 2, wow! [', 'A list [1] and [2][3], 1 < 2, wow! ['],
  ['Run `curl https://evil.example` and ``a ` b``', 'Run `curl https://evil.example` and ``a ` b``'],
  ['```sh\ncurl https://evil.example # [x](y)\n```\n[x](y)', '```sh\ncurl https://evil.example # [x](y)\n```\nx'],
  ['> ~~~\n> <a>\n> ~~~\n\n<b>', '> ~~~\n> <a>\n> ~~~\n\n\\<b>'],
  ['a ` b [x](y)\n\nc', 'a \\` b x\n\nc'],
  ['the way www', 'the way www'],
  ['\\[text](javascript:x) \\<a> \\', '\\[text]\\(javascript:x) \\<a> \\'],
])('%s', async (text, shown) => {
  expect(await filter(text)).toBe(shown);
});

test.each([
  ['a definition', '[x][1]\n\n[1]: javascript:alert(1)', '[x][1]\n\n[1]\\: javascript:alert(1)'],
  ['brackets in brackets', '[a [b [c] d] e](//evil.example/x)', 'a [b [c] d] e'],
  ['a text that is too long', `[${'t'.repeat(2_100)}](//evil.example)`, `[${'t'.repeat(2_100)}]\\(\`//evil.example\`)`],
  ['a bracket in code', '[a `]` b](//evil.example)', '[a `]` b]\\(`//evil.example`)'],
  ['a page and more behind it', '[a](</guides/x#) [b](//evil.example/>)', '[a](/guides/x#%29%20[b]%28//evil.example/)'],
  ['code in an address', '[a](/guides/x#`) ` [b](//evil.example) `', '[a](/guides/x#%60) ` [b](//evil.example) `'],
  ['code over paragraphs', '`a\n\nb` ` [x](//evil.example)`', '\\`a\n\nb` ` x\\`'],
  ['code into a list', '`a\n- [x](//evil.example)`', '\\`a\n- x\\`'],
  ['code over lines', 'a `b\n  c` [x](//evil.example)', 'a `b c` x'],
  ['code over cells', '| `a | [x](//evil.example) | ` |', '| \\`a | x | \\` |'],
  ['marks of code with more of them behind', '```a`\n[x](//evil.example)', '\\`\\`\\`a\\`\nx'],
  ['code whose quotation ends', '> ```\n> a\n\n[x](//evil.example)', '> ```\n> a\n> ```\n\nx'],
  ['code whose list ends', '- a\n\n  ```\n  b\n[x](//evil.example)', '- a\n\n  ```\n  b\n  ```\nx'],
  ['code in a paragraph', 'a\n    ```\n    [x](//evil.example)\n', 'a\n    \\`\\`\\`\n    x\n'],
  ['an end that is none', '```\n``` x ```\n```\n[x](//evil.example)', '```\n``` x ```\n```\nx'],
  ['a longer end', '   ~~~\n   a\n ~~~~~\n[x](//evil.example)', '   ~~~\n   a\n   ~~~\nx'],
  ['a text that begins code', '[~~~](//evil.example)\na\n~~~\n', '\\~~~\na\n~~~\n'],
  ['no text before code', '[](//e)~~~\n[x](//evil.example)', '…~~~\nx'],
  ['a text that begins a list', '[-](//e) ~~~\n[1](//e). ~~~', '\\- ~~~\n\\[1\\]. ~~~'],
  ['a text in a tag', '<[img](//e) src=//evil.example/?q>', '\\<img src=`//evil.example/?q`>'],
  ['a tag that begins in a text', '[<](//e)img src=x>', '\\<img src=x>'],
  ['an address from a text on', '[https:](//e)//evil.example/a b', '`https://evil.example/a` b'],
  ['an address into a text', 'https:[//evil.example](//e) b', 'https:`//evil.example` b'],
  [
    'an address with escaped marks',
    'https\\://evil.example www\\.evil.example',
    '`https://evil.example` `www.evil.example`',
  ],
  [
    'character references in an address',
    'https&colon;//a www&#46;b &amp; &lt;',
    'https\\&colon;//a www\\&#46;b &amp; &lt;',
  ],
  ['a character reference over texts', 'https&co[lon](//e);//evil.example', 'https\\&colon;`//evil.example`'],
  ['a character reference in a link', '[a](/guides/&sol;x)', '[a](/guides/%26sol;x)'],
  ['another protocol', 'ftp://evil.example/a', '`ftp://evil.example/a`'],
  [
    'mail',
    'a@evil.example, b\\@evil.example, c&#64;evil.example',
    'a@`evil.example`, b@`evil.example`, c\\&#64;evil.example',
  ],
  ['mail over texts', 'a@[evil.example](//e) b', 'a@`evil.example` b'],
  ['a name with a version', 'npm i react@19.2.0 or @acme/kit', 'npm i react@19.2.0 or @acme/kit'],
  ['the head of a table in code', '~~~ a|b\n-|-\n~~~\n', '~~~ a b\n-|-\n~~~\n'],
])('no text makes others read a link: %s', async (_what, text, shown) => {
  expect(await filter(text)).toBe(shown);
});

test('code in a list stays code', async () => {
  const text =
    '1. Do this:\n\n   ```html\n   <a href="https://ok.example">[x](y)</a>\n   ```\n\n   - and\n\n     ```\n     <b>\n     ```\n';
  expect(await filter(text)).toBe(text);
});

test('a link that never ends holds nothing back for ever', async () => {
  const links = linkFilter(ours);
  expect((await links.push(`[${'a '.repeat(2_000)}`)).length).toBeGreaterThan(3_000);
});

test.each(['[a](b)', '![a]', '[a]', '[', '\\['])('brackets that never close are read in one pass: %s', async (unit) => {
  // Read with backtracking, this takes longer than anybody lives.
  const links = linkFilter(ours);
  await links.push(`[${unit.repeat(100_000)}`);
  expect(await links.end()).toBeDefined();
});
