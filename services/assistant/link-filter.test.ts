import { expect, test } from 'vitest';
import { linkFilter } from './link-filter.ts';

const ours = (url: string): boolean =>
  url.startsWith('/guides/') || ['https://ok.example/a', 'mailto:help@ok.example'].includes(url);

/** The filtered answer, which must be the same for pieces of any size. A long text is cut into few pieces, because it is read again with each. */
async function filter(text: string): Promise<string> {
  const results = new Set<string>();
  for (const size of text.length > 1_000 ? [701, text.length] : [1, 2, 3, 7, text.length]) {
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
  ['a text that begins a list', '[-](//e) ~~~\n[1](//e). ~~~', '\\- \\~~~\n\\[1\\]. \\~~~'],
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
  ['a name with a version', 'npm i react@19.2.0 or @acme/kit', 'npm i react@19\\.2.0 or @acme/kit'],
  ['the head of a table in code', '~~~ a|b\n-|-\n~~~\n', '~~~ a b\n-|-\n~~~\n'],
])('no text makes others read a link: %s', async (_what, text, shown) => {
  expect(await filter(text)).toBe(shown);
});

test.each([
  ['//evil.example/a b', '`//evil.example/a` b'],
  ['a // note //x y', 'a // note //x y'],
  ['///evil.example', '///evil.example'],
  ['x://evil.example', 'x://evil.example'],
  ['/\\/evil.example x', '`//evil.example` x'],
  ['a//b', 'a//b'],
  ['https://ok.example/a.', 'https://ok.example/a.'],
  ['https://ok.example/a"x', '`https://ok.example/a`"x'],
  ['https://ok.example/a) b', 'https://ok.example/a) b'],
  ['https://ok.example/a]: b', 'https://ok.example/a]\\: b'],
  ['https://ok.example/a|b', '`https://ok.example/a`|b'],
  ["(https://ok.example/a)'", "(https://ok.example/a)'"],
  ['https://ok.example/a?!', 'https://ok.example/a?!'],
  ['HTTPS://EVIL.example', '`HTTPS://EVIL.example`'],
  ['WWW.evil.example', '`WWW.evil.example`'],
  ['wwwx.evil', 'wwwx.evil'],
  ['http:/ x http: h', 'http:/ x http: h'],
  ['see http', 'see http'],
  ['ftp:// x', '`ftp://` x'],
  ['https://évil.example/ü', '`https://évil.example/ü`'],
  ['\\https://evil.example', '\\\\`https://evil.example`'],
  ['\\www.evil.example', '\\\\`www.evil.example`'],
  ['\\HTTPS://EVIL.example', '\\\\`HTTPS://EVIL.example`'],
  ['https://evil.example\\', '`https://evil.example`\\'],
  ['https://evil.example/_a_*', '`https://evil.example/_a`_*'],
  ['https://evil.example<b', '`https://evil.example`\\<b'],
  ['https://eee.example`x`', '`https://eee.example` `x`'],
  ['`a`https://evil.example`b`', '`a` `https://evil.example` `b`'],
  ['`a`[`b`](//e)', '`a` `b`'],
  ['[https](//e)://evil.example', '`https://evil.example`'],
  ['[www](//e).evil.example', '`www.evil.example`'],
  ['[h](//e)ttp://evil.example', '`http://evil.example`'],
  ['[/](//e)/evil.example b', '`//evil.example` b'],
  ['a@[b](//e).example', 'a@`b.example`'],
  [
    '&period; &commat; &lowbar; &UnderBar; &plus; &sol; &COLON;',
    '\\&period; \\&commat; \\&lowbar; \\&UnderBar; \\&plus; \\&sol; \\&COLON;',
  ],
  [
    '&#47; &#x2f; &#x2F; &#32; &#228; &#95; &#x40; &#45; &#43;',
    '\\&#47; \\&#x2f; \\&#x2F; &#32; &#228; \\&#95; \\&#x40; \\&#45; \\&#43;',
  ],
  ['&#0000047; &#00000047;', '\\&#0000047; &#00000047;'],
  ['&x[y](//e)', '\\&xy'],
  ['&#[4](//e)7;', '\\&#47;'],
  ['& b &', '& b \\&'],
  ['& b &#47; c', '& b \\&#47; c'],
  ['&amp', '\\&amp'],
  ['&colon https', '&colon https'],
  ['&;', '&;'],
  ['&copy;![a](//e)', '&copy;a'],
  ['a &![a](//e)', 'a \\&a'],
  ['&#x3[a](//e);', '\\&#x3a;'],
  ['help@ok.example, b', 'help@ok.example, b'],
  ['help@ok.example.', 'help@ok.example.'],
  ['help@ok.example...', 'help@ok.example...'],
  ['mail help@ok.example-', 'mail help@ok.example-'],
  ['x.y+z@evil.example.', 'x.y+z@`evil.example`.'],
  ['x@evil', 'x@evil'],
  ['x@1.2', 'x@1\\.2'],
  ['npm i x@1.3.4, then', 'npm i x@1\\.3.4, then'],
  ['x@1\\.2', 'x@1\\.2'],
  ['x@1[.3](//e)', 'x@1`.3`'],
  ['`x@1.3`', '`x@1.3`'],
  ['x@a.b.1', 'x@a\\.b.1'],
  ['x@e.c..1 y', 'x@`e.c..1` y'],
  ['x@e.c.-2 y', 'x@`e.c.-2` y'],
  ['x@e.c', 'x@`e.c`'],
  ['x@e.1c', 'x@`e.1c`'],
  ['x@e._c', 'x@`e._c`'],
  ['x@e.-c', 'x@`e.-c`'],
  ['x@e.c1', 'x@`e.c1`'],
  ['help@ok.example-[b.example](//e)', 'help@ok.example-`b.example`'],
  ['help@ok.example.[b](//e) c', 'help@ok.example.`b` c'],
  ['@evil.example', '@evil.example'],
  [' @evil.example', ' @evil.example'],
  ['x\\@evil.example', 'x@`evil.example`'],
  ['\\@', '@'],
  ['x@evil.example_a', 'x@`evil.example_a`'],
  ['é@evil.example', 'é@evil.example'],
  ['x@e\\.example', 'x@`e.example`'],
  ['x@e-.example b', 'x@`e-.example` b'],
  ['x@evil.EXAMPLE', 'x@`evil.EXAMPLE`'],
  ['a `b', 'a \\`b'],
  ['``a`', '\\`\\`a\\`'],
  ['x `a``b`', 'x `a``b`'],
  ['`a`\n- b', '`a`\n- b'],
  ['`www.b', '\\` `www.b`'],
  ['`a\n\nb`', '\\`a\n\nb\\`'],
  ['`a\n# b`', '\\`a\n# b\\`'],
  ['`a\n1. b`', '\\`a\n1. b\\`'],
  ['`a\n12. b`', '\\`a\n12. b\\`'],
  ['`a\n  - b`', '\\`a\n  - b\\`'],
  ['`a\n    b`', '`a b`'],
  ['`a\n> b`', '`a b`'],
  ['|`a|b://c`|', '|\\`a|b://c\\`|'],
  ['`a|b`', '`a|b`'],
  ['`a|[b]`', '`a|[b]`'],
  ['`a|[b](c`', '\\`a|bc\\`'],
  ['`a|<b:c`', '\\`a|\\<b:c\\`'],
  ['`a|<bc:d`', '\\`a|\\<bc:d\\`'],
  ['`a|<b`', '`a|<b`'],
  ['`a|www.b`', '\\`a|`www.b`\\`'],
  ['``` a', '``` a'],
  ['```\n', '```\n'],
  ['~~~\na', '~~~\na'],
  ['~~ a', '~~ a'],
  ['~~~~ a\n~~~\n~~~~\n[x](//e)', '~~~~ a\n~~~\n~~~~\nx'],
  ['```a b\nc\n```', '```a b\nc\n```'],
  ['    ```\n[x](//e)', '    \\`\\`\\`\nx'],
  ['\t```\n[x](//e)', '\t\\`\\`\\`\nx'],
  ['> > ```\n> > a\n> b [x](//e)', '> > ```\n> > a\n> > ```\n> b x'],
  ['>\t```\n> [x](//e)', '>\t\\`\\`\\`\n> x'],
  ['```\na\n```x\n```\n[y](//e)', '```\na\n```x\n```\ny'],
  ['```\n[x](//e)\n    ```\n[x](//e)\n', '```\n[x](//e)\n    ```\n[x](//e)\n'],
  ['~~~\n```\n[x](//e)\n~~~', '~~~\n```\n[x](//e)\n~~~'],
  ['```|a\n|\n```', '``` a\n|\n```'],
  ['~~~|\n\n', '~~~ \n\n'],
  ['> ~~~\na > [x](//e)', '> ~~~\n> ~~~\na > x'],
  ['- a\n  ```\n  b\n  ```\n[x](//e)', '- a\n  ```\n  b\n  ```\nx'],
  ['1. a\n   ```\n   [x](//e)\n   ```', '1. a\n   ```\n   [x](//e)\n   ```'],
  ['2. a\n   ```\n   [x](//e)\n', '2. a\n   ```\n   [x](//e)\n'],
  ['p\n2. a\n\n       ```\n   [x](//e)', 'p\n2. a\n\n       \\`\\`\\`\n   x'],
  ['- - ```\n', '- - \\`\\`\\`\n'],
  ['* * *\n    ```\n[x](//e)', '* * *\n    \\`\\`\\`\nx'],
  ['-     a\n\n  ```\n  [x](//e)\n  ```\n', '-     a\n\n  ```\n  [x](//e)\n  ```\n'],
  ['10) a\n\n    ```\n    [x](//e)\n    ```\n', '10) a\n\n    ```\n    [x](//e)\n    ```\n'],
  ['- a\n\nb\n\n    ```\n    [x](//e)\n', '- a\n\nb\n\n    \\`\\`\\`\n    x\n'],
  ['+ a\n\n  ~~~\n  b\n c [x](//e)', '+ a\n\n  ~~~\n  b\n  ~~~\n c x'],
  ['- a\n\n\t```\n\t[x](//e)\n\t```\n', '- a\n\n\t```\n\t[x](//e)\n\t```\n'],
  ['[a](/guides/x "t")', '[a](/guides/x)'],
  ["[a](/guides/x 't')", '[a](/guides/x)'],
  ['[a](/guides/x  "a title")', '[a](/guides/x)'],
  ["[a](/guides/x 'a title')", '[a](/guides/x)'],
  ['[a](/guides/x (t))', 'a/guides/x (t))'],
  ['[a](</guides/a b>)', '[a](/guides/a%20b)'],
  ['[a](/guides/(x))', '[a](/guides/%28x%29)'],
  ['[a](/guides/(xy))', '[a](/guides/%28xy%29)'],
  ['[a](/guides/x', 'a/guides/x'],
  ['[a](/guides/x y)', 'a/guides/x y)'],
  ['[a]( /guides/x )', '[a](/guides/x)'],
  ['[a](\n/guides/x)', '[a](/guides/x)'],
  ['[a\nb](/guides/x)', '[a b](/guides/x)'],
  ['[a\n> b](/guides/x)', '[a b](/guides/x)'],
  ['[a\n\nb](/guides/x)', '[a\n\nb]\\(/guides/x)'],
  ['[](/guides/x)', '[](/guides/x)'],
  ['[ ](//e)', '…'],
  ['![](//e)', '…'],
  ['![ ](/guides/x)', '…'],
  ['!a', '!a'],
  ['!a](//e)', '!a]\\(//e)'],
  ['!', '!'],
  ['![', '!['],
  ['![a', '![a'],
  ['![a]', '![a]'],
  ['![a](', 'a'],
  ['[a', '[a'],
  ['[a]', '[a]'],
  ['[a](', 'a'],
  ['[a] (//e)', '[a] (//e)'],
  ['[a][b](//e)', '[a]b'],
  ['[a]: //e', '[a]\\: //e'],
  ['[^1]: b', '[^1]\\: b'],
  ['[a\\](//e) b](//e)', 'a\\](//e) b'],
  ['[[a]](//e)', '[a]'],
  ['[a](/guides/x|y)', '[a](/guides/x%7Cy)'],
  ['[a](/guides/`)', '[a](/guides/%60)'],
  ['[<b>](/guides/x)', '[\\<b>](/guides/x)'],
  ['[# a](/guides/x)', '[# a](/guides/x)'],
  ['[- a](//e)', '\\- a'],
  ['[> a](//e)', '\\> a'],
  ['[a > b](//e)', 'a > b'],
  ['[ a ](//e)', 'a'],
  ['[# a](//e)', '\\# a'],
  ['[#a](//e)', '#a'],
  ['[=](//e)', '\\='],
  ['[==](//e) a', '\\== a'],
  ['[1.](//e) a', '1\\. a'],
  ['[1)](//e) a', '1\\) a'],
  ['[12](//e). a', '\\[12\\]. a'],
  ['[123](//e)', '\\[123\\]'],
  ['[1234567890.](//e)', '1234567890.'],
  ['> [- a](//e)', '> \\- a'],
  ['-  [- a](//e)', '-  \\- a'],
  ['12. [- a](//e)', '12. \\- a'],
  ['12[.](//e) a', '12\\. a'],
  ['12[a.](//e)', '12a.'],
  ['1. [.](//e)', '1. .'],
  ['1.[-](//e)', '1.\\-'],
  ['- [+](//e)', '- \\+'],
  ['a [- b](//e)', 'a - b'],
  ['[~~~](//e)', '\\~~~'],
  ['~[~~](//e)\n[x](//e)', '~\\~~\nx'],
  ['a\n[* b](//e)', 'a\n\\* b'],
  ['[a](//e)\n[- b](//e)', 'a\n\\- b'],
  ['<', '\\<'],
  ['<b', '\\<b'],
  ['< b', '< b'],
  ['<1', '<1'],
  ['<b> <1', '\\<b> <1'],
  ['a: b //evil.example', 'a: b `//evil.example`'],
  ['https:[//evil](//e) b', 'https:`//evil` b'],
  ['a é@evil.example', 'a é@evil.example'],
  ['x:https://evil.example', 'x:`https://evil.example`'],
  ['<=', '<='],
  ['<-', '<-'],
  ['<\n', '<\n'],
  ['a<', 'a\\<'],
  [']', ']'],
  ['](', ']\\('],
  [']:', ']\\:'],
  ['a]b', 'a]b'],
  [']\\(', ']\\('],
  ['\\', '\\'],
  ['\\\n[x](//e)', '\\\nx'],
  ['\\a', '\\a'],
  ['\\\\[x](//e)', '\\\\x'],
  ['\r\n[x](//e)\r', '\nx'],
  ['a\rb', 'ab'],
  ['[[[[[[[[[a]]]]]]]]](//e)', '[[[[[[[[[a]]]]]]]]]\\(//e)'],
  ['[[[[[[[[a]]]]]]]](//e)', '[[[[[[[a]]]]]]]'],
])('marks, alone and beside each other: %j', async (text, shown) => {
  expect(await filter(text)).toBe(shown);
});

