import { describe, expect, test } from 'vitest';
import { brokenLinkDiagnostic } from '../broken-link.ts';
import { brokenLinks } from '../export-report.ts';
import { renderedContent, testOptions, testProject } from '../test-project.ts';
import { indexSite } from '../site-index.ts';
import { pageSlice } from '../page-slice.ts';

const hrefsIn = (html: string): string[] =>
  Array.from(html.matchAll(/<a(?! class="heading-anchor")[^>]* href="([^"]*)"/g), ([, href = '']) => href);

describe('anchors of other sluggers', () => {
  const source = `[one](#chat--the-live-demo) [two](#chat-—-the-live-demo) [three](#whats-new) [four](#can-t-connect)
[five](#jwt--cookie-auth) [six](#step-1-set-up) [dots](#sandbox_defaultsoci) \`[code](#whats-new)\`

## Chat — the live demo

## What's new?

## Can't connect

## JWT / cookie auth

## Step 1: Set up

## \`sandbox_defaults.oci\`
`;

  test('a link leads to the one heading with the same letters and digits', async () => {
    const { content, page } = await renderedContent(source);
    expect(hrefsIn(content).map(decodeURI)).toEqual([
      '#chat-—-the-live-demo',
      '#chat-—-the-live-demo',
      '#what’s-new',
      '#can’t-connect',
      '#jwt-/-cookie-auth',
      '#step-1-set-up',
      '#sandbox_defaults-oci',
    ]);
    expect([...new Set(page.links.map((link) => decodeURI(link)))]).toEqual([
      '/page#chat-—-the-live-demo',
      '/page#what’s-new',
      '/page#can’t-connect',
      '/page#jwt-/-cookie-auth',
      '/page#step-1-set-up',
      '/page#sandbox_defaults-oci',
    ]);
    expect(page.diagnostics).toEqual([]);
  });

  test('the Markdown of the page has the same anchors, and code stays', async () => {
    const { markdown } = await renderedContent(source);
    expect(markdown).toContain('[three](#what’s-new) [four](#can’t-connect)');
    expect(markdown).toContain('`[code](#whats-new)`');
  });

  test('a link to the page itself by its path is healed, too', async () => {
    const { content, page } = await renderedContent('[a](/page#set_up)\n\n## Set up');
    expect(hrefsIn(content)).toEqual(['./page.html#set-up']);
    expect(page.links).toEqual(['/page#set-up']);
  });

  test('a link of the description is healed', async () => {
    const { html } = await renderedContent('---\ndescription: See [it](#set_up)\n---\n\n## Set up');
    expect(html).toContain('<p class="page-description">See <a href="#set-up">it</a></p>');
  });

  test('link checks resolve anchors of other pages as the page’s script does, and name the nearest', async () => {
    const project = await testProject({
      'a.mdx':
        '[1](/b#whats-new) [2](/b#h-links) [3](/b#rate-limit) [4](/b#pricing) [5](/b#Top) [6](/b#:~:text=x) [7](#x-y)',
      'b.mdx': "## What's new?\n\n## Links\n\n## Rate limits",
    });
    const pages = ['a', 'b'].map((path) => project.render(path).page);
    const linked = pages.map((page) => ({ ...page, anchors: new Set(page.anchors) }));
    const found = [...brokenLinks(project.model, linked, new Set())];
    expect(found.map(({ target, nearest }) => [target, nearest])).toEqual([
      ['/b#rate-limit', 'rate-limits'],
      ['/b#pricing', undefined],
      ['/a#x-y', undefined],
    ]);
    expect(found.map((link) => brokenLinkDiagnostic(link, 'a.mdx').message)[0]).toBe(
      'The link to "/b#rate-limit" leads to the page "/b", which has no anchor "#rate-limit". The nearest is "#rate-limits".',
    );
    expect(found.map((link) => brokenLinkDiagnostic(link, 'a.mdx'))[2]).toEqual({
      severity: 'warning',
      code: 'broken-anchor',
      message: 'The link to "/a#x-y" leads to this page, which has no anchor "#x-y".',
      ...{ file: 'a.mdx', line: 1, column: 100 },
    });
  });
});

