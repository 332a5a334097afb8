import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, test } from 'vitest';

const scripts = ['stream', 'links', 'markdown', 'inline-markdown']
  .map((name) => readFileSync(new URL(`scripts/assistant/${name}.js`, import.meta.url), 'utf8'))
  .join('\n');

/** Evaluates an expression in the scope of the scripts. The members of `given` are variables in it. */
function evaluated(expression: string, given: Record<string, unknown> = {}): unknown {
  const context = createContext({ URL, ...given });
  runInContext(scripts, context);
  const text: unknown = runInContext(`JSON.stringify(${expression})`, context);
  return text === undefined ? undefined : JSON.parse(text as string);
}

/** The answer after a stream arrives in these pieces. */
function answerOf(...pieces: string[]) {
  const run = `(function () {
    var answer = newAnswer(); var reader = eventReader((data) => takeEvent(answer, data));
    pieces.forEach((piece) => reader.feed(piece)); return answer;
  })()`;
  return evaluated(run, { pieces }) as Record<string, unknown>;
}
const event = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;
const delta = (text: string): string => event({ type: 'text-delta', id: 'a', delta: text });

describe('the reader of the stream', () => {
  const stream = [
    event({ type: 'start', messageId: 'msg_1', messageMetadata: { threadId: 'th_1' } }),
    ': ping\n\n',
    event({ type: 'text-start', id: 'a' }),
    delta('Héllo '),
    delta('wörld\n'),
    event({ type: 'source-url', sourceId: 's', url: '/guides/keys#a', title: 'Keys' }),
    event({ type: 'data-suggestions', data: ['Why?', 7, 'x'.repeat(300)] }),
    event({ type: 'finish', threadId: 'th_1', messageMetadata: { threadId: 'th_1' } }),
    'data: [DONE]\n\n',
  ].join('');
  const whole = {
    text: 'Héllo wörld\n',
    sources: [{ title: 'Keys', url: '/guides/keys#a' }],
    suggestions: ['Why?'],
    messageId: 'msg_1',
    threadId: 'th_1',
    isFinished: true,
    isBroken: false,
    isTooLong: false,
  };

  test('reads an answer with any division into pieces and any line breaks', () => {
    expect(answerOf(stream)).toEqual(whole);
    expect(answerOf(...stream.split(''))).toEqual(whole);
    expect(answerOf(...stream.replaceAll('\n\n', '\r\n\r\n').split(''))).toEqual(whole);
    expect(answerOf(stream.replaceAll('\n\n', '\r\r'))).toEqual(whole);
  });

  test('skips unknown events', () => {
    const odd = [
      'data: {"type":',
      'data: null',
      'data: 7',
      'event: x\nid: 1',
      event({ type: 'tool-magic', text: 'x' }),
    ];
    const wrong = [event({ type: 'text-delta', delta: { a: 1 } }), event({ type: 'start', messageId: 7 })];
    const links = [event({ type: 'source-url', url: 7 }), event({ type: 'source-url', url: 'x'.repeat(3000) })];
    expect(answerOf([...odd, ...wrong, ...links].join('\n\n'), '\n\n', stream)).toEqual(whole);
  });

  test('tells a broken answer from a complete one', () => {
    expect(answerOf(delta('Half'))).toMatchObject({ text: 'Half', isFinished: false, isBroken: false });
    expect(answerOf(delta('Half'), event({ type: 'error', errorText: '<b>x</b>' }))).toMatchObject({ isBroken: true });
  });

  test('has limits for texts, events and sources', () => {
    const long = answerOf(...Array.from({ length: 100 }, () => delta('x'.repeat(1000))));
    expect(long['text']).toHaveLength(60_000);
    expect(long['isTooLong']).toBe(true);
    expect(() => answerOf('data: ', ...Array.from({ length: 300 }, () => 'x'.repeat(1000)))).toThrow('too long');
    expect(() => answerOf(...Array.from({ length: 300 }, () => `data: ${'x'.repeat(1000)}\n`))).toThrow('too long');
    const sources = Array.from({ length: 50 }, (_, at) => event({ type: 'source-url', url: `/${at}`, title: 'T' }));
    expect(answerOf(sources.join(''))['sources']).toHaveLength(8);
  });
});

