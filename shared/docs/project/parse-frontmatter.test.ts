import { describe, expect, it } from 'vitest';
import { parseFrontmatter } from './parse-frontmatter.ts';

const read = (text: string) => parseFrontmatter(text, 'a.mdx');
const block = (yaml: string) => read(`---\n${yaml}\n---\n\nBody\n`);
const codes = (text: ReturnType<typeof read>) => text.diagnostics.map(({ code }) => code);

describe('frontmatter', () => {
  it('is removed, and the lines of the body keep their numbers', () => {
    const { data, body, diagnostics } = read('---\ntitle: A\ntags: [x, 1, true]\n---\n\n# Hi\n');
    expect(data).toEqual({ title: 'A', tags: ['x', 1, true] });
    expect(body.split('\n').indexOf('# Hi')).toBe(5);
    expect(diagnostics).toEqual([]);
  });

  it('may be missing, empty, or end without a line end', () => {
    expect(read('# Hi\n')).toMatchObject({ data: {}, body: '# Hi\n', broken: false });
    expect(block('# only a comment')).toMatchObject({ data: {}, broken: false, diagnostics: [] });
    expect(read('---\ntitle: only\n---')).toMatchObject({ data: { title: 'only' }, diagnostics: [] });
    expect(read('---\n---\nText')).toMatchObject({ data: {}, broken: false, diagnostics: [] });
  });

  it('with a colon in a value is refused with the advice to quote it', () => {
    const [found] = block('title: Broken: a page\nicon: x').diagnostics;
    expect(found).toMatchObject({
      line: 2,
      message:
        'The frontmatter is not valid YAML: bad indentation of a mapping entry. Put a value with a colon into quotes.',
    });
  });

  it('keeps dates as text, and reads quoted text over several lines', () => {
    expect(block('date: 2024-01-02\ndescription: "one\ntwo"\nb: c').data).toEqual({
      date: '2024-01-02',
      description: 'one two',
      b: 'c',
    });
  });

  it('has the same meaning whether or not it is simple enough to be read without a parser', () => {
    for (const yaml of [
      'title: "It\'s: a # text, [x] {y} & *z ü – 日"\ndescription: ""\n\ntitle: "again"',
      'constructor: "x"\nprototype: "y"\ntrue: "z"\nnull: "n"',
      'a: "\u00a0 \ue000 b "',
    ]) {
      const { data, diagnostics } = block(yaml);
      expect(diagnostics).toEqual([]);
      expect(data).toEqual(block(`${yaml}\n# read as YAML`).data);
    }
    expect(block('a: "\\u0041"\nb: "c" ').data).toEqual({ a: 'A', b: 'c' });
  });

  it('is not opened by a thematic break', () => {
    expect(read('--- x y\ntext\n---\n')).toMatchObject({ data: {}, raw: '', broken: false });
  });

  it.each([
    ['aliases', 'a: &a [x]\nb: *a'],
    ['merge keys', 'a: &a {x: 1}\nb: {<<: *a}'],
    ['deep nesting', `a: ${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['no mapping', '- a\n- b'],
    ['64 KB and more', `a: "${'x'.repeat(70_000)}"`],
  ])('refuses %s', (_what, yaml) => {
    expect(block(yaml)).toMatchObject({ broken: true, data: {} });
    expect(codes(block(yaml))).toEqual(['bad-frontmatter']);
  });

  it('is YAML only', () => {
    const found = read('---js\n{ title: process.exit(3) }\n---\n\nText\n');
    expect(found).toMatchObject({ data: {}, broken: true });
    expect(found.body.trim()).toBe('Text');
    expect(codes(found)).toEqual(['bad-frontmatter']);
  });

  it('drops values with a tag of a programming language', () => {
    const found = block('title: T\nx: !!js/function "function () { return 1 }"\ny: !ruby/object {a: 1}\nz: !thing [1]');
    expect(found.data).toEqual({ title: 'T', x: null, y: null, z: null });
    expect(codes(found)).toEqual(['bad-frontmatter', 'bad-frontmatter', 'bad-frontmatter']);
  });

  it('drops keys that reach prototypes', () => {
    const { data } = block(
      '__proto__: {polluted: 1}\nconstructor: {prototype: {polluted: 1}}\nnested: {__proto__: 1, a: 1}',
    );
    expect(JSON.stringify(data)).toBe('{"nested":{"a":1}}');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('keeps the title of a broken block', () => {
    const found = block('title: Errors: a list\ndescription: "All"\nbad: [');
    expect(found).toMatchObject({ broken: true, data: { title: 'Errors: a list', description: 'All' } });
    expect(found.diagnostics[0]).toMatchObject({ code: 'bad-frontmatter', line: 2 });
  });

  it('that is never closed stays in the body and is reported', () => {
    const found = read('---\ntitle: never\n\n# Hi\n');
    expect(found.body).toContain('# Hi');
    expect(codes(found)).toEqual(['bad-frontmatter']);
  });

  it.each([
    ['a flow mapping that is broken', '---\n{title: T, groups: [admins], x: "}\n---\n'],
    ['TOML', '---toml\ntitle = "T"\ngroups = ["admins"]\n---\n'],
    ['JSON', '---json\n{"title":"T","groups":["admins"]}\n---\n'],
    ['a value with an unknown tag', '---\ngroups: !secret [admins]\n---\n'],
    ['a key with an unknown tag', '---\n!!x groups: [admins]\n---\n'],
    ['an explicit key', '---\n? groups\n: [admins]\nbad: : :\n---\n'],
    ['another case', '---\nGroups: [admins]\n---\n'],
    ['a block under an empty line', '\n---\ntitle: T\ngroups: [admins]\n---\n'],
    ['an indented block', ' ---\ntitle: T\ngroups: [admins]\n---\n'],
    ['a block of four dashes', '----\ntitle: T\ngroups: [admins]\n----\n'],
    ['a long block without end', `---\ntitle: T\n${'k: aaaaaaaaaaaaaaaaaaaaa\n'.repeat(300)}groups: [admins]\n`],
  ])('closes a page whose groups are in %s', (_what, source) => {
    const found = read(`${source}\nText\n`);
    expect(found.groupsUnreadable).toBe(true);
  });

  it.each([
    '---\ntitle: Managing groups: a guide\n---\n',
    '---\ntitle: T\nx: !thing 1\n---\n\ngroups: [a]\n',
    '---\ntitle: T\nuser-groups: !thing 1\n---\n',
    '---\ngroups: []\n---\n',
    '----\nSome groups: more\n----\n',
  ])('leaves a page open that names none: %j', (source) => {
    expect(read(source).groupsUnreadable).toBe(false);
  });

  it('that does not begin in the first line is text, and reported with its line', () => {
    const found = read('\n\n---\ntitle: T\n---\n\nText\n');
    expect(found).toMatchObject({ data: {}, body: '\n\n---\ntitle: T\n---\n\nText\n' });
    expect(found.diagnostics).toMatchObject([{ code: 'bad-frontmatter', line: 3 }]);
  });

  // One that took quadratic time would exceed the limit of a test.
  it.each([
    ['a line of dashes', '-'.repeat(600_000)],
    ['empty lines', '\n'.repeat(600_000)],
    ['commas and spaces', `---\na: [\n${', '.repeat(300_000)}\n---\n`],
    ['indented lines', `----\n${' \t'.repeat(300_000)}\n`],
  ])('is looked for in linear time in %s', (_what, source) => {
    expect(read(source).groupsUnreadable).toBe(false);
  });

  it.each(['\n<Card title="A">text</Card>\n', 'Some words: more of them\n', '# Title\n\n<Card />\n', ''])(
    'is none where a rule above the text is all there is: %j',
    (rest) => {
      const found = read(`---\n${rest}`);
      expect(found).toMatchObject({ data: {}, broken: false, raw: '', body: `---\n${rest}`, diagnostics: [] });
    },
  );
});
