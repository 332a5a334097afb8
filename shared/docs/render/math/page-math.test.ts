import { fromHtml } from 'hast-util-from-html';
import { visit } from 'unist-util-visit';
import { describe, expect, test } from 'vitest';
import { closingFiles, renderedContent, testProject } from '../test-project.ts';
import { facesOf, mathFiles } from './math-fonts.ts';
import { PageMath } from './page-math.ts';
import { BadMarkup, readKatex } from './read-katex.ts';

const problem = (tex: string, math = new PageMath()): string | undefined => {
  const made = math.render(tex, true);
  return 'problem' in made ? made.problem : undefined;
};

describe('a formula', () => {
  test.each([
    String.raw`\frac{a+b}{\sqrt[3]{c}} = \sum_{i=0}^n x_i \int_0^\infty`,
    String.raw`\begin{aligned}a&=b\\c&=d\end{aligned} \begin{cases}1&x>0\\0\end{cases} \begin{pmatrix}1&2\\3&4\end{pmatrix}^{-1}`,
    String.raw`\begin{CD}A @>a>> B\\@VVbV @AAcA\\C @= D\end{CD}`,
    String.raw`\begin{alignat}{2}a&=b&\quad c&=d\end{alignat}`,
    String.raw`\left\lbrace\begin{array}{c|c:c}1&2&3\\\hline4&5&6\end{array}\right\rbrace \Bigg(\bigg[`,
    String.raw`\overbrace{x}^{n}\xrightleftharpoons[b]{a}\widehat{abc}\vec{x}\overrightarrow{AB}\utilde{AB}`,
    String.raw`\cancel{x}\bcancel{y}\xcancel{z}\sout{w}\boxed{E}\phase{45}\angl{n}\colorbox{yellow}{A}\fcolorbox{red}{#fff}{b}`,
    String.raw`\rlap{x}\smash{x}\vphantom{x}\raisebox{0.25em}{x}\hspace{1em}\vcenter{x}\rule{1em}{1em}\reflectbox{R}`,
    String.raw`\color{blue}x \textcolor{#ff0000}{x} \text{a <b> "c" \& 日本語} f'(x) \tag{1}`,
    String.raw`\def\R{\mathbb R} x\in\R`,
  ])('%s is typeset', (tex) => {
    expect(problem(tex)).toBeUndefined();
  });

  test.each([
    [String.raw`\frac{a}`, /Unexpected end of input/],
    [String.raw`\nosuchthing`, /Undefined control sequence/],
    [String.raw`\href{javascript:alert(1)}{x}`, /\\href cannot be in a page/],
    [String.raw`\includegraphics{https://example.com/a.png}`, /\\includegraphics cannot/],
    [String.raw`\htmlClass{navbar}{x}`, /\\htmlClass cannot/],
    [String.raw`\htmlStyle{position: fixed}{x}`, /\\htmlStyle cannot/],
    [String.raw`\kern-99999em x`, /margin-right/],
    [String.raw`\def\a{x\a}\a`, /Too many expansions/],
    [String.raw`\def\a{x}${String.raw`\edef\a{\a\a}`.repeat(40)}\a`, /Too many expansions/],
    [String.raw`\def\a#1{\a{#1#1}}\a{x}`, /macros with parameters/],
    [String.raw`\newcommand\a[1]{#1#1}\a{x}`, /macros with parameters/],
    [String.raw`\def\a{${'x'.repeat(2500)}}${String.raw`\a`.repeat(900)}`, /Too many expansions/],
    [`${'{'.repeat(2400)}x${'}'.repeat(2400)}`, /nested too deep/],
    [`${String.raw`\sqrt{`.repeat(300)}x${'}'.repeat(300)}`, /nested too deep/],
    ['x'.repeat(1_000_000), /more than 5000 characters/],
  ])('%.60s is refused', (tex, why) => {
    expect(problem(tex)).toMatch(why);
  });

  test('formulas beyond the limit of a page are refused', () => {
    const math = new PageMath();
    const problems = Array.from({ length: 40 }, () => problem(String.raw`\sqrt1`.repeat(200), math));
    expect(problems[0]).toBeUndefined();
    expect(problems.at(-1)).toMatch(/is too large|more than 50000 characters/);
  });

  test('defines macros only for itself', () => {
    const math = new PageMath();
    expect(problem(String.raw`\gdef\mine{x}\mine`, math)).toBeUndefined();
    expect(problem(String.raw`\mine`, math)).toMatch(/Undefined control sequence/);
  });
});

describe('markup that KaTeX does not write', () => {
  test.each([
    '<script>x</script>',
    '<span onclick="x">x</span>',
    '<a href="javascript:x">x</a>',
    '<span style="position:fixed">x</span>',
    '<span style="background-color:url(x)">x</span>',
    '<svg><a href="x">x</a></svg>',
    '<span class="a<b">x</span>',
    '<span>x</b>',
    '<math xmlns="http://www.w3.org/1999/xhtml"></math>',
    '<span>&bogus;</span>',
  ])('%s is refused', (markup) => {
    expect(() => readKatex(markup, new Set())).toThrow(BadMarkup);
  });
});

describe('math on a page', () => {
  const page = '## Energy $E=mc^2$\n\nInline $a < b$ here.\n\n$$\n\\frac{1}{2}\n$$\n\nWrong: $\\frac{a}$.\n';

  test('is written out, and its source is the text of the page', async () => {
    const { content, markdown, html, page: facts, codes } = await renderedContent(page);
    const elements = new Set<string>();
    visit(fromHtml(content), 'element', ({ tagName }) => void elements.add(tagName));
    for (const name of ['math', 'mfrac', 'annotation']) expect(elements).toContain(name);
    expect(content).toMatch(/<h2 id="energy-e=mc\^2">Energy <span class="math"><span class="katex">/);
    expect(content).toContain('<code class="math">\\frac{a}</code>');
    expect(html).toContain('href="./_bindery/math.css"');
    expect(codes).toEqual(['math-not-rendered']);
    expect(facts.diagnostics).toMatchObject([{ file: 'page.mdx', line: 9, column: 8 }]);
    expect(markdown).toContain('Inline $a < b$ here.');
    expect(JSON.parse(facts.search)).toEqual([
      ['energy-e=mc^2', 'Energy E=mc^2', 'Inline a < b here.\n\\frac{1}{2}\nWrong: \\frac{a}.'],
    ]);
    expect(facts.classes).not.toContain('mord');
  });

  test('can be switched off in docs.json, and pages without it load nothing for it', async () => {
    const settings = { name: 'T', theme: 'mint', colors: { primary: '#0f766e' }, navigation: { pages: ['page'] } };
    const docs = JSON.stringify({ ...settings, styling: { latex: false } });
    const { content, html } = await renderedContent(page, { 'docs.json': docs });
    expect(content).toContain('Inline $a &lt; b$ here.');
    expect(html).not.toContain('math.css');
  });

  test('brings its style sheet and the fonts that it needs, once for the site', async () => {
    const project = await testProject({ 'a.mdx': 'Let $x$ be.', 'b.mdx': '$\\mathbb{R}$', 'c.mdx': 'None' });
    const pages = ['a', 'b', 'c'].map((path) => project.render(path).page);
    expect(pages.map(({ mathFonts }) => mathFonts)).toEqual([
      ['KaTeX_Main-Regular', 'KaTeX_Math-Italic'],
      ['KaTeX_AMS-Regular', 'KaTeX_Main-Regular'],
      undefined,
    ]);
    const paths = async (of: typeof pages) =>
      (await closingFiles(project.model, of, { domain: 'test' })).map(({ path }) => path);
    const files = await paths(pages);
    expect(files).toEqual(expect.arrayContaining(['_bindery/math.css', '_bindery/fonts/KaTeX_AMS-Regular.woff2']));
    expect(files.filter((path) => path.endsWith('.woff2'))).toHaveLength(3);
    expect((await paths(pages.slice(2))).filter((path) => /math|fonts/.test(path))).toEqual([]);
  });
});

describe('the style sheet', () => {
  test('names only fonts that exist', () => {
    const [sheet, ...fonts] = mathFiles(facesOf(['mord mathbf', 'mord textsf textbf', 'mord mathcal boldsymbol']));
    const text = Buffer.from(sheet?.body ?? '').toString();
    const named = [...text.matchAll(/url\(([^)]*)\)/g)].map(([, name]) => `_bindery/${name}`);
    expect(named.sort()).toEqual(fonts.map(({ path }) => path).sort());
    for (const name of ['Main-Bold', 'SansSerif-Bold', 'Caligraphic-Bold'])
      expect(named).toContain(`_bindery/fonts/KaTeX_${name}.woff2`);
    for (const { body } of fonts) expect(Buffer.from(body).subarray(0, 4).toString()).toBe('wOF2');
  });
});
