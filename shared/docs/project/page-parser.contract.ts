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

/** What every `PageParser` does. */
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

    it('gives positions of the file, with frontmatter', () => {
      const page = parse('---\ntitle: T\n---\n\n# Hi\n');
      expect(page.frontmatter).toEqual({ title: 'T' });
      expect(nodes(page, 'heading')[0]?.position?.start).toMatchObject({ line: 5, column: 1 });
    });

    it('that is broken is reported with line and column, and its tags are text', () => {
      const page = parse('# Hi\n\nA <b and {x\n\n<Card>\n', 'a.mdx');
      expect(page).toMatchObject({ format: 'markdown', diagnostics: [{ code: 'mdx-syntax', severity: 'error' }] });
      expect(page.diagnostics[0]?.line).toBeGreaterThan(1);
      expect(page.failure).toBeUndefined();
      expect(nodes(page, 'html')).toHaveLength(0);
      expect(textOf(page)).toContain('<Card>');
    });

    it('of nobody closed tags is named without parsing', () => {
      const page = parse('<Card title="x">\n\ntext\n\n'.repeat(2000));
      expect(page).toMatchObject({
        format: 'markdown',
        diagnostics: [{ code: 'mdx-syntax', line: expect.any(Number) }],
      });
    });
  });

  describe('plain Markdown', () => {
    it('in .md files is parsed as MDX first, as real projects write it', () => {
      expect(parse('<Note>x</Note>\n', 'a.md').format).toBe('mdx');
    });

    it('with HTML that is no MDX keeps html nodes, without a complaint', () => {
      const page = parse('A <br> b\n\n<p>open\n', 'a.md');
      expect(page).toMatchObject({ format: 'markdown', diagnostics: [] });
      expect(nodes(page, 'html').length).toBeGreaterThan(0);
    });
  });

  describe('what real projects write and MDX refuses', () => {
    it('heading ids are taken off and kept', () => {
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

  describe('math', () => {
    it('is between dollars, and braces in it are no expressions', () => {
      const page = parse('Let $\\frac{a}{b}$ be.\n\n$$\n\\sum_{i}\nx\n$$\n\nAnd $$y$$ here.\n');
      expect(nodes(page, 'inlineMath')).toMatchObject([
        { value: '\\frac{a}{b}', display: false },
        { value: 'y', display: true },
      ]);
      expect(nodes(page, 'math')).toMatchObject([{ value: '\\sum_{i}\nx' }]);
      expect(nodes(page, 'mdxTextExpression')).toHaveLength(0);
    });

    it('of several lines is between two of dollars, whatever stands in them', () => {
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

    it('of several lines ends before what it cannot hold', () => {
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
      ['page-too-large', 'x '.repeat(1_100_000)],
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

    it('let a variable not blow a page up', () => {
      const page = parse('{{v}} '.repeat(1000), 'a.mdx', { variables: { v: 'x'.repeat(10_000) } });
      expect(page.failure).toMatchObject({ code: 'page-too-large' });
    });

    it('let pages be as long as real ones are', () => {
      const page = parse(
        `${'<Icon icon="x" /> and `<name>` and\n\n'.repeat(2000)}${'<Card\n  a="b"\n/>\n\n'.repeat(500)}`,
      );
      expect(page).toMatchObject({ format: 'mdx', diagnostics: [] });
    });

    it('make a line of 100,000 characters plain text', () => {
      const line = '[a]('.repeat(30_000);
      expect(textOf(parse(`# Hi\n\n${line}\n\n*b*\n`, 'a.md'))).toBe(`Hi|${line}|b`);
    });
  });

  it('gives the same tree for bytes and text, CRLF and LF', () => {
    const source = '---\ntitle: T\n---\n\n# Hi {#a}\n\n<Note>x</Note>\n';
    const page = parse(source);
    expect(parser.parse(Buffer.from(`\ufeff${source.replaceAll('\n', '\r\n')}`), 'a.mdx')).toEqual(page);
  });
}

/** A page with the lines of its nodes, without other positions: parsers may differ in where a node ends, and attributes have none. */
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
/** micromark finds addresses in text at the end, and the pieces have no place. */
const splitByLinks = new Set(['text', 'link']);
