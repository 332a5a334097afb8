import type { Element } from 'hast';
import { fromHtml } from 'hast-util-from-html';
import { visit } from 'unist-util-visit';
import { describe, expect, test } from 'vitest';
import { testProject } from '../test-project.ts';

const settings = {
  name: 'Acme',
  theme: 'mint',
  colors: { primary: '#0f766e' },
  styling: { eyebrows: 'breadcrumbs' },
  seo: {
    metatags: { canonical: 'https://acme.test/docs/', 'og:image': '/images/social.png', 'twitter:site': '@acme' },
    organization: { name: 'Acme Inc', logo: 'https://acme.test/logo.png', sameAs: ['https://x.test', 'javascript:x'] },
  },
  navigation: {
    languages: [
      {
        language: 'en',
        groups: [{ group: 'Start', pages: ['index', { group: 'Deep', pages: ['deep/one', 'deep/two'] }] }],
      },
      { language: 'ja', groups: [{ group: '開始', pages: ['ja/index', 'ja/deep/one'] }] },
      { language: 'cn', groups: [{ group: '开始', pages: ['cn/index'] }] },
    ],
  },
};
const files = {
  'docs.json': JSON.stringify(settings),
  'index.mdx': '---\ntitle: Home\n---\n\nx',
  'deep/one.mdx': `---
title: "One </script><!--"
description: "Run \`npm i\` as [said](/index) with *care*, <b> & co"
keywords: [a, "b<"]
lastUpdatedDate: "2026-08-13T10:00:00Z"
timestamp: true
"og:image": images/own.png
"og:title": Own
"twitter:card": summary
"onload": x
---

x`,
  'deep/two.mdx': '---\ntitle: Two\nnoindex: true\napi: GET /x\ndescription: "1. Not a list"\n---\n\nx',
  'ja/index.mdx': '---\ntitle: ホーム\n---\n\nx',
  'ja/deep/one.mdx': '---\ntitle: 一\nlastUpdatedDate: "2026-02-31"\ntimestamp: true\n---\n\nx',
  'ja/hidden.mdx': '---\ntitle: 隠\n---\n\nx',
  'cn/index.mdx': '---\ntitle: 家\nlastUpdatedDate: 2026-01-05\ntimestamp: true\n---\n\nx',
};

type Node = Record<string, unknown>;

async function head(path: string, changed: Record<string, string> = {}) {
  const project = await testProject({ ...files, ...changed });
  const html = Buffer.from(project.render(path).files[0]?.body ?? '').toString();
  const meta = new Map<string, string>();
  const links: string[] = [];
  let graph: Node[] = [];
  visit(fromHtml(html), 'element', ({ tagName, properties, children: [text] }: Element) => {
    if (tagName === 'meta') meta.set(String(properties.name ?? properties.property), String(properties.content));
    if (tagName === 'link')
      links.push([properties.rel, properties.hrefLang, properties.href].flat().filter(Boolean).join(' '));
    if (tagName === 'script' && properties.type === 'application/ld+json' && text?.type === 'text')
      graph = (JSON.parse(text.value) as { '@graph': Node[] })['@graph'];
  });
  return { html, meta, links, graph };
}

describe('the head of a page', () => {
  test('has tags of the page before those of the site; pictures have absolute addresses', async () => {
    const { meta } = await head('deep/one');
    expect(Object.fromEntries(meta)).toMatchObject({
      description: 'Run npm i as said with care, <b> & co',
      keywords: 'a, b<',
      'og:title': 'Own',
      'og:description': 'Run npm i as said with care, <b> & co',
      'og:url': 'https://acme.test/docs/deep/one',
      'og:image': 'https://acme.test/docs/images/own.png',
      'og:site_name': 'Acme',
      'twitter:card': 'summary',
      'twitter:site': '@acme',
    });
    expect(meta.has('onload')).toBe(false);
    expect((await head('index')).meta.get('twitter:card')).toBe('summary_large_image');
  });

  test('names the page in other languages, and its neighbours', async () => {
    const { links } = await head('deep/one');
    expect(links).toEqual(
      expect.arrayContaining([
        'canonical https://acme.test/docs/deep/one',
        'alternate en https://acme.test/docs/deep/one',
        'alternate ja https://acme.test/docs/ja/deep/one',
        'alternate x-default https://acme.test/docs/deep/one',
        'prev ../index.html',
        'next ../deep/two.html',
      ]),
    );
    expect(links.filter((link) => link.includes('alternate zh'))).toEqual([]);
    expect((await head('cn/index')).links).toContain('alternate zh-CN https://acme.test/docs/cn');
  });

  test('has an article and its breadcrumbs, safe against any title', async () => {
    const { graph, html } = await head('deep/one');
    expect(graph).toMatchObject([
      {
        '@type': 'TechArticle',
        headline: 'One </script><!--',
        dateModified: '2026-08-13',
        inLanguage: 'en',
        keywords: ['a', 'b<'],
        publisher: { name: 'Acme Inc', logo: 'https://acme.test/logo.png', sameAs: ['https://x.test/'] },
      },
      {
        itemListElement: [
          { position: 1, name: 'Acme', item: 'https://acme.test/docs' },
          { name: 'Start', item: 'https://acme.test/docs/' },
          { name: 'Deep', item: 'https://acme.test/docs/deep/one' },
          { position: 4, item: 'https://acme.test/docs/deep/one' },
        ],
      },
    ]);
    expect(html.match(/<!--/g)).toBeNull();
  });

  test('has no structured data if search engines should not index it', async () => {
    const { graph, meta } = await head('deep/two');
    expect(graph).toEqual([]);
    expect(meta.get('robots')).toBe('noindex');
  });

  test('has no addresses if the site states none', async () => {
    const { seo, ...rest } = settings;
    const { meta, links, graph } = await head('deep/one', { 'docs.json': JSON.stringify(rest) });
    expect(meta.has('og:image')).toBe(false);
    expect(links.filter((link) => link.includes('http'))).toEqual([]);
    expect(graph).toHaveLength(1);
    expect(JSON.stringify(graph)).not.toContain('"url"');
  });
});

describe('the page', () => {
  test('has its description formatted, as one line of text', async () => {
    const { html } = await head('deep/one');
    expect(html).toContain(
      '<p class="page-description">Run <code>npm i</code> as <a href="../index.html">said</a> with <em>care</em>, &lt;b&gt; &amp; co</p>',
    );
    expect((await head('deep/two')).html).toContain('<p class="page-description">1. Not a list</p>');
  });

  test('has its groups as breadcrumbs', async () => {
    const { html } = await head('deep/two');
    expect(html).toMatch(
      /<li class="breadcrumb-item"><a href="..\/index.html">Start<\/a><\/li><li[^>]*><a href="..\/deep\/one.html">Deep/,
    );
  });

  test('is in its language, with dates', async () => {
    const japanese = (await head('ja/deep/one')).html;
    expect(japanese).toContain('<html lang="ja"');
    expect(japanese).toContain('_bindery/texts/ja.js"></script>');
    expect(japanese).toContain('本文へ移動');
    expect(japanese).not.toContain('last-modified');
    expect((await head('cn/index')).html).toContain('最后修改于 <time datetime="2026-01-05">2026年1月5日</time>');
    expect((await head('deep/one')).html).toContain(
      'Last modified on <time datetime="2026-08-13">August 13, 2026</time>',
    );
  });

  test('has the language of its folder, or that of the site, outside of the navigation', async () => {
    expect((await head('ja/hidden')).html).toContain('<html lang="ja"');
  });
});