test('code in a list stays code', async () => {
  const text =
    '1. Do this:\n\n   ```html\n   <a href="https://ok.example">[x](y)</a>\n   ```\n\n   - and\n\n     ```\n     <b>\n     ```\n';
  expect(await filter(text)).toBe(text);
});

test.each([
  ['a list that begins with 1 in a paragraph', 'p\n1. a\n      ```\n      [x](//e)\n'],
  ['a list that begins after an empty line', 'p\n\n2. a\n      ```\n      [x](//e)\n'],
  ['a list that begins after a line of blanks', 'p\n  \n2. a\n      ```\n      [x](//e)\n'],
  ['a list that goes on', '1. a\n2. b\n      ```\n      [x](//e)\n'],
  ['an item that begins with a mark', '2. - a\n     ```\n     [x](//e)\n     ```\n'],
  ['an item with a wide number', '9. a\n10. b\n    ```\n    [x](//e)\n    ```\n'],
  ['an item with the deepest indent', '- a\n     ```\n     [x](//e)\n'],
  ['an item that begins with indented code', '-     a\n     ```\n     [x](//e)\n'],
  ['an item with the widest gap', '-    a\n        ```\n        [x](//e)\n'],
  ['an item in an item', '- a\n  - b\n       ```\n       [x](//e)\n'],
  ['an empty line', '- a\n\n  ```\n  b\n\n  c [x](//e)\n  ```\n'],
  ['a line of blanks', '- a\n\n  ```\n  b\n \n  c [x](//e)\n  ```\n'],
  ['a mark of another kind behind its mark', '~~~ a`b\n[x](//e)\n~~~\n'],
  ['a list behind code', '```\na\n```\n2. b\n      ```\n      [x](//e)\n'],
  ['an item with a tab', '-\ta\n       ~~~\n       [x](//e)\n'],
  ['an item with a plus', '+ a\n     ~~~\n     [x](//e)\n'],
  ['an item with a paragraph', '10. a\n\n    b\n\n    ```\n    [x](//e)\n    ```\n'],
  ['an item in an item with a paragraph', '- a\n  - b\n\n    c\n\n    ```\n    [x](//e)\n    ```\n'],
  ['an item behind one with two lines', '1. a\n   b\n2. c\n      ~~~\n      [x](//e)\n'],
  ['nothing behind it', 'a\n\n~~~'],
])('a block of code stays code with %s', async (_what, text) => {
  expect(await filter(text)).toBe(text);
});