describe('links to source files', () => {
  test('relative ones lead to pages', async () => {
    const project = await testProject({
      'page.mdx':
        '[a](./brace.md) [b](brace.mdx#x) [c](/table/) [d](../void) [e](/lt.mdx?x=1#y) [f](https://example.com/a.md) [g](/brace.md)',
      ...Object.fromEntries(['brace', 'table', 'void', 'lt'].map((name) => [`${name}.mdx`, 'Text.'])),
    });
    const { files, page } = project.render('page');
    const html = Buffer.from(files[0]?.body ?? '').toString();
    expect(hrefsIn(html.slice(html.indexOf('class="mdx-content"'))).slice(0, 7)).toEqual([
      './brace.html',
      './brace.html#x',
      './table.html',
      './void.html',
      './lt.html?x=1#y',
      'https://example.com/a.md',
      './brace.md',
    ]);
    expect(page.links.slice(0, 2)).toEqual(['/brace', '/brace.mdx#x']);
  });

  test('a rooted one leads to the page with that source file', async () => {
    const project = await testProject({ 'page.mdx': '[a](/guide.md)', 'guide.md': 'Text.' });
    expect(project.render('page').files[0]?.body).toContain('href="./guide.html"');
  });
});

describe('links to folders', () => {
  const files = {
    'docs.json': JSON.stringify({
      name: 'Test',
      theme: 'mint',
      colors: { primary: '#0f766e' },
      navbar: { links: [{ label: 'Guides', href: '/guides' }] },
      navigation: {
        groups: [
          { group: 'Start', pages: ['page'] },
          { group: 'Guides', pages: ['guides/second', { group: 'Deep', pages: ['guides/deep/a'] }, 'guides/first'] },
        ],
      },
    }),
    'page.mdx': '[a](/guides)\n\n[b](./guides/deep/#part) [c](/guides/none)',
    'guides/first.mdx': 'x',
    'guides/second.mdx': 'x',
    'guides/deep/a.mdx': '## Part',
  };

  test('a folder without a page leads to its first page in the navigation, with a warning', async () => {
    const { files: made, page } = (await testProject(files)).render('page');
    expect(made[0]?.body).toContain('<a href="./guides/second.html">a</a>');
    expect(made[0]?.body).toContain('<a href="./guides/deep/a.html#part">b</a>');
    expect(page.links).toEqual(['/guides/second', '/guides/deep/a#part', '/guides/none']);
    expect(page.diagnostics).toEqual([
      expect.objectContaining({
        code: 'folder-link',
        line: 1,
        message:
          '"/guides" is a folder without a page of its own; the link leads to the first page in it, "/guides/second". Link to a page.',
      }),
      expect.objectContaining({ code: 'folder-link', line: 3 }),
    ]);
  });

  test('an anchor that the first page does not have is broken', async () => {
    const project = await testProject({ ...files, 'page.mdx': 'See [b](/guides/deep#17-other).' });
    const linked = ['page', 'guides/deep/a'].map((path) => {
      const { page } = project.render(path);
      return { ...page, anchors: new Set(page.anchors) };
    });
    const found = [...brokenLinks(project.model, linked, new Set())];
    expect(found.map((link) => brokenLinkDiagnostic(link, 'page.mdx'))).toEqual([
      expect.objectContaining({
        ...{ code: 'broken-anchor', line: 1, column: 5 },
        message:
          'The link to "/guides/deep/a#17-other" leads to the page "/guides/deep/a", which has no anchor "#17-other".',
      }),
    ]);
  });

  test('links of the header do the same, and a folder with a page leads to that page', async () => {
    const { model } = await testProject(files);
    expect(pageSlice(indexSite(model), 'page', testOptions).settings.links).toEqual([
      { label: 'Guides', file: 'guides/second.html' },
    ]);
    const withIndex = await testProject({ ...files, 'guides/index.mdx': 'x' });
    const { files: made, page } = withIndex.render('page');
    expect(made[0]?.body).toContain('<a href="./guides/index.html">a</a>');
    expect(page.diagnostics.map(({ line }) => line)).toEqual([3]);
  });
});

