import { describe, expect, test } from 'vitest';
import { PageFailed } from './evaluation.ts';
import { renderedContent } from '../test-project.ts';

const cases: [name: string, source: string, content: RegExp][] = [
  ['literals and operators', '{1 + 2 * 3} {"a" + 1} {true && "yes"} {null ?? "no"}', /7 a1 yes no/],
  ['templates', 'export const name = "x";\n\n{`Hello ${name}!`}', /Hello x!/],
  [
    'objects and arrays',
    'export const o = { a: [1, { b: "deep" }] };\n\n{o.a[1].b} {o.a.length} {o.nothing?.more}',
    /deep 2/,
  ],
  [
    'map with JSX',
    'export const list = ["a", "b"];\n\n<ul>{list.map((x, i) => <li key={i}>{x}{i}</li>)}</ul>',
    /<li>a0<\/li><li>b1<\/li>/,
  ],
  ['filter, slice, join', '{["a", "b", "c"].filter((x) => x !== "b").slice(0, 2).join("+")}', /a\+c/],
  ['conditionals', '{1 > 2 ? "more" : "less"}', /less/],
  [
    'pure components',
    'export const Hi = ({ name = "you", children }) => <b>Hi {name}: {children}</b>;\n\n<Hi name="Ann">**there**</Hi>\n\n<Hi />',
    /<b>Hi Ann: <strong>there<\/strong><\/b>.*<b>Hi you: <\/b>/s,
  ],
  [
    'component with a body',
    'export const X = ({ on }) => { const word = on ? "on" : "off"; if (on) { return <i>{word}</i>; } return <u>{word}</u>; };\n\n<X on /><X />',
    /<i>on<\/i>\s*<u>off<\/u>/,
  ],
  [
    'props that are JSX',
    '<Card title={<b>T</b>} icon={<svg viewBox="0 0 1 1"><path d="M0 0" /></svg>} />',
    /<b>T<\/b>/,
  ],
  ['spread', '<Card {...{ title: "S" }} />', /card-title">S</],
  ['comments', 'a{/* nothing */}b', /<p>ab<\/p>/],
  ['fragments', '<>x **y**</>', /x\s+<strong>y<\/strong>/],
];

describe('expressions of the static subset', () => {
  test.each(cases)('%s', async (_name, source, content) => {
    const rendered = await renderedContent(source);
    expect(rendered.content).toMatch(content);
    expect(rendered.codes).toEqual([]);
  });
});

describe('expressions that are not static are left out and reported', () => {
  const refused: [source: string, code: string][] = [
    ['before {fetch("x")} after', 'expression-not-static'],
    ['before {unknown} after', 'expression-not-static'],
    ['before {[].constructor} after', 'expression-not-static'],
    ['before {({})["__pro" + "to__"]} after', 'expression-not-static'],
    ['before {new Date()} after', 'expression-not-static'],
    ['before {/a+/.test("a")} after', 'expression-not-static'],
    ['before {"a".repeat(9)} after', 'expression-not-static'],
    ['before {2n} after', 'expression-not-static'],
    ['before {{ a: 1 }} after', 'expression-not-static'],
    ['before <Nobody>inside</Nobody> after', 'unknown-component'],
    ['import fs from "node:fs";\n\nbefore after', 'import-not-allowed'],
    ['import X from "/snippets/../../x.mdx";\n\nbefore after', 'import-outside-project'],
    ['import X from "/snippets/no.mdx";\n\nbefore after', 'import-not-found'],
    ['export default () => null;\n\nbefore after', 'export-not-static'],
  ];
  test.each(refused)('%s', async (source, code) => {
    const rendered = await renderedContent(source);
    expect(rendered.content).toMatch(/before.*after/s);
    expect(rendered.codes).toContain(code);
    const diagnostic = rendered.page.diagnostics.find((found) => found.code === code);
    expect(diagnostic?.file).toBe('page.mdx');
    expect(diagnostic?.line).toBeGreaterThan(0);
  });

  test('an unknown component is replaced by its content', async () => {
    expect((await renderedContent('<Nobody>**inside**</Nobody>')).content).toContain('<strong>inside</strong>');
  });

  test('a component whose import is not found is one finding, and its content is shown', async () => {
    const rendered = await renderedContent(
      'import X from "/snippets/no.mdx";\nimport { Y } from "/snippets/s.mdx";\n\n<X>**inside**</X>\n\n<Y.Part />\n\n<Z />',
      { 'snippets/s.mdx': 'Words.\n' },
    );
    expect(rendered.content).toContain('<strong>inside</strong>');
    expect(rendered.codes).toEqual(['import-not-found', 'import-not-found', 'unknown-component']);
  });

  test('a handler in an expression is left out, its element stays', async () => {
    const rendered = await renderedContent('{["x"].map((text) => <div onClick={() => alert(text)}>{text}</div>)}');
    expect(rendered.content).toBe('<div>x</div>');
    expect(rendered.codes).toEqual(['expression-not-static']);
  });
});

describe('snippets', () => {
  test('with props in text and in code, exports, and imports of their own', async () => {
    const rendered = await renderedContent(
      'import S from "/snippets/s.mdx";\nimport { product } from "./snippets/s.mdx";\n\n<S word="bananas">child</S>\n\n{product}',
      {
        'snippets/s.mdx':
          'import T from "./t.mdx";\n\nexport const product = "Bindery";\n\nI like {word}, {props.word}. <T />\n\n```js\nconst x = {word}; {other}\n```\n',
        'snippets/t.mdx': 'Deep {1 + 1}',
      },
    );
    expect(rendered.content).toMatch(/I like bananas, bananas\./);
    expect(rendered.content).toContain('Deep 2');
    expect(rendered.content.replace(/<[^>]+>/g, '')).toContain('const x = bananas; {other}');
    expect(rendered.content).toMatch(/Bindery/);
    expect(rendered.codes).toEqual([]);
  });

  test('components from a .jsx file', async () => {
    const rendered = await renderedContent('import { Chip } from "/snippets/chip.jsx";\n\n<Chip label="x" />', {
      'snippets/chip.jsx':
        'const size = 2;\n\n// A chip.\nexport const Chip = ({ label }) => {\n  return <span className="chip">{label}{size}</span>;\n};\n',
    });
    expect(rendered.content).toBe('<span class="chip">x2</span>');
    expect(rendered.codes).toEqual([]);
  });

  test('the older include', async () => {
    const rendered = await renderedContent('<Snippet file="old.mdx" />', { '_snippets/old.mdx': 'Old text' });
    expect(rendered.content).toBe('<p>Old text</p>');
  });

  test('in a circle are left out with their chain', async () => {
    const rendered = await renderedContent('import A from "/snippets/a.mdx";\n\nbefore\n\n<A />', {
      'snippets/a.mdx': 'import B from "/snippets/b.mdx";\n\na\n\n<B />',
      'snippets/b.mdx': 'import A from "/snippets/a.mdx";\n\nb\n\n<A />',
    });
    expect(rendered.content.replace(/<[^>]+>|\s/g, '')).toBe('beforeab');
    expect(rendered.codes).toContain('snippet-cycle');
  });

  test('in a chain of a thousand are left out from the place that is too deep', async () => {
    const names = Array.from({ length: 1_000 }, (_, at) => `snippets/s${at}.mdx`);
    const chain = names.map((name, at) => [
      name,
      `import S from "/snippets/s${at + 1}.mdx";\n\nLevel ${at}.\n\n<S />\n`,
    ]);
    const files = { ...Object.fromEntries(chain), 'snippets/s1000.mdx': 'Last.' };
    const rendered = await renderedContent('import S from "/snippets/s0.mdx";\n\n<S />\n\nEnd.', files);
    expect(rendered.content).toMatch(/Level 50\.[^]*End\./);
    expect(rendered.codes).toEqual(['import-too-deep', 'expression-too-deep']);
  });
});

describe('limits', () => {
  test('fuel ends nested maps', async () => {
    const ten = 'export const a = [0,1,2,3,4,5,6,7,8,9];\n\n';
    const source = `${ten}{a.map((x) => a.map((x) => a.map((x) => a.map((x) => a.map((x) => a.map((x) => x))))))}`;
    await expect(renderedContent(source)).rejects.toThrow(PageFailed);
  });

  test('sharing of children does not multiply past the limit', async () => {
    const lines = Array.from(
      { length: 20 },
      (_, level) => `export const D${level} = ({ children }) => <>{children}{children}</>;`,
    );
    const open = Array.from({ length: 20 }, (_, level) => `<D${level}>`).join('');
    const close = Array.from({ length: 20 }, (_, level) => `</D${19 - level}>`).join('');
    await expect(renderedContent(`${lines.join('\n')}\n\n${open}x${close}`)).rejects.toThrow(/page-too-large/);
  });

  const thirtyTimes = (first: string, next: (inner: string) => string): string =>
    [first, ...Array.from({ length: 30 }, (_, level) => next(`v${level}`))]
      .map((value, level) => `export const v${level} = ${value};`)
      .join('\n');
  const manyMembers = `export const o = { ${Array.from({ length: 9000 }, (_, number) => `k${number}: 1`).join(', ')} };
export const a = [${'1, '.repeat(8000)}1];\n\n`;

  test.each([
    ['elements of two that are the same', thirtyTimes('<b>x</b>', (inner) => `<>{${inner}}{${inner}}</>`), '{v30}'],
    ['lists of two that are the same', thirtyTimes('["x"]', (inner) => `[${inner}, ${inner}]`), '{v30}'],
    ['such a list as an attribute', thirtyTimes('["x"]', (inner) => `[${inner}, ${inner}]`), '<Card title={v30} />'],
    [
      'such an object for a component that runs',
      `${thirtyTimes('1', (inner) => `{ a: ${inner}, b: ${inner} }`)}\nexport const C = () => { const [n, set] = useState(0); return <b onClick={() => set(1)}>{n}</b>; };`,
      '<C x={v30} />',
    ],
    ['large objects, again and again', manyMembers, '{a.map(() => ({ ...o }).k1)}'],
    ['the rest of large objects', manyMembers, '{a.map(() => { const { k1, ...rest } = o; return rest.k2; })}'],
    ['elements with large objects', manyMembers, '{a.map(() => <b {...o}>x</b>)}'],
  ])('small pages stay within memory limits: %s', async (_name, constants, shown) => {
    await expect(renderedContent(`${constants}\n\n${shown}`)).rejects.toThrow(/page-too-large/);
  });

  test('a component in itself is left out', async () => {
    const rendered = await renderedContent('export const R = () => <div>r<R /><R /></div>;\n\n<R />');
    expect(rendered.content).toBe('<div>r</div>');
    expect(rendered.codes).toContain('component-recursion');
  });

  test('a deep literal is left out', async () => {
    const rendered = await renderedContent(`<Card title="t" data={${'['.repeat(100)}${']'.repeat(100)}} />`);
    expect(rendered.content).toContain('card-title');
    expect(rendered.codes).toEqual(['expression-too-deep']);
  });
});
