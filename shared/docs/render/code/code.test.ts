import { expect, test } from 'vitest';
import { codeHtml, fenceMeta } from './code-block.ts';
import { highlight, knownLanguage } from './highlighter.ts';

const plain = fenceMeta('', 3);

test('what stands after the language of a fence', () => {
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
  const { html } = codeHtml('const a = "<b>&";', 'ts', plain);
  expect(html).toContain('<span class="tk">const</span>');
  expect(html).toContain('&lt;b&gt;&amp;');
  expect(html).not.toContain('<b>');
});

test('names that JavaScript objects have are no languages', () => {
  for (const name of ['constructor', '__proto__', '../../../../etc/passwd', 'nope'])
    expect(knownLanguage(name)).toBeUndefined();
  expect(knownLanguage('TypeScript')).toBe('typescript');
});

test('marks in comments', () => {
  const { html, text } = codeHtml('a // [!code ++]\nb // [!code --:2]\nc', 'js', plain);
  expect(text).toBe('a\nb\nc');
  expect(html.match(/class="line[^"]*"/g)).toEqual([
    'class="line diff add"',
    'class="line diff remove"',
    'class="line diff remove"',
  ]);
});

test('characters that reorder text are shown by their numbers, terminal codes are not shown', () => {
  const { html, hasBidi } = codeHtml('a\u202eb\u001b[31mc', 'text', plain);
  expect(hasBidi).toBe(true);
  expect(html).toContain('a⟨U+202E⟩bc');
});

test('long lines and unknown languages stay plain', () => {
  expect(codeHtml(`const a = "${'x'.repeat(3000)}";`, 'js', plain).html).not.toContain('class="tk"');
  expect(codeHtml('const a', 'unknown', plain).html).toBe('<span class="line">const a</span>');
});

test('code looks the same whatever was highlighted before', () => {
  const code = '---\nname: "x"\n---\n\ntext';
  const before = highlight(code, 'md');
  highlight('name: "y"', 'yaml');
  // Another text, so that it is not remembered.
  const after = highlight(`${code} `, 'md');
  expect(after.slice(0, 3)).toEqual(before.slice(0, 3));
});
