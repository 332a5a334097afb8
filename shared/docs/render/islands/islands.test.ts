import { describe, expect, test } from 'vitest';
import { pageSlice } from '../page-slice.ts';
import { renderPage } from '../render-page.ts';
import { indexSite } from '../site-index.ts';
import { renderedContent, testOptions, testProject } from '../test-project.ts';
import { reactScript } from './react-script.ts';

const counter = `export const Counter = ({ start = 0, children }) => {
  const [count, setCount] = useState(start);
  return <button className="px-4" onClick={() => setCount(count + 1)}>{count}{children}</button>;
};
`;

/** Renders a page, and returns the script of its islands. */
async function rendered(source: string, others: Record<string, string> = {}) {
  const project = await testProject({ 'page.mdx': source, ...others });
  const { files } = project.render('page');
  const script = files.find(({ path }) => path.startsWith('_bindery/islands/'));
  return {
    script: script && Buffer.from(script.body).toString(),
    ...(await renderedContent(source, others)),
  };
}

describe('an island', () => {
  test('shows its first look, in the page and in its Markdown', async () => {
    const { content, markdown, page, codes } = await rendered(`${counter}\n<Counter start={3}>**bold**</Counter>\n`);
    expect(content).toBe(
      '<span class="island" data-island="0"><button class="px-4" type="button">3<span class="island-slot" data-slot="0"><strong>bold</strong></span></button></span>',
    );
    expect(markdown).toContain('3**bold**');
    expect(page).toMatchObject({ hasIslands: true, classes: expect.arrayContaining(['px-4']) as unknown });
    expect(codes).toEqual([]);
  });

  test('keeps content that it does not show at first', async () => {
    const source = `export const Door = ({ children }) => { const [open] = useState(false); return <p>{open ? children : 'closed'}</p>; };\n\n<Door>\n  Inside, **unseen**\n</Door>\n`;
    const { content, markdown } = await rendered(source);
    expect(content).toMatch(/<p>closed<\/p>.*island-rest" data-slot="0">.*<strong>unseen/);
    expect(markdown).toMatch(/closed\n\nInside, \*\*unseen\*\*/);
  });

  const causes: [name: string, source: string][] = [
    ['a hook', 'export const C = () => { const [n] = React.useState(1); return <b>{n}</b>; };\n\n<C />'],
    ['a handler', 'export const C = () => <b onClick={() => 1}>x</b>;\n\n<C />'],
    ['a global of browsers', 'export const C = () => <b>{window.innerWidth}</b>;\n\n<C />'],
    ['a component that is made by a call', 'export const C = React.memo(() => <b>x</b>);\n\n<C />'],
    ['a handler that it is given', 'export const C = (props) => <b {...props}>x</b>;\n\n<C onClick={() => 1} />'],
    [
      'a value that only a browser has',
      'export const C = ({ at }) => <b>{at}</b>;\n\n<C at={new Date().getFullYear()} />',
    ],
    ['a handler on an element', '<b onClick={() => alert(1)}>x</b>'],
  ];
  test.each(causes)('is made because of %s', async (_name, source) => {
    const { page, script, codes } = await rendered(source);
    expect(page.hasIslands).toBe(true);
    expect(script).toContain('binderyIslands({');
    expect(codes).toEqual([]);
  });

  const none: [name: string, source: string][] = [
    ['a component without any of it', 'export const C = ({ a }) => <b>{a}</b>;\n\n<C a="x" />'],
    ['an unknown name', 'export const C = ({ a }) => <b>{a}</b>;\n\n<C a={nobody} />'],
    ['an expression', 'a {new Date().getFullYear()} b'],
  ];
  test.each(none)('is not made of %s', async (_name, source) => {
    expect((await rendered(source)).page.hasIslands).toBeUndefined();
  });

  test('is the component that has the state of an inner one', async () => {
    const source = `export const Inner = ({ press }) => <b onClick={press}>x</b>;
export const Outer = () => { const [n, set] = useState(0); const add = () => set(n + 1); return <div><Inner press={add} />{n}</div>; };

<Outer />`;
    const { content, script } = await rendered(source);
    expect(content).toBe('<div class="island" data-island="0"><div><b>x</b>0</div></div>');
    expect(script).toContain('[Outer, {}]');
  });

  test('inside of a static component is an island of its own', async () => {
    const { content } = await rendered(
      `${counter}export const Box = () => <div><i>box</i><Counter /></div>;\n\n<Box />`,
    );
    expect(content).toMatch(/^<div><i>box<\/i><span class="island"/);
  });
});

describe('the script of a page', () => {
  test('has the files that the islands need, each once, and the same bytes each time', async () => {
    const source =
      'import { A } from "/snippets/a.jsx";\nimport { Counter } from "/snippets/counter.mdx";\n\n<A /><Counter />\n';
    const others = {
      'snippets/a.jsx':
        'import { Counter } from "./counter.mdx";\nexport const A = () => { useEffect(() => {}); return <Counter icon="rocket" />; };\n',
      'snippets/counter.mdx': counter,
    };
    const { script } = await rendered(source, others);
    expect(script?.match(/^"snippets\/\w+\.\w+": /gm)).toEqual(['"snippets/a.jsx": ', '"snippets/counter.mdx": ']);
    expect(script).not.toMatch(/^\s*(import|export) /m);
    expect(script).toContain('"rocket":"\\u003csvg');
    expect((await rendered(source, others)).script).toBe(script);
  });

  test('has no TypeScript types', async () => {
    const others = {
      'snippets/t.tsx':
        'import { useState } from "react";\ntype Props = { n: number };\nexport const T = ({ n }: Props) => { const [m] = useState<number>(n); return <b>{m as number}</b>; };\n',
    };
    const { script, content } = await rendered('import { T } from "/snippets/t.tsx";\n\n<T n={4} />', others);
    expect(content).toContain('<b>4</b>');
    expect(script).not.toContain('Props');
  });

  test.each([
    ['TypeScript', 'tsx', `export const a = ${'['.repeat(20_000)}${']'.repeat(20_000)};`, 'import-not-parsed'],
    ['JavaScript', 'jsx', `export const a = ${'['.repeat(20_000)}${']'.repeat(20_000)};`, 'import-not-parsed'],
    [
      'a long chain',
      'jsx',
      `export const A = () => <b onClick={() => 1}>{1${'+x'.repeat(1500)}}</b>;`,
      'island-not-compiled',
    ],
  ])('leaves out %s that is nested too deep', async (_name, type, code, reported) => {
    const { codes } = await rendered(`import { A } from "/snippets/a.${type}";\n\n<A />`, {
      [`snippets/a.${type}`]: code,
    });
    expect(codes).toContain(reported);
  });

  test('reports the line that cannot be compiled', async () => {
    const source = `Text\n\n${counter}\nexport const wrong = await fetch('x');\n\n<Counter />\n`;
    const { page, content } = await rendered(source);
    expect(content).toContain('>0</button>');
    const found = page.diagnostics.find(({ code }) => code === 'island-not-compiled');
    expect(found).toMatchObject({ file: 'page.mdx', line: 8 });
  });

  test('is not ended by texts of an author', async () => {
    const { script } = await rendered(`${counter}\n<Counter label={'</script>"}];alert(1)//\u2028'} />`);
    expect(script).not.toContain('</script>');
    // The script parses as one call.
    const calls: unknown[] = [];
    const { runInNewContext } = await import('node:vm');
    runInNewContext(script ?? '', { binderyIslands: (code: unknown) => calls.push(code) });
    expect(calls).toHaveLength(1);
  });
});

test('without tenants’ scripts a page has the first look of its islands, and a diagnostic for each', async () => {
  const source = `${counter}\n<Counter start={3}>**bold**</Counter>\n\n<b onClick={() => alert(1)}>x</b>\n`;
  const project = await testProject({ 'page.mdx': source });
  const options = { ...testOptions, allowTenantScripts: false };
  const slice = pageSlice(indexSite(project.model), 'page', options);
  const { files, page } = renderPage({ slice, source, dependencies: {}, options });
  const html = Buffer.from(files[0]?.body ?? '').toString();
  expect(html).toContain('<button class="px-4" type="button">3<strong>bold</strong></button>');
  expect(html).not.toMatch(/island|alert/);
  expect(html).toContain('script-src &#39;self&#39; file:;');
  expect(files.map(({ path }) => path)).toEqual(['page.html', 'page.md']);
  expect(page.hasIslands).toBeUndefined();
  expect(page.diagnostics.map(({ code, line }) => [code, line])).toEqual([
    ['island-not-run', 6],
    ['island-not-run', 8],
  ]);
});

test('React is one script without any module', async () => {
  const script = await reactScript();
  expect(script.length).toBeLessThan(250_000);
  expect(script).toContain('window.binderyReact=');
  expect(await reactScript()).toBe(script);
});
