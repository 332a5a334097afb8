import { posix } from 'node:path';
import fc from 'fast-check';
import type { Element, Nodes } from 'hast';
import { fromHtml } from 'hast-util-from-html';
import { describe, expect, test } from 'vitest';
import { isExternalHref } from '#shared/docs/project/url-policy.ts';
import { testProject } from '#shared/docs/render/test-project.ts';
import { rewritePage } from './rewrite-page.ts';

const pieces = [
  ...[' src=', ' href="', ' data-root=', ' srcset=', " poster='", ' onerror=document.title=1', ' style=outline:1px'],
  ...[
    '="',
    '"',
    "'",
    '>',
    '/>',
    '<',
    '=',
    ' ',
    '\n',
    '\r',
    '\t',
    '&',
    '&quot;',
    '&#39;',
    '&lt;',
    '&Eacute;',
    '\\',
    '`',
  ],
  ...['<img src="/images/a.png">', '<a href="../x.html">', '</title>', '</iframe>', '<script src=x>', '<!--', '-->'],
  ...['/images/a.png', 'sandbox=', 'é', '😀', '\u0000', '\u2028', ']]>', '<style>', '<html data-root="x">', 'word'],
];
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join(''));
const addresses = [
  ...['/images/a.png', './images/a.png', '/guides/x', 'y', '../index', '/guides/x?a="b"&c=<d>#e', '#part', '?a=1'],
  ...['https://example.com/a?b=1&c=2', '//example.com/a', '/missing', '/files/a b.pdf', 'mailto:a@example.com', ''],
];
const address = fc.constantFrom(...addresses);

const tag = (name: string, attributes: Record<string, string>, inside?: string): string => {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}={${JSON.stringify(value)}}`);
  return `<${name}${written.join('')}${inside === undefined ? ' />' : `>\n\n${inside}\n\n</${name}>`}`;
};
const said = (words: string): string => `{${JSON.stringify(words)}}`;

const block = fc.tuple(fc.nat(9), text, text, address, address).map(([kind, a, b, at, to]): string => {
  switch (kind) {
    case 0:
      return tag('img', { alt: a, title: b, src: at });
    case 1:
      return tag('a', { title: a, href: at, 'data-href': b }, said(b));
    case 2:
      return tag('iframe', { title: a, src: 'https://example.com/embed', className: b });
    case 3:
      return tag('Card', { title: a, href: at, img: to }, said(b));
    case 4:
      return tag('video', { src: 'https://example.com/film.mp4', poster: at, title: a });
    case 5:
      return tag('div', { 'data-root': at, 'data-fonts': to, 'data-islands': a, id: b }, said(a));
    case 6:
      return tag('Frame', { caption: a }, tag('img', { src: at, alt: b }));
    case 7:
      return tag('Tooltip', { tip: a, cta: b, href: at }, said(b));
    case 8:
      return `\`\`\`html ${a.replaceAll(/[\n\r`]/g, '')}\n${b}\n\`\`\``;
    default:
      return tag('Tabs', {}, tag('Tab', { title: a, icon: at }, said(b)));
  }
});

const files = {
  'index.mdx': '# Start',
  'guides/index.mdx': '# Guides',
  'guides/x.mdx': '# X',
  'guides/y.mdx': '# Y',
  'images/a.png': 'x',
  'files/a b.pdf': 'x',
};

/** Files of the bundle that are not rendered pages. */
const others = ['_bindery/theme.css', '_bindery/site.js', '_bindery/theme.js', '_bindery/config.js'];
const inBundle = new Set([
  ...Object.keys(files).map((path) => path.replace(/\.mdx$/, '.html')),
  ...others,
  'guides/page.html',
]);
const digest = 'd'.repeat(16);

const namesAddress = (tagName: string, name: string): boolean =>
  ['href', 'src', 'poster', 'srcSet'].includes(name) ||
  (tagName === 'html' && ['dataRoot', 'dataFonts'].includes(name)) ||
  (tagName === 'script' && name === 'dataIslands');

