import { describe, expect, test } from 'vitest';
import { renderedContent, testProject } from '../test-project.ts';

const sheetOf = async (source: string, others: Record<string, string> = {}) => {
  const project = await testProject({ 'guides/page.mdx': source, ...others });
  const { files, page } = project.render('guides/page');
  const sheet = files.find(({ path }) => path.startsWith('_bindery/styles/'));
  return { project, html: files[0]?.body ?? '', markdown: files[1]?.body ?? '', sheet, page };
};

describe('a <style> in a page', () => {
  test.each([
    ['as CSS', '<style>\n.soft { color: rebeccapurple; }\n\n.b { margin: 0 }\n</style>'],
    ['as a template', '<style>{`\n.soft { color: rebeccapurple; }\n\n.b { margin: 0 }\n`}</style>'],
    ['in one line', '<style>.soft { color: rebeccapurple; } .b { margin: 0 }</style>'],
    [
      'as HTML of an attribute',
      '<style dangerouslySetInnerHTML={{ __html: ".soft { color: rebeccapurple; } .b { margin: 0 }" }} />',
    ],
    [
      'as an expression with parts',
      'export const color = "rebeccapurple";\n\n<style>{`.soft { color: ${color}; } .b { margin: 0 }`}</style>',
    ],
    [
      'in a component of the project',
      'export const S = () => <style>{`.soft { color: rebeccapurple; } .b { margin: 0 }`}</style>;\n\n<S />',
    ],
  ])('%s is a style sheet of the page, for its content', async (_name, style) => {
    const { html, markdown, sheet, page } = await sheetOf(
      `Before.\n\n${style}\n\n<span className="soft">soft</span> after.`,
    );
    expect(html).toContain(`<link rel="stylesheet" href="../${sheet?.path}">`);
    expect(sheet?.body).toMatch(
      /^@scope \(\.mdx-content, \.aside-content\) \{\s*\.soft \{ color: rebeccapurple; \}\s*\.b \{ margin: 0 \}/,
    );
    expect(html).toContain('<span class="soft">soft</span> after.');
    expect(html).not.toContain('<style');
    expect(markdown).not.toContain('rebeccapurple; }');
    expect(page.diagnostics).toEqual([]);
  });

  test('lines keep their numbers, and code with a <style> stays', async () => {
    const { html, page } = await sheetOf(
      '<style>\n.a { color: red }\n</style>\n\n`<style>` and `</style>`\n\n```html\n<style>\n.x {}\n</style>\n```\n\n[x](/none) {unknown}',
    );
    expect(html).toContain('<code>&lt;style&gt;</code>');
    expect(html).toContain('<span class="tf">.x</span> {}');
    expect(page.diagnostics.map(({ line }) => line)).toEqual([13]);
  });

  test('those of CSS, of templates and of snippets have the order of the source', async () => {
    const source = [
      'import S from "/snippets/s.mdx";\nexport const T = () => <style>{`.t6 {}`}</style>;',
      '<style>{`.t1 {}`}</style>',
      '<style>\n.t2 {}\n</style>',
      '# Page',
      '<div>\n<style>{`.t3 {}`}</style>\n<style>.t4 {}</style>\n</div>',
      '<S />',
      '<T />\n\n<style>.t7 {}</style><style>.t8 {}</style>',
      '<style>{`.t9 {}`}</style>',
    ];
    const { sheet, page } = await sheetOf(source.join('\n\n'), {
      'snippets/s.mdx': '<style>.t5 {}</style>\n\nText.',
    });
    expect(sheet?.body.match(/\.t\d/g)).toEqual(['.t1', '.t2', '.t3', '.t4', '.t5', '.t6', '.t7', '.t8', '.t9']);
    expect(page.diagnostics).toEqual([]);
  });

  test('the <style> of a snippet counts, too', async () => {
    const { sheet } = await sheetOf('import S from "/snippets/s.mdx";\n\n<S />', {
      'snippets/s.mdx': '<style>\n.s { color: red }\n</style>\n\nText.',
    });
    expect(sheet?.body).toContain('.s { color: red }');
  });

  test('files of the project are found from the page and from the top', async () => {
    const { sheet } = await sheetOf(
      '<style>\n.a { background: url(/images/a.png) } .b { background: url("b c.png") url(\'./d.png\') } .c { background: url(https://x.example/e.png) url(data:image/png;base64,AA==) url(../../f.png) }\n</style>',
    );
    expect(sheet?.body).toContain('url(../../images/a.png)');
    expect(sheet?.body).toContain('url("../../guides/b%20c.png") url(\'../../guides/d.png\')');
    expect(sheet?.body).toContain('url(https://x.example/e.png) url(data:image/png;base64,AA==) url(../../f.png)');
  });

  test.each([
    '} body { display: none } .x {',
    '.a { color: red',
    '.a { content: "</style><script>alert(1)</script>" }',
    '@import url("https://x.example/a.css"); .a { color: red }',
  ])('%s has no effect outside of the content', async (css) => {
    const { html, sheet, page } = await sheetOf(`<style>\n${css}\n</style>\n\nText.`);
    expect(html).not.toMatch(/<style|alert\(1\)<\/script>/);
    expect(sheet?.body ?? '').not.toMatch(/@import|^\}\s*body/m);
    if (sheet === undefined) expect(page.diagnostics.map(({ code }) => code)).toContain('style-left-out');
  });

  test.each([
    ['an escaped quotation mark', 'url("a\\")b") } body { color: red } .x { content: "'],
    ['the end of a comment', '( /* url(x*/../b) { } body { color: red }'],
    ['the mark of the dark mode', 'url(/.dark ) }'],
  ])('an address with %s stays unchanged', async (_name, css) => {
    const { sheet } = await sheetOf(`<style>\n.a { background: ${css} }\n</style>`);
    expect(sheet === undefined || sheet.body.includes(css)).toBe(true);
  });

  test.each([
    ['url("b c.png")', 'guides/b c.png', 'url("../../guides/b%20c.png")'],
    ["url( 'b (1).png' )", 'guides/b (1).png', "url('../../guides/b%20%281%29.png')"],
    ['url("/images/a\\22 b.png")', 'images/a"b.png', 'url("../../images/a%22b.png")'],
    ['url("b\\ c.png?x=\\"y")', 'guides/b c.png', 'url("../../guides/b%20c.png?x=%22y")'],
    ['URL(é.png)', 'guides/é.png', 'url(../../guides/%C3%A9.png)'],
  ])('%s is a file of the project', async (written, file, shown) => {
    const { sheet, project } = await sheetOf(`<style>\n.a { background: ${written} }\n</style>`, { [file]: 'x' });
    expect(sheet?.body).toContain(`.a { background: ${shown} }`);
    expect(project.model.pages.flatMap(({ linkTargets }) => linkTargets)).toContain(`/${file}`);
  });

  test('an address keeps what follows its path', async () => {
    const { sheet } = await sheetOf('<style>\n.a { fill: url(a.svg#b) } .c { background: url(/d.png?e=1) }\n</style>');
    expect(sheet?.body).toContain('url(../../guides/a.svg#b)');
    expect(sheet?.body).toContain('url(../../d.png?e=1)');
  });

  test('an address with escapes names the file, and does not end the rule', async () => {
    const css = [
      '.a { background: url(a%20b.png) }',
      ".b { background: url('c%27%29%7d.png') }",
      '/* url(%2a/d.png) } */ .c { background: url(%28e%29.png) }',
    ];
    const { sheet } = await sheetOf(`<style>\n${css.join('\n')}\n</style>`);
    expect(sheet?.body).toContain('url(../../guides/a%20b.png)');
    expect(sheet?.body).toContain("url('../../guides/c%27%29%7D.png')");
    expect(sheet?.body).toContain('/* url(%2a/d.png) } */ .c { background: url(../../guides/%28e%29.png) }');
  });

  test('rules for the dark mode, whose mark is outside of the content', async () => {
    const { sheet } = await sheetOf(
      '<style>\n.dark .a, html.dark .b { color: red }\n/* x */ :root.dark .c { color: red } .x .dark .d, .dark, .dark > .e, .darker .f { color: red }\n</style>',
    );
    expect(sheet?.body).toContain('.dark :where(:scope) .a, html.dark :where(:scope) .b {');
    expect(sheet?.body).toContain('/* x */ :root.dark :where(:scope) .c {');
    expect(sheet?.body).toContain('.x .dark .d, .dark, .dark > .e, .darker .f {');
  });

  test('the search index does not contain it', async () => {
    const { page } = await renderedContent('<style>\n.soft { color: red }\n</style>\n\nText.');
    expect(page.search).toBe('[["","","Text."]]');
  });
});