test.each([
  ['a number in a paragraph', 'p\n2. a\n      ```\n      [x](//e)\n', 'p\n2. a\n      \\`\\`\\`\n      x\n'],
  ['an item with a deeper indent', '- a\n      ```\n      [x](//e)\n', '- a\n      \\`\\`\\`\n      x\n'],
  [
    'an item that begins with indented code, and a deeper indent',
    '-     a\n      ```\n      [x](//e)\n',
    '-     a\n      \\`\\`\\`\n      x\n',
  ],
  [
    'an item that is indented code',
    '     - a\n\n        ```\n        [x](//e)\n',
    '     - a\n\n        \\`\\`\\`\n        x\n',
  ],
  [
    'a number in a paragraph of an item',
    '- a\n  2. b\n       ~~~\n       [x](//e)',
    '- a\n  2. b\n       \\~~~\n       x',
  ],
  ['a quotation behind a list, and a deeper indent', '- a\n>      ~~~\n> [x](//e)', '- a\n>      \\~~~\n> x'],
  ['a mark of a list inside a line', 'p - a\n\n      ```\n      [x](//e)\n', 'p - a\n\n      \\`\\`\\`\n      x\n'],
  ['an indent of four', '    ~~~\n    [x](//e)\n', '    \\~~~\n    x\n'],
  ['an end with blanks behind it', '```\na\n   ```  \n[x](//e)\n', '```\na\n```\nx\n'],
])('a block of code does not begin, or ends, with %s', async (_what, text, shown) => {
  expect(await filter(text)).toBe(shown);
});

