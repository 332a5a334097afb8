import { describe, expect, test } from 'vitest';
import { renderedContent, testProject } from '../test-project.ts';

describe('undefined names', () => {
  test('are shown as written, with a warning each', async () => {
    const { content, markdown, page } = await renderedContent(
      'Write `K:V`, such as host:${hostInfo} or {userName}.\n\n<Note>Still a note.</Note>\n\n{a.b}\n\nGET /users/{user-id}?x={1 + n}',
    );
    expect(content).toContain('host:${hostInfo} or {userName}.');
    expect(content).toContain('<p>{a.b}</p>');
    expect(content).toContain('/users/{user-id}?x={1 + n}');
    expect(content).toMatch(/class="callout[^>]*>.*Still a note\./s);
    expect(markdown).toContain('{userName}');
    expect(page.diagnostics.map(({ code, line }) => [code, line])).toEqual([
      ['expression-not-static', 1],
      ['expression-not-static', 1],
      ['expression-not-static', 5],
      ['expression-not-static', 7],
      ['expression-not-static', 7],
    ]);
    expect(page.diagnostics[0]?.message).toBe(
      'The expression is shown as it was written: it uses `hostInfo`, which is not defined in this file. Write `\\{` where no expression is meant.',
    );
  });

  test('so is a list without a bracket', async () => {
    const { content, codes } = await renderedContent('A number [0-9]{1,3} or {from, to}.');
    expect(content).toBe('<p>A number [0-9]{1,3} or {from, to}.</p>');
    // A finding is reported once per line.
    expect(codes).toEqual(['expression-not-static']);
  });

  test('code is still left out', async () => {
    const { content } = await renderedContent('a{items.map((item) => <b>{item}</b>)}b{fetch(x)}c{<i>{y}</i>}d');
    expect(content).toBe('<p>abcd</p>');
  });

  test('a snippet with props shows nothing for missing ones', async () => {
    const snippet = 'A {word} and {more}.';
    const project = await testProject({
      'page.mdx': 'import S from "/snippets/s.mdx";\n\n<S word="one" />\n\n<S />',
      'snippets/s.mdx': snippet,
    });
    const html = project.render('page').files[0]?.body;
    expect(html).toContain('<p>A one and .</p>');
    expect(html).toContain('<p>A {word} and {more}.</p>');
  });
});

test('<Latex> is math', async () => {
  const { content, markdown, codes } = await renderedContent(
    '<Latex>8 x (vk x H1 - H2) = (0,1)</Latex> and <Latex>x _a + b_ y</Latex>\n\n<Latex>\n\\frac{"{1}"}{"{2}"}\n</Latex>',
  );
  expect(content.match(/class="katex/g)?.length).toBeGreaterThanOrEqual(3);
  expect(markdown).toContain('$8 x (vk x H1 - H2) = (0,1)$');
  expect(markdown).toContain('$x _a + b_ y$');
  expect(codes).toEqual([]);
});

describe('imports', () => {
  test('count on every line that begins with them, even inside of components', async () => {
    const project = await testProject({
      'page.mdx': 'import Outer from "/snippets/outer.mdx";\n\n<Outer />',
      'snippets/outer.mdx':
        '<Steps>\n\n<Step title="Install">\n\nBefore.\n\nimport Inner from "/snippets/inner.mdx";\n\n<Inner />\n\nAfter.\n\n</Step>\n\n</Steps>',
      'snippets/inner.mdx': 'The inner text.',
    });
    const { files, page } = project.render('page');
    expect(files[0]?.body).toContain('The inner text.');
    expect([...project.model.diagnostics, ...page.diagnostics]).toEqual([]);
  });

  test('in a comment are not code, and a comment is not a finding', async () => {
    const project = await testProject({
      'page.mdx': 'import { Map } from "/snippets/map.jsx";\n\n<Map />',
      'snippets/map.jsx': `{/*
  How to use it:

    import { Map } from "/snippets/map.jsx"

    <Map />
*/}
// import { Map } from './map.jsx'
export const Map = () => <p>The map.</p>
`,
    });
    const { files, page } = project.render('page');
    expect(files[0]?.body).toContain('The map.');
    expect([...project.model.diagnostics, ...page.diagnostics]).toEqual([]);
  });
});