test('a link follows redirects with wildcards to their end, on the site or elsewhere', async () => {
  const project = await testProject({
    'docs.json': JSON.stringify({
      name: 'Test',
      theme: 'mint',
      colors: { primary: '#0f766e' },
      navigation: { pages: ['page', 'v2/en/start'] },
      redirects: [
        { source: '/en/old/:slug*', destination: 'https://old.example/:slug*' },
        { source: '/en/:slug*', destination: '/v2/en/:slug*' },
      ],
    }),
    'page.mdx': '[a](/en/start#part) [b](/en/old/x) [c](/en/none)',
    'v2/en/start.mdx': '## Part',
  });
  const { files, page } = project.render('page');
  expect(hrefsIn(String(files[0]?.body))).toEqual(
    expect.arrayContaining(['./v2/en/start.html#part', 'https://old.example/x']),
  );
  const linked = [{ path: 'page', links: page.links, anchors: new Set<string>() }];
  const others = [{ path: 'v2/en/start', links: [], anchors: new Set(['part']) }];
  const broken = [...brokenLinks(project.model, [...linked, ...others], new Set())];
  expect(broken.map(({ target }) => target)).toEqual(['/en/none']);
});

test('a link with the base path of the site leads to the page', async () => {
  const docs = {
    ...{ name: 'Test', theme: 'mint', colors: { primary: '#0f766e' }, navigation: { pages: ['page', 'guides/one'] } },
    seo: { metatags: { canonical: 'https://a.example/docs' } },
  };
  const project = await testProject({
    'docs.json': JSON.stringify(docs),
    'page.mdx': '[a](/docs/guides/one#x) [b](/docs/none) [c](/other/guides/one)',
    'guides/one.mdx': 'x',
  });
  const { files, page } = project.render('page');
  expect(files[0]?.body).toContain('<a href="./guides/one.html#x">a</a>');
  expect(page.links).toEqual(['/guides/one#x', '/docs/none', '/other/guides/one']);
});

test('a link to a page that is only a link leads to its target', async () => {
  const project = await testProject({
    'page.mdx': '[a](/pricing) [b](/inner)',
    'pricing.mdx': '---\ntitle: Pricing\nurl: https://a.example/pricing\n---\n',
    'inner.mdx': '---\ntitle: Inner\nurl: /page\n---\n',
  });
  const { files, page } = project.render('page');
  expect(hrefsIn(String(files[0]?.body).split('class="mdx-content"')[1] ?? '').slice(0, 2)).toEqual([
    'https://a.example/pricing',
    './page.html',
  ]);
  expect([...brokenLinks(project.model, [{ ...page, anchors: new Set() }], new Set())]).toEqual([]);
});

test('an anchor may have a hash in it', async () => {
  const project = await testProject({
    'page.mdx': '[a](#new-#channel) [b](/other#new-#channel)\n\n## New #channel',
    'other.mdx': '## New #channel',
  });
  const linked = ['page', 'other'].map((path) => {
    const { page } = project.render(path);
    return { ...page, anchors: new Set(page.anchors) };
  });
  expect([...brokenLinks(project.model, linked, new Set())]).toEqual([]);
});