describe('links of answers', () => {
  const target = (written: string, top = '../') =>
    evaluated('linkTarget(written, { top, siteUrl: "https://docs.acme.test", end: ".html" })', { written, top }) as
      | { href: string; isOwn: boolean }
      | undefined;

  test.each([
    ['/guides/keys#rotate-a-key', '../guides/keys.html#rotate-a-key'],
    ['/', '../index.html'],
    ['guides/keys', '../guides/keys.html'],
    ['/guides/keys.html?x=1#a', '../guides/keys.html#a'],
    ['/ja/%E5%85%AC%E9%96%8B', '../ja/%E5%85%AC%E9%96%8B.html'],
    ['/guides/v1.2', '../guides/v1.2.html'],
    ['/files/a.pdf', '../files/a.pdf'],
    ['https://docs.acme.test/guides/keys#a', '../guides/keys.html#a'],
  ])('%s leads to a page of the site', (written, href) => {
    expect(target(written)).toEqual({ href, isOwn: true });
  });

  test.each([
    ['/guides/keys#a', 'https://docs.acme.test/guides/keys#a'],
    ['/guides/keys.md', 'https://docs.acme.test/guides/keys'],
    ['/', 'https://docs.acme.test/'],
    ['https://docs.acme.test/a', 'https://docs.acme.test/a'],
  ])('%s leads to a page of the site from another one', (written, href) => {
    const site = { top: 'https://docs.acme.test/', siteUrl: 'https://docs.acme.test', end: '' };
    expect(evaluated('linkTarget(written, site)', { written, site })).toEqual({ href, isOwn: true });
  });

  test('to a mail address fill in nothing but that', () => {
    expect(target('MAILTO:help@acme.test?cc=x@evil.test&body=y')).toEqual({
      href: 'mailto:help@acme.test',
      isOwn: false,
    });
  });

  test('of other sites keep their address', () => {
    expect(target('https://example.com/a?b#c')).toEqual({ href: 'https://example.com/a?b#c', isOwn: false });
    expect(target('https://docs.acme.test.evil.test/')).toMatchObject({ isOwn: false });
  });

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '/half-a-pair-\ud800',
    'mailto:help',
    'mailto:a@b.test,c@d.test',
    'mailto:a@b.test%0Abcc:x',
    'blob:x',
    '//evil.test/x',
    '\\\\evil.test',
    '/\\evil.test',
    '/../../up',
    '/a/%2e%2e/%2e%2e/up',
    '/%5Cevil.test',
    '/a%2Fb',
    '/%E0%A4%A',
    'https://user:word@example.com/',
    'https://',
    `/${'x'.repeat(3000)}`,
  ])('%s is not a link', (written) => {
    expect(target(written)).toBeUndefined();
  });

  test('never become an address with a scheme, even on a page at the top of the site', () => {
    expect(target('/javascript:alert(1)', '')).toEqual({ href: 'javascript%3Aalert(1).html', isOwn: true });
  });
});

type Node = {
  kind: string;
  text?: string;
  to?: string;
  level?: number;
  children?: Node[];
  items?: Node[][];
  rows?: string[][];
};
const blocks = (text: string, isGrowing = false): Node[] =>
  evaluated('markdownBlocks(text, isGrowing)', { text, isGrowing }) as Node[];
/** Shows marks in angle brackets, so that the tests are readable. */
const inline = (text: string, isGrowing = false): string => {
  const shown = (nodes: Node[]): string =>
    nodes
      .map((node) => {
        if (node.kind === 'text') return node.text;
        if (node.kind === 'break') return '<br>';
        const inside = node.kind === 'code' ? node.text : shown(node.children ?? []);
        return `<${node.kind}${node.to === undefined ? '' : ` ${node.to}`}|${inside}>`;
      })
      .join('');
  return shown(evaluated('inlineNodes(text, isGrowing)', { text, isGrowing }) as Node[]);
};