/** The file that an address in the bundle's page leads to. */
function inFolder(written: string): string {
  if (written === '' || isExternalHref(written) || /^[#?]/.test(written)) return written;
  const [, path = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(written) ?? [];
  const joined = path.startsWith('/') ? path.slice(1) : posix.join('guides', decodeURIComponent(path));
  return `/${joined.replace(/^\.\/?/, '')}${rest}`;
}

/** The file that an address on the server leads to. */
function onServer(written: string): string {
  if (!written.startsWith('/') || written.startsWith('//')) return written;
  const [, named = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(written) ?? [];
  const path = decodeURIComponent(named.replace(/^\/_bindery\/@[a-z]{16}\//, '/')).slice(1);
  const page = [`${path}.html`, posix.join(path, 'index.html')].find((each) => inBundle.has(each));
  const isThere = path === '' ? rest !== '' || written === '/' : inBundle.has(path);
  return `/${isThere && path !== '' ? path : (page ?? path)}${rest}`;
}

/** A page as a browser parses it, line by line, with its addresses mapped by `addressOf`. */
function outline(html: string, addressOf: (written: string) => string): string[] {
  const lines: string[] = [];
  const visit = (node: Nodes, indent: string): void => {
    if (node.type === 'text' || node.type === 'comment') lines.push(`${indent}${JSON.stringify(node.value)}`);
    if (node.type === 'element') lines.push(`${indent}${node.tagName} ${attributesOf(node)}`);
    if ('children' in node) for (const child of node.children) visit(child, `${indent} `);
  };
  const attributesOf = ({ tagName, properties }: Element): string =>
    Object.entries(properties)
      .filter(([name]) => !(tagName === 'html' && (name === 'dataFiles' || name === 'dataPageEnd')))
      .map(([name, value]) => {
        if (tagName === 'html' && name === 'dataRoot') return 'dataRoot';
        const isAddress = namesAddress(tagName, name);
        return `${name}=${JSON.stringify(isAddress ? addressOf(String(value)) : value)}`;
      })
      .join(' ');
  visit(fromHtml(html), '');
  return lines;
}

const site = {
  base: '',
  token: 'v'.repeat(16),
  digestOf: (path: string) => (inBundle.has(path) ? digest : undefined),
};

async function renderedPage(source: string): Promise<string> {
  const project = await testProject({ ...files, 'guides/page.mdx': source });
  return Buffer.from(project.render('guides/page').files[0]?.body ?? '').toString();
}

describe('the tree of a rewritten page is that of the bundle but for the addresses, which lead to the same', () => {
  test.each([
    '![x src=](/images/a.png "y onerror=document.title=1 style=outline:1px z")',
    '<iframe src="https://example.com/embed" title="a src="></iframe>',
  ])('%s', async (source) => {
    const html = await renderedPage(`---\ntitle: "a"\n---\n\n${source}\n`);
    expect(outline(rewritePage(html, 'guides/page.html', site), onServer)).toEqual(outline(html, inFolder));
  });

  test('for any values of its attributes', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, fc.array(block, { minLength: 1, maxLength: 5 }), async (title, words, blocks) => {
        const head = `---\ntitle: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(words)}\n---`;
        const html = await renderedPage([head, ...blocks].join('\n\n'));
        const before = outline(html, inFolder);
        expect(outline(rewritePage(html, 'guides/page.html', site), onServer)).toEqual(before);
        const alone = rewritePage(html, 'guides/page.html', { ...site, isAirGapped: true });
        const named = outline(alone, onServer).map((line) =>
          line.replaceAll(/dataElsewhere(Src|Href|Poster)=/g, lowered),
        );
        expect(named).toEqual(before);
      }),
      { numRuns: 300 },
    );
  });
});

const lowered = (_whole: string, name: string): string => `${name.toLowerCase()}=`;
