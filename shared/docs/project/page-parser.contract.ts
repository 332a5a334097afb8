import type { Heading, Nodes } from 'mdast';
import type { MdxFlowExpression, MdxjsEsm } from 'mdast-util-mdx';
import { describe, expect, it } from 'vitest';
import type { PageParser, ParsedPage, ParseOptions } from './parse-page.ts';

const codes = ({ diagnostics }: ParsedPage): string[] => diagnostics.map(({ code }) => code);

function nodes(page: ParsedPage, type: string): Nodes[] {
  const found: Nodes[] = [];
  const visit = (node: Nodes): void => {
    if (node.type === type) found.push(node);
    if ('children' in node) for (const child of node.children) visit(child);
  };
  visit(page.tree);
  return found;
}
const textOf = (page: ParsedPage): string =>
  nodes(page, 'text')
    .map((node) => (node as { value: string }).value)
    .join('|');

/** Contract suite for every `PageParser`. */
export function pageParserContract(parser: PageParser): void {
  const parse = (source: string, file = 'a.mdx', options?: ParseOptions): ParsedPage =>
    parser.parse(source, file, options);

  describe('MDX', () => {
    it('has elements, expressions and imports with their ESTree, and GFM', () => {
      const page = parse(
        `import X from '/snippets/x.mdx'\n\n<Card title="A" n={1 + 2}>~~b~~</Card>\n\n{user.name}\n\n| a |\n| - |\n| b |\n`,
      );
      expect(page).toMatchObject({ format: 'mdx', diagnostics: [] });
      expect((nodes(page, 'mdxjsEsm')[0] as MdxjsEsm).data).toHaveProperty('estree.type', 'Program');
      expect((nodes(page, 'mdxFlowExpression')[0] as MdxFlowExpression).data).toHaveProperty('estree.body');
      expect(nodes(page, 'mdxJsxFlowElement').concat(nodes(page, 'mdxJsxTextElement'))).toHaveLength(1);
      expect(nodes(page, 'delete')).toHaveLength(1);
      expect(nodes(page, 'table')).toHaveLength(1);
    });

    it.each(['a.mdx', 'a.md'])('leaves names with versions as text, and mail addresses as links: %s', (file) => {
      const page = parse(
        'Use vue@3.x, x@1.3, *kit@2.0-beta* or x@2.0.0b, see [x@1.x](mailto:x@1.x), or write to a.b@c.example.\n',
        file,
      );
      expect(nodes(page, 'link').map((node) => (node as { url: string }).url)).toEqual([
        'mailto:x@1.x',
        'mailto:a.b@c.example',
      ]);
      expect(textOf(page)).toBe(
        'Use vue@3.x, x@1.3, |kit@2.0-beta| or x@2.0.0b, see |x@1.x|, or write to |a.b@c.example|.',
      );
    });

    it('gives positions of the file, with frontmatter', () => {
      const page = parse('---\ntitle: T\n---\n\n# Hi\n');
      expect(page.frontmatter).toEqual({ title: 'T' });
      expect(nodes(page, 'heading')[0]?.position?.start).toMatchObject({ line: 5, column: 1 });
    });

    it('that is repaired says what to write instead', () => {
      const messages = (source: string): string =>
        parse(source)
          .diagnostics.map(({ message }) => message)
          .join('\n');
      expect(messages('<Card title=plain>\n\nx\n\n</Card>\n')).toContain('put quotes around it');
      expect(messages('import things from the shelf.\n')).toContain('Let the line begin with another word');
    });

    it('that is broken in more than 100 places is reported with line and column, and its tags are text', () => {
      const page = parse(`# Hi\n\n${'A <3 and {x\n\n'.repeat(51)}<Card>\n`, 'a.mdx');
      expect(page).toMatchObject({ format: 'markdown', diagnostics: [{ code: 'mdx-syntax', severity: 'error' }] });
      expect(page.diagnostics[0]).toMatchObject({ line: 3, column: 3, message: expect.stringContaining('100 places') });
      expect(page.failure).toBeUndefined();
      expect(nodes(page, 'html')).toHaveLength(0);
      expect(textOf(page)).toContain('<Card>');
    });

    it('whose tags are almost never closed is refused without parsing', () => {
      const page = parse('<Card title="x">\n\ntext\n\n'.repeat(2000));
      expect(page).toMatchObject({
        format: 'markdown',
        diagnostics: [{ code: 'mdx-syntax', line: expect.any(Number) }],
      });
    });
  });

  describe('one invalid piece of MDX costs only that piece', () => {
    const isComponent = (name: string): boolean => /^(Note|Card|Tabs?|Frame|Steps?|CodeGroup)$/.test(name);
    /** The tree in a short notation: `<Note>(p("text"))`. */
    const outline = (node: Nodes): string => {
      const named = node as { name?: string | null; attributes?: { name: string; value: unknown }[]; value?: string };
      const attributes = (named.attributes ?? []).map(
        ({ name, value }) => ` ${name}=${typeof value === 'string' ? value : '…'}`,
      );
      const name = 'name' in node ? `<${named.name ?? ''}${attributes.join('')}>` : (shorter[node.type] ?? node.type);
      const inside = 'children' in node ? node.children.map(outline).join(' ') : JSON.stringify(named.value ?? '');
      return node.type === 'text' ? inside : node.type === 'root' ? inside : `${name}(${inside})`;
    };
    const shorter: Record<string, string> = { paragraph: 'p', heading: 'h', listItem: 'li' };

    it.each([
      // Cases of braces.
      [
        '<Note>\nIs {"tags": ["a"], "n": {}} here.\n</Note>\n\nEnd',
        '<Note>(p("Is {\\"tags\\": [\\"a\\"], \\"n\\": {}} here.")) p("End")',
        ['2:4'],
      ],
      ['{\n\n- a\n- b {1}\n\n<Card />', 'p("{") list(li(p("a")) li(p("b " mdxTextExpression("1")))) <Card>()', ['1:1']],
      [
        'a } b\n\n> {\n> c\n\n- {d\n- e',
        'p("a } b") blockquote(p("{\\nc")) list(li(p("{d")) li(p("e")))',
        ['3:3', '6:3'],
      ],
      // Cases of `<` in text.
      [
        'If a < b, c <3, <5 and Map<String, List<Int>>',
        'p("If a < b, c <3, <5 and Map<String, List<Int>>")',
        ['1:13', '1:17', '1:27', '1:40'],
      ],
      ['Use <your-key> <data> or **<x>**', 'p("Use <your-key> <data> or " strong("<x>"))', ['1:5', '1:16', '1:28']],
      ['<script src="a">\n\nb', 'p("<script src=\\"a\\">") p("b")', ['1:1']],
      ['<Unknown>\n\na\n\n</unknown>', 'p("<Unknown>") p("a") p("</unknown>")', ['1:1', '5:1']],
      [
        'See <https://a.example/x>, <me@a.example>',
        'p("See " link("https://a.example/x") ", " link("me@a.example"))',
        ['1:5', '1:28'],
      ],
      ['<!-- open\n\n<Note>a</Note>', 'p("<!-- open") p(<Note>("a"))', ['1:1']],
      ['[a <b> c](/d) ![<i>](/e)', 'p(link("a <b> c") " " image(""))', ['1:4', '1:17']],
      // Cases of tags without their partner.
      [
        'a<br>b<hr>\n\n<img src="/a.png">\n\n| a |\n| - |\n| b<br>c |',
        'p("a" <br>() "b" <hr>()) <img src=/a.png>() table(tableRow(tableCell("a")) tableRow(tableCell("b" <br>() "c")))',
        ['1:2', '1:7', '3:1', '7:4'],
      ],
      ['a\n\n<Note>\nb\n\nc', 'p("a") <Note>(p("b") p("c"))', ['3:1']],
      [
        '<Steps>\n<Step title="a">\n\n<Note>\n\nb\n\n</Step>\n</Steps>\n\nc',
        '<Steps>(<Step title=a>(<Note>(p("b")))) p("c")',
        ['4:1'],
      ],
      [
        '<Tabs>\n<Tab title="a">\n\nb\n\n<Tab title="c">\n\nd\n\n</Tab>\n</Tabs>',
        '<Tabs>(<Tab title=a>(p("b")) <Tab title=c>(p("d")))',
        ['2:1'],
      ],
      ['- a\n  <Note>\n\n  b\n</Note>\n\nc', 'list(li(p("a") <Note>(p("b")))) p("c")', ['2:3', '5:1']],
      ['<Note>\na</Note>\n\nb', '<Note>(p("a")) p("b")', ['2:2']],
      ['<Note>a *b*\n\n- c\n\n</Note>\n\nd', '<Note>(p("a " emphasis("b")) list(li(p("c")))) p("d")', ['1:1']],
      ['<Frame>\n\na\n\n</Card>\n</Frame>\n\nb</div> c', '<Frame>(p("a")) p("b c")', ['5:1', '8:2']],
      // Cases of attributes.
      [
        '<Card title="a" href=/x w=1 @on="b" style={{c: }} d={1}>\n  e\n</Card>',
        '<Card title=a href=/x w=1 d=…>(p("e"))',
        ['1:1'],
      ],
      ['<Note title="a>\nb\n</Note>\n\n<Card title="c" />', '<Note title=a>(p("b")) <Card title=c>()', ['1:1']],
      ['<Note>\n\na\n\n</Note class="b">\n\nc', '<Note>(p("a")) p("c")', ['5:1']],
      ['a <img src=/b.png alt=c/> d', 'p("a " <img src=/b.png alt=c>() " d")', ['1:3']],
      // Cases of imports and exports.
      [
        'import A from "/a.mdx"\nimport B from "/b.mdx"\n# C',
        'mdxjsEsm("import A from \\"/a.mdx\\"\\nimport B from \\"/b.mdx\\"") h("C")',
        [],
      ],
      [
        'import the package\n\nexport your data\n\n<3',
        'p("import the package") p("export your data") p("<3")',
        ['1:1', '3:1', '5:1'],
      ],
      ['export const A = () => {\n  return <b>;\n\n  c(1;)\n}\n\n# D', 'h("D")', ['1:1']],
      [
        'export const a = {\n  b: 1,\n\n  c: 2,\n}\n\n{d e}',
        'mdxjsEsm("export const a = {\\n  b: 1,\\n\\n  c: 2,\\n}") p("{d e}")',
        ['7:1'],
      ],
    ])('%j', (source, expected, places) => {
      const page = parse(`${source}\n`, 'a.mdx', { isComponent });
      expect(page.format).toBe('mdx');
      expect(outline(page.tree)).toBe(expected);
      expect(page.diagnostics.map(({ line, column }) => `${line}:${column}`)).toEqual(places);
      expect(page.diagnostics.every(({ code, severity }) => code === 'mdx-repaired' && severity === 'warning')).toBe(
        true,
      );
    });

    it('leaves valid pieces unchanged', () => {
      const right =
        '# A\n\n<Card title="b" c={1}>\n  **d** `<e>` {1 + 1}\n\n  <img src="/f" />\n</Card>\n\n{/* g */}\n\n```\n{ <\n```\n\n';
      const page = parse(`${right}<3\n`);
      const tree = parse(`${right}&lt;3\n`).tree;
      expect(page.diagnostics).toHaveLength(1);
      expect(outline(page.tree)).toBe(outline(tree));
    });

    it('does not count void elements among the 100 repairs', () => {
      const page = parse('a<br>\n\n'.repeat(300));
      expect(page.format).toBe('mdx');
      expect(page.diagnostics).toHaveLength(50);
    });

    it.each([
      ['braces that nothing closes', '{a\n\n'.repeat(150), 'mdx-syntax'],
      ['tags that nothing closes', '<a b="\n\n'.repeat(5_000), 'mdx-syntax'],
      ['closing tags', '</div>\n\n'.repeat(1_000), 'mdx-syntax'],
      ['an attribute with many braces', `<Card a={\`${'}'.repeat(3_000)}`, 'mdx-repaired'],
      ['a template with many braces', `{\`${'}'.repeat(3_000)}\n\n# b`, 'mdx-repaired'],
      ['text before many imports', 'import a from b\n'.repeat(3_000), 'mdx-repaired'],
      ['words after a bracket that is never closed', `{[${'a '.repeat(38_000)}`, 'mdx-repaired'],
    ])('bounds the work on %s', (_name, source, code) => {
      const page = parse(`${source}\n`);
      expect(page.failure).toBeUndefined();
      expect(codes(page)).toContain(code);
    });

    it('refuses text of very many parts without parsing it', () => {
      const page = parse('<li>a\n'.repeat(33_000));
      expect(page).toMatchObject({ format: 'none', failure: { code: 'page-too-large' } });
      expect(page.diagnostics.at(-1)?.message).toContain('Divide it by empty lines');
    });
  });

  describe('plain Markdown', () => {
    it('in .md files is parsed as MDX first, because real projects write MDX there', () => {
      expect(parse('<Note>x</Note>\n', 'a.md').format).toBe('mdx');
    });

    it('with HTML that is not MDX keeps html nodes, without a diagnostic', () => {
      const page = parse('A <br> b\n\n<p>open\n', 'a.md');
      expect(page).toMatchObject({ format: 'markdown', diagnostics: [] });
      expect(nodes(page, 'html').length).toBeGreaterThan(0);
    });
  });

  describe('syntax of real projects that MDX refuses', () => {
    it('heading ids are removed from the text and kept', () => {
      const page = parse('## Set up {#setup}\n\n<Tab>\n  ### Deep {#deep-one}\n</Tab>\n\n```md\n## Not {#this}\n```\n');
      const headings = nodes(page, 'heading') as Heading[];
      expect(headings.map(({ data }) => data)).toMatchObject([{ id: 'setup' }, { id: 'deep-one' }]);
      expect(textOf(page)).toBe('Set up|Deep');
      expect((nodes(page, 'code')[0] as { value: string }).value).toBe('## Not {#this}');
    });

    it('HTML comments are left out, but not in code', () => {
      const page = parse('a <!-- <b --> c\n\n<!--\n{x y}\n-->\n\n`<!-- kept -->`\n\n```html\n<!-- kept -->\n```\n');
      expect(page).toMatchObject({ format: 'mdx' });
      expect((nodes(page, 'inlineCode')[0] as { value: string }).value).toBe('<!-- kept -->');
      expect((nodes(page, 'code')[0] as { value: string }).value).toBe('<!-- kept -->');
      expect(textOf(page)).not.toContain('x y');
    });

    it('variables are replaced in text, attributes and code', () => {
      const page = parse(
        'See {{api-url}} and `{{api-url}}`.\n\n<Card href="{{api-url}}/x" />\n\n```sh\ncurl {{api-url}}\n```\n',
        'a.mdx',
        {
          variables: { 'api-url': 'https://a.example' },
        },
      );
      expect(page).toMatchObject({ format: 'mdx', diagnostics: [] });
      expect(JSON.stringify(page.tree).match(/https:\/\/a\.example/g)?.length).toBeGreaterThanOrEqual(4);
      expect(JSON.stringify(page.tree)).not.toContain('{{');
    });

    it('variables without a value read as written and are reported; code and objects are left alone', () => {
      const page = parse('Hi {{first-name}}!\n\n`{{x-y}}`\n\n<div style={{color}} />\n');
      expect(page.format).toBe('mdx');
      expect(page.diagnostics).toMatchObject([{ code: 'undefined-variable', line: 1 }]);
      expect(textOf(page)).toBe('Hi {{first-name}}!');
    });
  });

  it('cells beyond the head of a table are reported with their row', () => {
    const page = parse('| a | b |\n| - | - |\n| `c || d` | e |\n| `f \\| g` | h |\n| i |\n');
    expect(page.diagnostics).toMatchObject([
      {
        code: 'table-cells-dropped',
        severity: 'warning',
        line: 3,
        message: expect.stringMatching(/^Row 1 .* 4 cells/),
      },
    ]);
    expect(page.diagnostics[0]?.message).toContain('Write \\| ');
  });

  describe('emphasis in Chinese, Japanese and Korean', () => {
    it.each([
      ['**強調**です。これは**「重要」**です。**注意：**次へ。', ['強調', '「重要」', '注意：']],
      ['- 列表**（重要）**的\n- *a*', ['（重要）']],
      ['# 標題**「一」**的\n\n| 表**「二」**的 |\n| - |\n| <b>三</b>**「四」**的 |', ['「一」', '「二」', '「四」']],
      ['한국어**(굵게)**는', ['(굵게)']],
      ['Text**(x)**y and a ** b', []],
    ])('%s', (source, expected) => {
      const page = parse(`${source}\n`);
      expect(page.diagnostics).toEqual([]);
      const strong = nodes(page, 'strong') as { children: { value: string }[] }[];
      expect(strong.map(({ children }) => children.map(({ value }) => value).join(''))).toEqual(expected);
    });
  });

  describe('math', () => {
    it('is between dollars, and braces in it are not expressions', () => {
      const page = parse('Let $\\frac{a}{b}$ be.\n\n$$\n\\sum_{i}\nx\n$$\n\nAnd $$y$$ here.\n');
      expect(nodes(page, 'inlineMath')).toMatchObject([
        { value: '\\frac{a}{b}', display: false },
        { value: 'y', display: true },
      ]);
      expect(nodes(page, 'math')).toMatchObject([{ value: '\\sum_{i}\nx' }]);
      expect(nodes(page, 'mdxTextExpression')).toHaveLength(0);
    });

    it('of several lines is between two lines with two dollars, whatever its content', () => {
      const math = (source: string) => nodes(parse(source), 'math').map((node) => (node as { value: string }).value);
      expect(math('Text\n$$\na\n+ b\n- c\n> d\n# e\n\n1. {f}\n---\n$$\nText\n')).toEqual([
        'a\n+ b\n- c\n> d\n# e\n\n1. {f}\n---',
      ]);
      expect(math('$$ a\n+ b $$\n\n$$c$$\n')).toEqual(['a\n+ b', 'c']);
      expect(math('> $$\n> a\n> + b\n> $$\n\n- x\n\n  $$\n  c\n  - d\n  $$\n\n1. $$\n   e\n   + f\n   $$\n')).toEqual([
        'a\n+ b',
        'c\n- d',
        'e\n+ f',
      ]);
      expect(math('<Tab title="x">\n  $$\n  a\n  + b\n  $$\n</Tab>\n')).toEqual(['a\n  + b']);
    });

    it('of several lines ends before content that it cannot contain', () => {
      for (const source of [
        '$$\na\n\n+ b\n',
        '<Tab>\n$$\na\n</Tab>\n\n<Tab>\n$$\n</Tab>\n',
        '> $$\n> a\n\n$$\n',
        '$$ 5\n\n+ $$\n',
        '$$\na\n\n```\n$$\n```\n',
        '```\n$$\n```\n\n$$\n',
      ]) {
        expect([source, nodes(parse(source), 'math')]).toEqual([source, []]);
      }
      expect(nodes(parse('$$\na\n\n+ b\n- c\n'), 'listItem')).toHaveLength(2);
    });

    it.each([
      'It is $5 or $10.',
      'Use $ref and $id.',
      'A $ref with `a` and `$x`.',
      '$ref: `a` $',
      'From $5 (`basic`) up to $x.',
      'a $ b $ c',
      'from \\$1 to \\$2',
      'US$5, CA$6 and $',
      '$$$ deals $$$',
    ])('is not in %s', (text) => {
      expect(nodes(parse(`${text}\n`), 'inlineMath')).toHaveLength(0);
    });

    it('can be switched off', () => {
      expect(nodes(parse('Let $x$ be.\n', 'a.mdx', { latex: false }), 'inlineMath')).toHaveLength(0);
    });
  });

  describe('limits', () => {
    it.each([
      ['page-too-large', 'x '.repeat(4_400_000)],
      ['page-too-large', 'some words `of\n'.repeat(20_000)],
      ['page-too-large', `|${'a|'.repeat(2000)}\n|${'-|'.repeat(2000)}\n${'|b|\n'.repeat(200)}`],
      ['page-too-large', '> a\nb\n'.repeat(6000)],
      ['nesting-too-deep', `${'>'.repeat(20_000)} x\n`],
      ['nesting-too-deep', Array.from({ length: 150 }, (_item, depth) => `${'  '.repeat(depth)}- x`).join('\n')],
      ['nesting-too-deep', `${'<div>'.repeat(3000)}x${'</div>'.repeat(3000)}\n`],
      ['expression-too-deep', `<Card data={${'['.repeat(20_000)}${']'.repeat(20_000)}} />\n`],
    ])('%s, before anything is parsed', (code, source) => {
      const page = parse(source);
      expect(page).toMatchObject({ format: 'none', failure: { code }, tree: { children: [] } });
      expect(codes(page)).toContain(code);
    });

    it('do not let a variable multiply the size of a page', () => {
      const page = parse('{{v}} '.repeat(1000), 'a.mdx', { variables: { v: 'x'.repeat(10_000) } });
      expect(page.failure).toMatchObject({ code: 'page-too-large' });
    });

    it('allow pages as long as real ones', () => {
      const page = parse(
        `${'<Icon icon="x" /> and `<name>` and\n\n'.repeat(2000)}${'<Card\n  a="b"\n/>\n\n'.repeat(500)}`,
      );
      expect(page).toMatchObject({ format: 'mdx', diagnostics: [] });
    });

    it('turn a line of 100,000 characters into plain text', () => {
      const line = '[a]('.repeat(30_000);
      expect(textOf(parse(`# Hi\n\n${line}\n\n*b*\n`, 'a.md'))).toBe(`Hi|${line}|b`);
    });
  });

  /** Several times the processor time of the slowest of these pages. If the time grew with the square of the length, each would take more. */
  const mostProcessorSeconds = 10;

  it.each([
    ['comments that never end', '{/*}\n\n'.repeat(6_000)],
    ['line breaks without a slash', '<br>\n\n'.repeat(20_000)],
    ['expressions of comments', `<Made a=b/>\n\n${`{${'/**/\n'.repeat(15_000)}}\n\n`.repeat(3)}`],
    ['expressions after an invalid one', `{x y}\n\n${'a {1} b\n\n'.repeat(4_000)}`],
    [
      'tags of a name that is made at the end',
      `{x y}\n\n${'<Made a=b/>\n\n'.repeat(2_000)}${'words '.repeat(30_000)}\n\nexport const Made = () => 1;\n`,
    ],
  ])('reads a page of %s without noticeable delay', (_name, source) => {
    const before = process.cpuUsage();
    const page = parse(source, 'a.mdx', { isComponent: () => false });
    const { user } = process.cpuUsage(before);
    expect(user / 1e6).toBeLessThan(mostProcessorSeconds);
    expect(page.format).not.toBe('none');
    expect(page.diagnostics.map(({ code }) => code)).toContainEqual(expect.stringMatching(/^mdx-(?:repaired|syntax)$/));
  });

  it('gives the same tree for bytes and text, CRLF and LF', () => {
    const source = '---\ntitle: T\n---\n\n# Hi {#a}\n\n<Note>x</Note>\n';
    const page = parse(source);
    expect(parser.parse(Buffer.from(`\ufeff${source.replaceAll('\n', '\r\n')}`), 'a.mdx')).toEqual(page);
  });
}

/** A page in which nodes have only their lines as positions, because parsers may differ in the end of a node, and attributes have no position. */
export function comparable({ tree, text: _, ...page }: ParsedPage): object {
  return { ...page, tree: plain(tree) };
}

function plain(value: unknown): unknown {
  if (value instanceof RegExp || typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const { type = '', position } = value as Partial<Nodes>;
  const kept = Object.entries(value).filter(
    ([key, part]) => part !== undefined && part !== null && !unlike.has(key) && (type === 'list' || key !== 'start'),
  );
  const hasLine = position !== undefined && !type.endsWith('Attribute') && !splitByLinks.has(type);
  return {
    ...Object.fromEntries(kept.map(([key, part]) => [key, plain(part)])),
    ...(hasLine && { line: position.start.line }),
  };
}

const unlike = new Set(['position', 'end', 'loc', 'range', 'comments']);
/** micromark finds addresses in text after parsing, and the resulting nodes have no position. */
const splitByLinks = new Set(['text', 'link']);
