import { expect, test } from 'vitest';
import { codeHtml, fenceMeta } from './code-block.ts';
import { highlight, knownLanguage } from './highlighter.ts';
import { prismLanguages } from './prism.ts';

const plain = fenceMeta('', 3);

test('options after the language of a fence', () => {
  const meta = fenceMeta('src/my file.ts lines {1,3-5} focus={2} expandable icon="js" wrap', 4);
  expect(meta).toMatchObject({
    title: 'src/my file.ts',
    icon: 'js',
    lines: true,
    expandable: true,
    wrap: true,
    copy: true,
  });
  expect([...meta.highlighted]).toEqual([1, 3, 4]);
  expect([...meta.focused]).toEqual([2]);
});

test('a quoted title, and ranges larger than the code', () => {
  const meta = fenceMeta('title="</div><script>" {1-999999999} nocopy', 2);
  expect(meta.title).toBe('</div><script>');
  expect([...meta.highlighted]).toEqual([1, 2]);
  expect(meta.copy).toBe(false);
});

test('code is coloured by classes and escaped', () => {
  const html = codeHtml('const a = "<b>&";', 'ts', plain).html().text;
  expect(html).toContain('<span class="tk">const</span>');
  expect(html).toContain('&lt;b&gt;&amp;');
  expect(html).not.toContain('<b>');
});

test('property names of JavaScript objects are not languages', () => {
  for (const name of ['constructor', '__proto__', '../../../../etc/passwd', 'nope'])
    expect(knownLanguage(name)).toBeUndefined();
  expect(knownLanguage('TypeScript')).toBe('typescript');
});

test('marks take effect with any blanks around them, and long blanks are fast', () => {
  expect(codeHtml('a \t // [!code ++]  */}  \nb <!-- [!code hl] --> ', 'js', plain).text).toBe('a\nb');
  const blanks = `${' '.repeat(1990)}x\n`.repeat(900);
  const ofEach = `x // [!code ++]\n${`// [!code ++]${' '.repeat(1900)}x\n`.repeat(900)}`;
  for (const code of [`// [!code ++]\n${blanks}`, ofEach]) {
    expect(codeHtml(code, '', plain).text.length).toBeGreaterThan(1_600_000);
  }
});

test('marks in comments', () => {
  const { html, text } = codeHtml('a // [!code ++]\nb // [!code --:2]\nc', 'js', plain);
  expect(text).toBe('a\nb\nc');
  expect(html().text.match(/class="line[^"]*"/g)).toEqual([
    'class="line diff add"',
    'class="line diff remove"',
    'class="line diff remove"',
  ]);
});

test('characters that reorder text are shown as code points, terminal codes are removed', () => {
  const { html, hasBidi } = codeHtml('a\u202eb\u001b[31mc', 'text', plain);
  expect(hasBidi).toBe(true);
  expect(html().text).toContain('a⟨U+202E⟩bc');
});

test('long lines and unknown languages stay plain', () => {
  const long = `const a = "${'x'.repeat(1000)}";`;
  const lines = highlight(`const a = 1;\n${long}\nconst b = 2;`, 'js').lines();
  expect(lines[1]).toEqual([{ text: long }]);
  expect([lines[0]?.[0], lines[2]?.[0]]).toEqual([
    { text: 'const', className: 'tk' },
    { text: 'const', className: 'tk' },
  ]);
  expect(codeHtml('const a', 'unknown', plain).html().text).toBe('const a');
});

const languages: [language: string, code: string, classes: Record<string, string>][] = [
  [
    'bash',
    'export A=1 # note\ncurl -s "https://a.example" | grep -v file > out.txt',
    { export: 'tk', '# note': 'tm', curl: 'tf', '"https://a.example"': 'te', grep: 'tf', '|': 'tk', file: 'ts' },
  ],
  [
    'css',
    '/* note */\n.card > a:hover {\n  color: #0f2fe0;\n  margin: 2rem;\n}',
    { '/* note */': 'tm', '.card': 'tf', '>': 'tk', ':hover': 'tf', color: 'tc', '#0f2fe0': 'tc', rem: 'tk' },
  ],
  ['json', '{ "a": ["b", 1, true] }', { '"a"': 'tk', '"b"': 'te', 1: 'tc', true: 'tc' }],
  ['yaml', 'a: b\nc: "d"', { a: 'tk', d: 'te' }],
  ['tsx', 'const a = <B title="d">if</B>;', { const: 'tk', title: 'tf', '"d': 'te' }],
  ['mdx', '<Update tags={["a", "b"]}>', { Update: 'tf', tags: 'tf', '"b"': 'te' }],
  ['diff', '-a\n+b', { '-a': 'td', '+b': 'ti' }],
];

test.each(languages)('the colours of %s', (language, code, classes) => {
  const pieces = highlight(code, language).lines().flat();
  const found = Object.keys(classes).map((text) => [
    text,
    pieces.find((piece) => piece.text.includes(text))?.className,
  ]);
  expect(Object.fromEntries(found)).toEqual(classes);
});

test('prose between tags of JSX has no colours', () => {
  expect(highlight('<B>if for return</B>', 'jsx').lines().flat()).toContainEqual({ text: '>if for return</' });
});

test('no character of the code is lost', () => {
  const code = `<!-- x -->\n\n  <a b="${'c\n'.repeat(3000)}">\n\t{\n`;
  for (const language of new Set(prismLanguages.values())) {
    const lines = highlight(code, language)
      .lines()
      .map((line) => line.map(({ text }) => text).join(''));
    expect(lines.join('\n')).toBe(code);
  }
});

test('code looks the same whatever was highlighted before', () => {
  const code = '---\nname: "x"\n---\n\ntext <b>c</b>';
  const before = highlight(code, 'md');
  for (const language of prismLanguages.keys()) highlight('a { b: "c" } <d>', language);
  expect(highlight(code, 'md')).toEqual(before);
});