describe('Markdown', () => {
  test('has blocks', () => {
    const text =
      '# Title #\n\nText\nmore\n\n- a\n  - b\n- c\n\n3. x\n4. y\n\n> quoted\n\n```js\n# no title\n```\n\n| A | B |\n|:-:|--:|\n| 1 | `x\\|y` |\n\n---\nEnd';
    const found = blocks(text);
    expect(found.map(({ kind }) => kind)).toEqual([
      ...['heading', 'paragraph', 'list', 'list', 'quote', 'code', 'table', 'rule', 'paragraph'],
    ]);
    expect(found[0]).toMatchObject({ level: 1, text: 'Title' });
    expect(found[2]?.items).toMatchObject([
      [
        { kind: 'paragraph', text: 'a' },
        { kind: 'list', items: [[{ text: 'b' }]] },
      ],
      [{ text: 'c' }],
    ]);
    expect(found[3]).toMatchObject({ start: 3, items: [[{ text: 'x' }], [{ text: 'y' }]] });
    expect(found[4]).toMatchObject({ children: [{ kind: 'paragraph', text: 'quoted' }] });
    expect(found[5]).toMatchObject({ text: '# no title' });
    expect(found[6]).toMatchObject({
      rows: [
        ['A', 'B'],
        ['1', '`x|y`'],
      ],
      aligned: ['center', 'end'],
    });
  });

  test('has steps with code in them', () => {
    const [list] = blocks('1. First\n\n   ```sh\n   npm i\n   ```\n\n2. Second');
    expect(list).toMatchObject({
      start: 1,
      isLoose: true,
      items: [[{ text: 'First' }, { kind: 'code', text: 'npm i' }], [{ text: 'Second' }]],
    });
  });

  test.each([
    ['a **b *c* d** e', 'a <strong|b <emphasis|c> d> e'],
    ['***both***', '<strong|<emphasis|both>>'],
    ['~~gone~~ ~one~', '<deleted|gone> ~one~'],
    ['snake_case_name and _this_', 'snake_case_name and <emphasis|this>'],
    ['2 * 3 * 4', '2 * 3 * 4'],
    ['**open', '**open'],
    ['`a*b*` ``c`d`` `', '<code|a*b*> <code|c`d> `'],
    ['[a **b**](/x "t") !', '<link /x|a <strong|b>> !'],
    ['[a](</x y>)', '<link /x y|a>'],
    ['[w](https://e.test/a_(b))', '<link https://e.test/a_(b)|w>'],
    ['![alt](https://e.test/x.png)', '<link https://e.test/x.png|alt>'],
    ['[a [b](/b) c](/a)', '[a <link /b|b> c](/a)'],
    [
      'see https://e.test/x, or <https://e.test/y>.',
      'see <link https://e.test/x|https://e.test/x>, or <link https://e.test/y|https://e.test/y>.',
    ],
    ['[no] [x] (y)', '[no] [x] (y)'],
    ['\\*no\\* \\<b>', '*no* <b>'],
    ['a  \nb\\\nc\nd', 'a<br>b<br>c d'],
    ['<script>alert(1)</script><img src=x onerror=y>', '<script>alert(1)</script><img src=x onerror=y>'],
    ['&lt;b&gt;', '&lt;b&gt;'],
  ])('%s', (text, shown) => {
    expect(inline(text)).toBe(shown);
  });

  test('that still grows shows no half marks', () => {
    expect(inline('a **bo', true)).toBe('a <strong|bo>');
    expect(inline('a **', true)).toBe('a ');
    expect(inline('see [the keys](/guides/ke', true)).toBe('see the keys');
    expect(inline('see [the keys]', true)).toBe('see the keys');
    expect(inline('run `npm i', true)).toBe('run <code|npm i>');
    expect(blocks('Text\n\n##', true).map(({ kind }) => kind)).toEqual(['paragraph']);
    expect(blocks('Text\n\n| a | b', true).map(({ kind }) => kind)).toEqual(['paragraph']);
    expect(blocks('| a | b |\n|---|', true)).toEqual([]);
    expect(blocks('| a | b |\n|---|---|\n| 1', true)).toMatchObject([{ kind: 'table', rows: [['a', 'b'], ['1']] }]);
    expect(blocks('```\nx', true)).toMatchObject([{ kind: 'code', text: 'x' }]);
  });

  test('never shrinks at its end', () => {
    const text =
      '# T\n\nSome **bold** [link](/a) `code`.\n\n- a\n- b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> q\n\n```\nx\n```\n';
    let most = 0;
    for (let end = 1; end <= text.length; end += 1) {
      const count = blocks(text.slice(0, end), true).length;
      expect(count).toBeGreaterThanOrEqual(most);
      most = count;
    }
    expect(blocks(text)).toHaveLength(most);
  });

  test.each([
    ['[', 60_000],
    ['![', 30_000],
    ['](', 30_000],
    ['[a](', 15_000],
    ['*', 60_000],
    ['**a ', 15_000],
    ['_a ', 20_000],
    ['`', 60_000],
    ['` `` ', 12_000],
    ['> ', 30_000],
    ['- ', 30_000],
    ['- a\n  ', 10_000],
    ['1. a\n\n', 10_000],
    ['|', 60_000],
    ['|-|\n', 15_000],
    ['#', 60_000],
    ['# # ', 15_000],
    ['\n', 60_000],
    [' ', 60_000],
    ['a\n\n\n\n', 12_000],
    ['https://', 7_500],
    ['<https://a', 6_000],
    ['\\', 60_000],
    ['~~~\n', 15_000],
    ['- - - ', 10_000],
  ])('%j many times over is read in linear time', (part, times) => {
    const text = part.repeat(times);
    for (const isGrowing of [true, false]) {
      const count = evaluated(
        `(function count(nodes) { return nodes.reduce((sum, node) => sum + 1 + (node.children ? count(node.children) : 0) + (node.kind === 'paragraph' ? inlineNodes(node.text, isGrowing).length : 0), 0); })(markdownBlocks(text, isGrowing))`,
        { text, isGrowing },
      );
      expect(count).toBeLessThan(200_000);
    }
  });
});