test.each([
  ['the first line of an item', '- ~~~\n  ~~~\n  [x](//e)\n', '- \\~~~\n  ~~~\n  [x](//e)\n'],
  ['a quotation in an item', '2. > ~~~\n2) b\n- ~~~\n  ~~~\n   1. a', '2. > \\~~~\n2) b\n- \\~~~\n  ~~~\n   1. a'],
  ['a quotation further in', '- a\n  > ~~~\n> [x](//e)', '- a\n  > \\~~~\n> x'],
  ['a quotation in an item of a quotation', '> - a\n>   > ~~~\n> > [x](//e)', '> - a\n>   > \\~~~\n> > x'],
  ['the text of a paragraph that looks like a quotation', 'b\n    >~~~ [x](//e)', 'b\n    >\\~~~ x'],
  ['backticks in a quotation further in', '- a\n  > ```\n> [x](//e)', '- a\n  > \\`\\`\\`\n> x'],
  ['a paragraph of an item with a tab', '   -\ta\n\t ~~~ [x](//e)\n', '   -\ta\n\t \\~~~ x\n'],
  ['indented code of an item with tabs', '-\t\ta\n\n      ~~~\n      [x](//e)\n', '-\t\ta\n\n      \\~~~\n      x\n'],
  ['an end behind a tab in a quotation', '>```\n>\t```\n>[x](//e)', '>```\n>```\n>x'],
  ['two tildes and one of a text', '- ~~[~](//e)\n', '- ~~\\~\n'],
  ['tildes of two texts', '[~](//e)~~ [~~](//e)~ a', '\\~~~ \\~~~ a'],
  ['a number and a dot of a text', '1[.](//e) ~~~\n[2](//e)[)](//e) a', '1\\. \\~~~\n\\[2\\]) a'],
  ['a number and digits of a text', '1[2](//e). ~~~\n', '1\\[2\\]. \\~~~\n'],
  ['a list in a list with a mark of a text', '- + [-](//e) a\n', '- + \\- a\n'],
  ['blanks that do not break behind an end', '~~~\n~~~\u00a0* [x](//e)\n~~~\n', '~~~\n~~~\u00a0* [x](//e)\n~~~\n'],
  [
    'a line with a blank that does not break',
    'p\n\u00a0\n2. a\n      ~~~\n      [x](//e)\n',
    'p\n\u00a0\n2. a\n      \\~~~\n      x\n',
  ],
  ['tildes inside a line', 'a ~~~ b~~~c >~~~', 'a \\~~~ b~~~c >\\~~~'],
])('a block of code begins only where each reader sees it: %s', async (_what, text, shown) => {
  expect(await filter(text)).toBe(shown);
});

