import { describe, expect, test } from 'vitest';
import { isolateFile } from './isolate-file.ts';
import { isIsolated } from './isolated-types.ts';

const isolated = (path: string, text: string): string => Buffer.from(isolateFile(path, Buffer.from(text))).toString();

const head = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';

describe('pictures', () => {
  const hostile: [string, string][] = [
    [
      'scripts',
      '<script>pwned(1)</script><script xlink:href="https://e.invalid/x.js"/><svg:script>pwned(2)</svg:script>',
    ],
    ['handlers', '<rect onload="pwned(1)" ONCLICK="pwned(2)" width="1"/>'],
    [
      'HTML inside',
      '<foreignObject><iframe src="javascript:pwned(1)"></iframe><body xmlns="http://www.w3.org/1999/xhtml" onload="pwned(2)"/></foreignObject>',
    ],
    [
      'links that run',
      '<a xlink:href="javascript:pwned(1)"><text>x</text></a><a href="java&#10;script:pwned(2)"><text>y</text></a>',
    ],
    [
      'animated links',
      '<a><animate attributeName="href" values="javascript:pwned(1)"/><set attributeName="xlink:href" to="javascript:pwned(2)"/><set attributeName="onclick" to="pwned(3)"/></a>',
    ],
    [
      'other documents',
      '<use href="https://e.invalid/a.svg#b"/><image href="https://e.invalid/a.png"/><image href="data:image/svg+xml,&lt;svg/&gt;"/><use href="data:image/svg+xml;base64,PHN2Zy8+#x"/>',
    ],
    [
      'styles that load',
      '<style>@import "https://e.invalid/a.css"; rect { fill: url(https://e.invalid/b) } g { background: u\\72l(https://e.invalid/c) }</style>',
    ],
    [
      'attributes that load',
      '<rect fill="url(https://e.invalid/a#b)" style="fill: url( \'//e.invalid/a\' ); mask-image: image-set(\'c.png\' 1x)" filter="u\\72l(https://e.invalid/d)"/>',
    ],
    [
      'markup in text',
      '<title>&lt;/title&gt;&lt;script&gt;pwned(1)&lt;/script&gt;</title><desc><![CDATA[</desc><script>pwned(2)</script>]]></desc>',
    ],
  ];

  test.each(hostile)('lose %s', (_name, inside) => {
    const made = isolated(
      'a.svg',
      `<?xml version="1.0"?><?xml-stylesheet href="https://e.invalid/s.css"?><!DOCTYPE svg [<!ENTITY x "y">]>${head}>${inside}<path d="M0 0"/></svg>`,
    );
    expect(made).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    expect(made).toContain('<path d="M0 0"></path>');
    expect(made).not.toMatch(
      /<script|<foreignObject|<iframe|on[a-z]+="|javascript:|script:|e\.invalid|svg\+xml|ENTITY|<\?/i,
    );
  });

  test('keep what draws', () => {
    const inside =
      '<defs><linearGradient id="g" x1="0"><stop offset="0" stop-color="red"></stop></linearGradient></defs><style>.a{fill:url(#g)}</style><g class="a" clip-path="url(#c)" transform="rotate(4)"><text x="1" font-size="2">T &amp; t</text></g><use xlink:href="#g"></use><image href="data:image/png;base64,AAAA"></image><a href="https://example.com/"><circle r="1"><animate attributeName="r" values="1;2" dur="1s"></animate></circle></a>';
    expect(isolated('a.svg', `${head} viewBox="0 0 8 8">${inside}</svg>`)).toBe(
      `${head} viewBox="0 0 8 8">${inside}</svg>\n`,
    );
  });

  test.each(['url(#g)', "url('#g')", 'url( "#g" )', "url('data:image/png;base64,AAAA')"])('keep %s', (paint) => {
    const style = `<style>.a{fill:${paint}}</style>`;
    expect(isolated('a.svg', `${head}>${style}</svg>`)).toBe(`${head}>${style}</svg>\n`);
    const picture = isolated('a.svg', `${head}><path fill="${paint.replaceAll('"', '&quot;')}"/></svg>`);
    expect(picture.replaceAll('&quot;', '"').replaceAll('&#39;', "'")).toContain(`<path fill="${paint}">`);
  });

  test('are empty if there is no picture, or if it is nested too deep', () => {
    const empty = '<svg xmlns="http://www.w3.org/2000/svg"></svg>\n';
    expect(isolated('a.SVG', '<html><body>x</body></html>')).toBe(empty);
    expect(isolated('a.svg', `${'<svg>'.repeat(60_000)}<script>pwned(1)</script>`)).not.toContain('script');
    expect(Buffer.from(isolateFile('a.svg', undefined)).toString()).toBe(empty);
    expect(Buffer.from(isolateFile('a.svg', Buffer.from('<svg/>', 'utf16le'))).toString()).toBe(empty);
  });
});