describe('the leading heading that is the title', () => {
  const brokenIn = async (files: Record<string, string>) => {
    const project = await testProject(files);
    const pages = Object.keys(files).map((file) => project.render(file.replace('.mdx', '')));
    const linked = pages.map(({ page }) => ({ ...page, anchors: new Set(page.anchors) }));
    const html = pages.map(({ files: [file] }) => String(file?.body));
    return { html, broken: [...brokenLinks(project.model, linked, new Set())].map(({ target }) => target) };
  };

  test('is the target of links to its anchor', async () => {
    const { html, broken } = await brokenIn({
      'a.mdx': '# Set up *now*\n\n[top](#set-up-now) [other slugger](#set_up_now)\n\n## Next',
      'b.mdx': '[a](/a#set-up-now) [c](/c#named)',
      'c.mdx': '# Other {#named}\n\nText.',
    });
    expect(broken).toEqual([]);
    expect(html[0]).toContain('<h1 id="page-title" class="page-title"><span id="set-up-now">Set up now</span></h1>');
    expect(html[0]).toContain('<a href="#set-up-now">other slugger</a>');
    expect(html[2]).toContain('<span id="named">Other</span>');
  });

  test('leaves its anchor to a section with the same one, and has precedence over the frame', async () => {
    const { html, broken } = await brokenIn({
      'a.mdx': '# Usage\n\n[usage](#usage)\n\n## Usage',
      'b.mdx': '# Header\n\n[header](#header)',
      'c.mdx': '---\nmode: custom\n---\n\n# Blank\n\n[blank](#blank)',
    });
    expect(broken).toEqual([]);
    expect(html[0]).toContain('class="page-title">Usage</h1>');
    expect(html[0]).toContain('<h2 id="usage">');
    expect(html[1]?.match(/id="header"/g)).toHaveLength(1);
    expect(html[2]).toContain('class="sr-only"><span id="blank">Blank</span></h1>');
  });
});

describe('names of links', () => {
  test('one is a target, as an id', async () => {
    const { content, page } = await renderedContent(
      '[to the type](#common.Metadata)\n\n<a name="common.Metadata"></a>\n\n### Metadata',
    );
    expect(content).toContain('<a id="common.Metadata"></a>');
    expect(page.anchors).toEqual(['common.Metadata', 'metadata']);
    expect(content).toContain('href="#common.Metadata"');
  });

  test('a heading that has the name as its id keeps it', async () => {
    const { content, page } = await renderedContent('<a name="metadata"></a>\n\n## Metadata\n\n<a name="x">words</a>');
    expect(page.anchors).toEqual(['metadata', 'x']);
    expect(content).toContain('<h2 id="metadata">');
    expect(content).toContain('<a id="x">words</a>');
  });

  test('pages in Markdown have named links, too', async () => {
    const project = await testProject({
      'page.md': '<a name="one"></a>\n\n# First <a id="two"/> words, no MDX: {\n\n<a name=\'three\'>it</a>\n',
    });
    const { page } = project.render('page');
    for (const name of ['one', 'two', 'three']) expect(page.anchors).toContain(name);
  });

  test('no form, picture, frame or object has a name', async () => {
    const { html } = await renderedContent(
      '<img src="https://a.example/b.png" alt="" name="cookie" /> <iframe src="https://a.example" name="location" /> <form name="x"><input name="y" /></form>',
    );
    expect(html).not.toMatch(/<(?!meta)[^>]*\sname=/);
  });
});

test('only addresses of known programs stay', async () => {
  const { content, codes } = await renderedContent(
    '[Cursor](cursor://anysphere.cursor-deeplink/mcp/install?name=X) [VS Code](vscode:mcp/install?x) [bad](javascript:alert(1)) [data](data:text/html,x) [file](file:///etc/passwd) [other](unknown:x)',
  );
  expect(hrefsIn(content)).toEqual(['cursor://anysphere.cursor-deeplink/mcp/install?name=X', 'vscode:mcp/install?x']);
  expect(codes).toEqual(Array.from({ length: 4 }, () => 'address-not-allowed'));
});
