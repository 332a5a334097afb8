import { expect, test } from 'vitest';
import { policyOf, redirectOf, rewritePage } from './rewrite-page.ts';

const digests: Record<string, string> = {
  'index.html': 'd0',
  'guides/x.html': 'd1',
  'guides/index.html': 'd2',
  'guides/x.md': 'd3',
  'logo.svg': 'd4',
  '_bindery/site.js': 'd5',
  '_bindery/theme.css': 'd6',
  '_bindery/config.js': 'd7',
  '_bindery/islands.js': 'd8',
};
const site = (base = '') => ({ base, token: 'version', digestOf: (path: string) => digests[path] });
const rewrite = (html: string, file = 'guides/x.html', base?: string) => rewritePage(html, file, site(base));

test.each([
  ['<a href="../index.html">', '<a href="/">'],
  ['<a class="b" href="x.html?a=1&amp;b=2#c">', '<a class="b" href="/guides/x?a=1&amp;b=2#c">'],
  ['<a href="index.html">', '<a href="/guides">'],
  ['<a href="x.md">', '<a href="/guides/x.md">'],
  ['<a href="/guides/x.html">', '<a href="/guides/x">'],
  ['<a href="missing.html">', '<a href="/guides/missing.html">'],
  ['<a href="/%2Fx.example/a">', '<a href="/x.example/a">'],
  ['<a href="/%2F/..//x.example/a">', '<a href="/x.example/a">'],
  ['<a href="../.well-known/a.json">', '<a href="/.well-known/a.json">'],
  ['<img alt="a > b" src="../logo.svg">', '<img alt="a > b" src="/_bindery/@d4/logo.svg">'],
  [
    '<img srcset="../logo.svg 1x, ../logo.svg 2x">',
    '<img srcset="/_bindery/@d4/logo.svg 1x, /_bindery/@d4/logo.svg 2x">',
  ],
  [
    '<link rel="stylesheet" href="../_bindery/theme.css">',
    '<link rel="stylesheet" href="/_bindery/@version/_bindery/theme.css">',
  ],
  ['<script src="../_bindery/site.js"></script>', '<script src="/_bindery/@d5/_bindery/site.js"></script>'],
  ['<script src="../_bindery/islands.js"></script>', '<script src="/_bindery/@version/_bindery/islands.js"></script>'],
  ['<script src="../_bindery/config.js"></script>', '<script src="/_bindery/config.js"></script>'],
])('%s becomes %s', (html, expected) => {
  expect(rewrite(html)).toBe(expected);
});

test.each([
  ['<img alt="A" src="https://x.example/a.png">', '<img alt="A" data-elsewhere-src="https://x.example/a.png">'],
  ['<img srcset="../logo.svg 1x, //x.example/b 2x">', '<img data-elsewhere-srcset="../logo.svg 1x, //x.example/b 2x">'],
  ['<iframe src="https://x.example/film"></iframe>', '<iframe data-elsewhere-src="https://x.example/film"></iframe>'],
  ['<script src="https://x.example/a.js"></script>', '<script data-elsewhere-src="https://x.example/a.js"></script>'],
  ['<link rel="icon" href="https://x.example/i">', '<link rel="icon" data-elsewhere-href="https://x.example/i">'],
  ['<a href="https://x.example/">', '<a href="https://x.example/">'],
  ['<img src="../logo.svg">', '<img src="/_bindery/@d4/logo.svg">'],
  ['<img src="data:image/png;base64,AAAA//+/">', '<img src="data:image/png;base64,AAAA//+/">'],
])('of an air-gapped site, %s becomes %s', (html, expected) => {
  expect(rewritePage(html, 'guides/x.html', { ...site(), isAirGapped: true })).toBe(expected);
});

test.each([
  '<a href="https://example.com/x.html">',
  '<a href="//example.com/x.html">',
  '<a href="#part">',
  '<a href="mailto:a@example.com">',
  '<a href="../../outside.html">',
  `<a href="${'../'.repeat(200_000)}">`,
  '<a href="%zz">',
  '<a title="href=../index.html">',
  '<script>var a = \'<a href="../index.html">\';</script>',
  '<style>a::after { content: \'<img src="../logo.svg">\' }</style>',
  '<p>x &lt;a href="../index.html"&gt;</p>',
])('%s stays', (html) => {
  expect(rewrite(html)).toBe(html);
});