describe('style sheets', () => {
  test('apply only inside the content', () => {
    const css =
      '.card:hover { color: red } @media (width > 1px) { a::before { content: "}" } } .md\\:x { background: url(a.png) }';
    expect(isolated('a.css', css)).toBe(`@scope (.mdx-content, .aside-content) {\n${css}\n}\n`);
  });

  test('have no rules for the whole page', () => {
    const css =
      '@property --sans { syntax: "<color>" } @pr\\operty --a { x: "@property" } @PAGE { margin: 9cm } /* @page */ @-webkit-keyframes x { } @import "a.css";';
    expect(isolated('a.css', css)).toContain(
      '@left-out --sans { syntax: "<color>" } @left-out --a { x: "@property" } @left-out { margin: 9cm } /* @page */ @-webkit-keyframes x { } @left-out "a.css";',
    );
  });

  test('do not redefine fonts and animations of the frame', () => {
    const font = (family: string) => `@font-face { font-family: ${family}; src: url(a.woff2) }`;
    const own = `${font('Inter')} ${font("'Roboto Flex'")} @keyframes spin { to { rotate: 1turn } }`;
    expect(isolated('a.css', own)).toContain(own);
    for (const family of [
      'Roboto',
      '" roboto "',
      "'Segoe  UI'",
      'system-ui',
      'KaTeX_Main',
      'Rob\\6fto',
      '/*x*/Roboto/*y*/',
    ]) {
      expect(isolated('a.css', font(family))).toMatch(/left.out/i);
      expect(isolated('a.css', `@media all { ${font(family).replace('@font-face', '@FONT-FACE')} }`)).toMatch(
        /left.out/i,
      );
    }
    expect(isolated('a.css', '@font-face { a { } font-family: Roboto }')).toMatch(/left.out/i);
    expect(isolated('a.css', '@font-face { font-family: x; FONT-FAMILY : Arial }')).toMatch(/left.out/i);
    expect(isolated('a.css', `@font-face { font-family: x } ${font('Menlo')}`)).toMatch(/@font-face .* @left-out /);
    for (const name of ['bindery-targeted', '"bindery-targeted"', 'b\\69ndery-targeted', 'bindery-/**/targeted']) {
      expect(isolated('a.css', `@-webkit-keyframes ${name} { from { color: red } }`)).toMatch(/left.out/i);
    }
  });

  test.each([
    'url(//unc.example/a.png)',
    'url( "//unc.example/a.png" )',
    "url('file://unc.example/a.png')",
    'url(FILE:///etc/a.png)',
    `url(file://unc.example/${'a'.repeat(2_000)})`,
    'url("\\5c\\5c unc.example\\5c a.png")',
    'url("\\\\\\\\unc.example/a.png")',
    'url("/\\9/unc.example/a.png")',
    'url("\\66ile://unc.example/a.png")',
    'image-set("//unc.example/a.png" 1x)',
    'image-set(first-valid("//unc.example/a.png") 1x)',
    '-webkit-image-set("file://unc.example/a.png" 1x)',
    'IMAGE-\\set("//unc.example/a.png" 1x)',
    'cross-fade("//unc.example/a.png", red)',
    'src("//unc.example/a.png")',
    'image("//unc.example/a.png")',
    'linear-gradient(red, blue), url(//unc.example/a.png)',
    'url("javascript:unc.example")',
  ])('%s names no computer in the network', (written) => {
    const made = isolated('a.css', `a { background: ${written} }`);
    expect(made).not.toMatch(/(?<!https:)(?:\/\/|\\)unc\.example|file:|66ile|5c|javascript/i);
    expect(made).toMatch(/"data:,"|https:\/\/unc\.example/);
  });

  test('do not hand an address on to a function that loads it', () => {
    const css = 'a { --x: "//unc.example/a.png"; background: image-set(var(--x) 1x, cross-fade(attr(data-x), red)) }';
    expect(isolated('a.css', css)).toContain(
      'background: image-set(var-left-out(--x) 1x, cross-fade(attr-left-out(data-x), red))',
    );
  });

  test.each([
    'url(a.png)',
    'url( "b (1).png" )',
    "url('../c.png#d')",
    'url(#e)',
    'url(https://x.example/a.png)',
    'url("data:image/png;base64,AA==")',
    'image-set("a.png" 1x type("image/png"), url(b.png) 2x)',
    'linear-gradient(var(--a), calc(1px + var(--b)))',
  ])('keep %s', (written) => {
    const css = `a { background: ${written}; content: "// Note: " attr(data-x) } a[href^="//"]::before { content: "file:" }`;
    expect(isolated('a.css', css)).toContain(css);
  });

  test.each([
    'a { color: red } } body { display: none } @media all {',
    'a { b: "x\n} body { c: d }',
    '/* open',
    'a { b: url(x"y) } body { c: "d) }" }',
    'a { b: \\75rl(x"y) } body { c: "d) }" }',
    'a { b: u\\rl(x"y) } body { c: "d) }" }',
    'a { b: myurl(/*) } body { c: d } /*) */ }',
    'a ( } ) {',
    'a { b: c',
    '\\',
  ])('%j is left out', (css) => {
    expect(isolated('a.css', css)).toMatch(/^\/\* Left out.*\*\/\n$/);
  });
});