test.each(['~~a~~ ~b~ ~~', '> > ~~~\n> > [x](//e)\n> > ~~~\n', '>~~~\n> [x](//e)\n>~~~\n', '>> ~~~\n>  >  [x](//e)\n'])(
  'tildes stay that strike text out, or open code: %j',
  async (text) => {
    expect(await filter(text)).toBe(text);
  },
);

test.each(['some words', 'a & b', '\\* a', '- a', '~~~\na b', '~'.repeat(2_100), 'word '.repeat(1_000)])(
  'text that cannot become a link is shown at once: %j',
  async (text) => {
    expect(await linkFilter(ours).push(text)).toBe(text);
  },
);

test('an address that begins at the end of a long text is found whole', async () => {
  const links = linkFilter(ours);
  const words = 'word '.repeat(20);
  const shown = (await links.push(`${words}https:`)) + (await links.push('//evil.example')) + (await links.end());
  expect(shown).toBe(`${words}\`https://evil.example\``);
});

test('code of which a line comes in two pieces ends at its mark', async () => {
  const links = linkFilter(ours);
  const shown = (await links.push('```\na')) + (await links.push('b\n```\n[x](//e)')) + (await links.end());
  expect(shown).toBe('```\nab\n```\nx');
});

test('a link that never ends holds nothing back for ever', async () => {
  const links = linkFilter(ours);
  expect((await links.push(`[${'a '.repeat(2_000)}`)).length).toBeGreaterThan(3_000);
});

test.each(['[a](b)', '![a]', '[a]', '[', '\\['])('brackets that never close are read in one pass: %s', async (unit) => {
  // A parser that backtracks takes centuries for this input.
  const links = linkFilter(ours);
  await links.push(`[${unit.repeat(2_000)}`);
  expect(await links.end()).toBeDefined();
});

test.each([
  ['an item with an indent of three', '   - a\n        ~~~\n        [x](//e)\n'],
  ['a mark that is too far in to end it', '~~~\n\t~~~\n[x](//e)\n'],
  ['a mark in a quotation that is too far in to end it', '> ~~~\n>      ~~~\n> [x](//e)\n'],
])('a block of code goes on behind %s', async (_what, text) => {
  expect(await filter(text)).toBe(text);
});

test('a line that opens a block of code is never the head of a table', async () => {
  expect(await filter('~~~ a|\n|-|\n~~~\n')).toBe('~~~ a \n|-|\n~~~\n');
});