test('addresses below a path begin with it', () => {
  expect(rewrite('<a href="../index.html"><a href="x.html"><img src="../logo.svg">', 'guides/x.html', '/docs')).toBe(
    '<a href="/docs"><a href="/docs/guides/x"><img src="/docs/_bindery/@d4/logo.svg">',
  );
});

test('the page says where the site begins and where its files are', () => {
  expect(rewrite('<html lang="en" data-root="../">', 'guides/x.html', '/docs')).toBe(
    '<html lang="en" data-root="/docs/" data-files="/docs/_bindery/@version/" data-page-end="">',
  );
  expect(rewrite('<html lang="en">', '404.html')).toContain('data-root="/"');
});

test('a page that leads elsewhere is a redirect', () => {
  const page = (target: string) => `<html><head><meta http-equiv="refresh" content="0; url=${target}"></head></html>`;
  const leadsTo = (html: string, base?: string) => redirectOf(html, 'old.html', site(base));
  const permanent = page('./index.html').replace('</head>', '<meta name="redirect" content="permanent"></head>');
  expect(leadsTo(page('./guides/x.html#a'), '/docs')).toEqual({ to: '/docs/guides/x#a', permanent: false });
  expect(leadsTo(permanent)).toEqual({ to: '/', permanent: true });
  expect(leadsTo(page('https://example.com/?a=1&amp;b=2'))).toMatchObject({ to: 'https://example.com/?a=1&b=2' });
  expect(
    redirectOf('<html><head></head><body><meta http-equiv="refresh" content="0; url=x"></body>', 'a.html', site()),
  ).toBeUndefined();
});

test('the policy of a page becomes a header', () => {
  expect(
    policyOf(
      '<meta http-equiv="Content-Security-Policy" content="default-src &#39;self&#39; file:; base-uri &#39;none&#39;">',
    ),
  ).toBe("default-src 'self'; base-uri 'none'; frame-ancestors 'self'");
  expect(policyOf('<p>')).toBeUndefined();
  const loads =
    "img-src 'self' https: data:; style-src 'self' https: 'unsafe-inline'; frame-src https:; connect-src 'self' https: http:";
  expect(policyOf(`<meta http-equiv="Content-Security-Policy" content="${loads}">`, true)).toBe(
    "img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-src; connect-src 'self' https: http:; frame-ancestors 'self'",
  );
});

test.each([
  ['tags without an end', '<a '],
  ['tags with an open quote', '<a href="'],
  ['scripts without an end', '<script>'],
  ['quotes without a tag', '<a "" '],
])('a page of %s takes no more time than its length', (_what, part) => {
  const html = `<a href="x.html">${part.repeat(500_000)}`;
  expect(rewrite(html)).toBe(`<a href="/guides/x">${part.repeat(500_000)}`);
});

test('texts of scripts and styles stay, and what follows them is rewritten', () => {
  const html = '<script>"<a href=\'x\'>"</script><style>a>b{}</style><a href="x.html">';
  expect(rewrite(html)).toBe('<script>"<a href=\'x\'>"</script><style>a>b{}</style><a href="/guides/x">');
});

test('a note is added once, at the beginning of the body, or at the end of a page without one', () => {
  const noted = (html: string) =>
    rewritePage(html, 'guides/x.html', site(), '<b>note</b>').replace(/<html[^>]*>/, '<html>');
  expect(noted('<html><head></head><body class="a" title="<body>"><p>x</p></body><body></html>')).toBe(
    '<html><head></head><body class="a" title="<body>"><b>note</b><p>x</p></body><body></html>',
  );
  expect(noted('<html><head><!-- <body> --></head><p>x</p></html>')).toBe(
    '<html><head><!-- <body> --></head><p>x</p></html><b>note</b>',
  );
});