describe('XML', () => {
  test('without a language that has scripts stays unchanged', () => {
    const map = '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"/>';
    expect(isolated('sitemap.xml', map)).toBe(map);
  });

  test.each([
    '<a xmlns="http://www.w3.org/1999/xhtml"><script>pwned(1)</script></a>',
    "<a xmlns:h = 'http://www.w3.org/1999/&#120;html'><h:script>pwned(1)</h:script></a>",
    '<?xml-stylesheet type="text/xsl" href="a.xml"?><a/>',
    '<!DOCTYPE a [<!ENTITY x "http://www.w3.org/1999/xhtml">]><a/>',
    '<?xml version="1.0" encoding="UTF-7"?><a/>',
    `<a b="xmlns='" xmlns='http://www.w3.org/1999/xhtml'><script>pwned(1)</script></a>`,
    // Without a byte order mark, browsers detect UTF-16 by its zero bytes.
    Buffer.from('<?xml version="1.0"?><a xmlns="http://www.w3.org/1999/xhtml"/>', 'utf16le').toString(),
    `${'xmlns:'.repeat(300_000)}<a xmlns="http://www.w3.org/1999/xhtml"/>`,
  ])('%s is left out', (xml) => {
    expect(isolated('a.xml', xml)).toContain('<left-out>');
  });
});

test('other files are not changed', () => {
  expect(['a.png', 'a.js', 'svg', 'a.json', 'a.svg.txt'].filter(isIsolated)).toEqual([]);
});
