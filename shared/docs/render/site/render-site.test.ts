import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { chunkKey, siteKey } from '../segment-keys.ts';
import { pageSlice } from '../page-slice.ts';
import { indexSite } from '../site-index.ts';
import { renderSite } from './render-site.ts';
import type { SearchIndex, SearchSections } from './page-globals.ts';
import type { RenderedFile, RenderedText } from '../bundle-paths.ts';
import { closingFiles, testOptions, testProject, type TestProject } from '../test-project.ts';

const files = {
  'docs.json': JSON.stringify({
    name: 'Acme',
    theme: 'mint',
    description: 'All about Acme',
    colors: { primary: '#ffff00' },
    navigation: {
      tabs: [
        {
          tab: 'Guides',
          groups: [{ group: 'Start', pages: ['start', { group: 'Deep', pages: ['deep/one', 'deep/two'] }] }],
        },
        { tab: 'News', pages: ['changelog'] },
        { tab: 'Away', href: 'https://example.com' },
      ],
    },
    redirects: [
      { source: '/old', destination: '/start' },
      { source: '/OLD', destination: '/deep/one' },
      { source: '/Start', destination: '/deep/one' },
      { source: '/a', destination: '/b' },
      { source: '/b', destination: '/a' },
      { source: '/start', destination: '/deep/one' },
      { source: '/evil', destination: 'javascript:alert(1)' },
      { source: '/wild/*', destination: '/start' },
      { source: '/out', destination: 'https://example.com/x', permanent: false },
      { source: '/older', destination: '/out' },
      { source: "/docs/Welcome to it, it's new", destination: '/deep/one' },
    ],
  }),
  'start.mdx':
    '---\ntitle: "Start </script>"\ndescription: First\n---\n\n[gone](/nowhere) [bad](/deep/one#none) [good](/deep/one#here) [moved](/old#none) [away](/out#x)',
  'deep/one.mdx': '---\ntitle: One\n---\n\n## Here\n\nwords to find',
  'deep/two.mdx': '---\ntitle: Two\nnoindex: true\n---\n\nx',
  'hidden.mdx': '---\ntitle: Hidden\n---\n\nx',
  'changelog.mdx': '---\ntitle: News\n---\n\n<Update label="v1" tags={["API"]}>\nSome & news\n</Update>',
};

const named = (made: readonly (RenderedFile | RenderedText)[]) =>
  new Map(made.map((file) => [file.path, Buffer.from(file.body).toString()]));

describe('site segment', () => {
  test('has its files, sorted, and is the same every time', async () => {
    const { model } = await testProject(files);
    const made = renderSite(model, testOptions);
    const paths = made.map((file) => file.path);
    expect(paths).toEqual([...paths].sort());
    expect(paths).toEqual(
      expect.arrayContaining([
        '404.html',
        '_bindery/config.js',
        '_bindery/navigation/guides.js',
        '_bindery/navigation/news.js',
        '_bindery/site.js',
        '_bindery/theme.css',
        '_bindery/third-party.txt',
        'index.html',
        'llms.txt',
        'robots.txt',
        'sitemap.xml',
      ]),
    );
    expect(renderSite(model, testOptions)).toEqual(made);
  });

  test('the page for missing addresses names the start page once', async () => {
    const { model } = await testProject({
      'docs.json': JSON.stringify({
        name: 'A',
        theme: 'mint',
        navigation: { pages: ['index', 'one', 'two', 'three'] },
      }),
      ...Object.fromEntries(['index', 'one', 'two', 'three'].map((name) => [`${name}.mdx`, 'x'])),
    });
    const missing = named(renderSite(model, testOptions)).get('404.html') ?? '';
    const linked = [...missing.matchAll(/data-file="([^"]+)"/g)].map(([, file]) => file);
    expect(linked).toEqual(['index.html', 'one.html', 'three.html', 'two.html']);
  });

  test('its key is independent of the texts of pages', async () => {
    const { model } = await testProject(files);
    const { model: edited } = await testProject({
      ...files,
      'deep/one.mdx': files['deep/one.mdx'].replace('find', 'seek'),
    });
    const { model: renamed } = await testProject({
      ...files,
      'deep/one.mdx': files['deep/one.mdx'].replace('One', 'Uno'),
    });
    const key = siteKey('r-000000000000', model, testOptions);
    expect(siteKey('r-000000000000', edited, testOptions)).toBe(key);
    expect(siteKey('r-000000000000', renamed, testOptions)).not.toBe(key);
  });

  test('a sidebar has the icons that its entries name: drawings, pictures, emoji', async () => {
    const icon = (name: string) => `---\nicon: ${name}\n---\n`;
    const { model } = await testProject({
      'docs.json': JSON.stringify({
        name: 'A',
        theme: 'mint',
        colors: { primary: '#111111' },
        icons: { library: 'lucide' },
        navigation: { pages: ['a', 'b', 'c', 'd', 'e'] },
      }),
      'a.mdx': icon('rocket'),
      'b.mdx': icon('/pictures/b.svg'),
      'c.mdx': icon('🚀'),
      'd.mdx': icon('icon-of-nobody'),
      'e.mdx': icon('/pictures/none.svg'),
      'pictures/b.svg': '<svg/>',
    });
    const made = named(renderSite(model, testOptions));
    const window: { binderyNavigation?: unknown } = {};
    runInNewContext(made.get('_bindery/navigation/main.js') ?? '', { window });
    expect(JSON.parse(JSON.stringify(window.binderyNavigation))).toMatchObject({
      frames: [expect.stringMatching(/^<svg class="icon" viewBox="0 0 24 24" [^>]*>$/)],
      icons: {
        rocket: { frame: 0, shapes: expect.stringMatching(/^<path d="[^]*<\/path>$/) as string },
        '/pictures/b.svg': { picture: 'pictures/b.svg' },
        '🚀': { text: '🚀' },
      },
    });
    expect(made.get('_bindery/third-party.txt')).toMatch(/Lucide[^]*Font Awesome[^]*creativecommons[^]*Tabler/);
  });

  test('sidebars are data in classic scripts, one per division', async () => {
    const { model } = await testProject(files);
    const script = named(renderSite(model, testOptions)).get('_bindery/navigation/guides.js') ?? '';
    expect(script).not.toContain('</script>');
    const window: { binderyNavigation?: unknown } = {};
    runInNewContext(script, { window });
    expect(JSON.parse(JSON.stringify(window.binderyNavigation))).toMatchObject({
      entries: [
        {
          t: 'Start',
          c: [
            { t: 'Start </script>', p: 'start' },
            {
              t: 'Deep',
              c: [
                { t: 'One', p: 'deep/one' },
                { t: 'Two', p: 'deep/two' },
              ],
            },
          ],
        },
      ],
    });
  });

  test('redirects are pages, except loops, names of pages, wildcards and other protocols', async () => {
    const { model } = await testProject(files);
    const made = named(renderSite(model, testOptions));
    expect(made.get('old.html')).toContain('content="0; url=./start.html"');
    expect(made.get('out.html')).toContain('url=https://example.com/x');
    expect(made.get("docs/Welcome to it, it's new.html")).toContain('url=../deep/one.html');
    // A chain of redirects is permanent only if each step is.
    const isPermanent = (path: string) => made.get(path)?.includes('<meta name="redirect" content="permanent">');
    expect(['old', 'out', 'older', 'index'].map((path) => isPermanent(`${path}.html`))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    for (const path of ['a.html', 'b.html', 'start.html', 'evil.html', 'wild/*.html'])
      expect(made.has(path)).toBe(false);
    expect(made.get('index.html')).toContain('url=./start.html');
    expect(JSON.parse(made.get('_bindery/redirects.json') ?? '')).toEqual({
      formatVersion: 1,
      redirects: [{ source: '/wild/*', destination: '/start', permanent: true }],
    });
    const names = [...made.keys()].map((path) => path.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
  });

  test('the sitemap and llms.txt follow the visibility matrix', async () => {
    const { model } = await testProject(files);
    const made = named(renderSite(model, testOptions));
    expect(made.get('sitemap.xml')?.match(/<loc>.*?<\/loc>/g)).toEqual([
      '<loc>/changelog</loc>',
      '<loc>/deep/one</loc>',
      '<loc>/start</loc>',
    ]);
    const llms = made.get('llms.txt') ?? '';
    expect(llms).toMatch(
      /^# Acme\n\n> All about Acme\n\n## Start\n\n- \[Start <\/script>\]\(\/start\.md\): First\n- \[One\]\(\/deep\/one\.md\)\n\n## Docs\n\n- \[News\]/,
    );
    expect(llms).not.toMatch(/Hidden|Two/);
  });

  test('llms.txt has a section for each outermost group, and names of its own sections stay theirs', async () => {
    const group = (group: string, ...pages: unknown[]) => ({ group, pages });
    const { model } = await testProject({
      'docs.json': JSON.stringify({
        ...{ name: 'A', theme: 'mint', colors: { primary: '#000' } },
        navigation: { pages: ['index', group('Guides', 'one', group('Deep', 'two')), group('Optional', 'three')] },
      }),
      ...Object.fromEntries(
        ['index', 'one', 'two', 'three'].map((name) => [`${name}.mdx`, `---\ntitle: ${name}\n---\n`]),
      ),
    });
    const llms = named(renderSite(model, testOptions)).get('llms.txt') ?? '';
    const lines = (...names: string[]) => names.map((name) => `- [${name}](/${name}.md)`).join('\n');
    expect(llms.trim()).toBe(
      `# A\n\n## Docs\n\n${lines('index')}\n\n## Guides\n\n${lines('one', 'two')}\n\n## Docs: Optional\n\n${lines('three')}`,
    );
  });

  test('agents find the skills of a site in an index with digests, and in that of earlier clients', async () => {
    const skill = '---\nname: deploy\ndescription: Deploy to production.\n---\n\n# Deploy\n';
    const { model } = await testProject({
      ...files,
      '.mintlify/skills/deploy/SKILL.md': skill,
      '.mintlify/skills/Bad Name/SKILL.md': skill,
      '.mintlify/skills/silent/SKILL.md': '# Nothing\n',
    });
    expect(model.diagnostics.filter(({ code }) => code === 'bad-assistant-file')).toHaveLength(2);
    const made = named(renderSite(model, testOptions));
    const folder = '.well-known/agent-skills';
    const index = JSON.parse(made.get(`${folder}/index.json`) ?? '') as {
      skills: { name: string; url: string; digest: string }[];
    };
    expect(index.skills.map(({ name }) => name)).toEqual(['acme', 'deploy']);
    for (const { name, url, digest } of index.skills) {
      expect(url).toBe(`/${folder}/${name}/SKILL.md`);
      expect(digest).toBe(`sha256:${sha256Of(made.get(url.slice(1)) ?? '')}`);
    }
    expect(made.get(`${folder}/deploy/SKILL.md`)).toBe(skill);
    expect(made.get(`${folder}/acme/SKILL.md`)).toBe(made.get('skill.md'));
    const earlier = JSON.parse(made.get('.well-known/skills/index.json') ?? '') as { skills: object[] };
    expect(earlier.skills[1]).toEqual({ name: 'deploy', description: 'Deploy to production.', files: ['SKILL.md'] });
    expect(made.get('.well-known/skills/deploy/SKILL.md')).toBe(skill);
  });

  test('a file of the project replaces a generated one', async () => {
    const { model } = await testProject({ ...files, 'robots.txt': 'own' });
    expect(named(renderSite(model, testOptions)).has('robots.txt')).toBe(false);
  });

  test('config.js has the features of the deployment type and the settings of the request', async () => {
    const { model } = await testProject(files);
    const configOf = (options: Partial<typeof testOptions>) => {
      const window: { binderyConfig?: object } = {};
      const made = named(renderSite(model, { ...testOptions, ...options })).get('_bindery/config.js') ?? '';
      runInNewContext(made, { window });
      return JSON.parse(JSON.stringify(window.binderyConfig)) as { features: object };
    };
    const features = (deployment: 'cloud' | 'client-hosted' | 'air-gapped') => configOf({ deployment }).features;
    expect(features('cloud')).toEqual({ search: 'server', assistant: true, analytics: true, playground: true });
    expect(features('client-hosted')).toEqual({
      search: 'bundle',
      assistant: false,
      analytics: false,
      playground: true,
    });
    expect(features('air-gapped')).toEqual({ search: 'off', assistant: false, analytics: false, playground: false });
    const site = { serverUrl: 'https://b.test', assistantKey: 'svc_dsc_</script>', features: { playground: false } };
    expect(configOf({ deployment: 'cloud', domain: 'acme', site })).toMatchObject({
      deployment: 'cloud',
      features: { search: 'server', assistant: true, analytics: true, playground: false },
      serverUrl: 'https://b.test',
      assistantKey: 'svc_dsc_</script>',
      domain: 'acme',
    });
  });

  test('the content of config.js is part of the key of the site segment, but not of pages', async () => {
    const { model } = await testProject(files);
    const site = { serverUrl: 'https://b.test' };
    const keys = [testOptions, { ...testOptions, site }, { ...testOptions, domain: 'other' }].map((options) =>
      siteKey('r-000000000000', model, options),
    );
    expect(new Set(keys).size).toBe(3);
    const index = indexSite(model);
    const withSite = { ...testOptions, site };
    expect(pageSlice(index, 'start', withSite)).toEqual(pageSlice(index, 'start', testOptions));
    expect(chunkKey('test', [], withSite)).toBe(chunkKey('test', [], testOptions));
  });
});

describe('closing segment', () => {
  const closing = async (project: TestProject) => {
    const site = renderSite(project.model, testOptions);
    const rendered = project.model.pages.map((page) => project.render(page.path));
    const files = rendered.flatMap((page) => page.files);
    const pages = rendered.map(({ page }) => page);
    const made = await closingFiles(project.model, pages, { domain: 'acme', label: 'v1', site, files });
    return { made, all: [...site, ...files] };
  };

  test('the manifest lists every file except itself and config.js, with size and hash', async () => {
    const { made, all } = await closing(await testProject(files));
    expect(made.at(-1)?.path).toBe('_bindery/manifest.json');
    const manifest = JSON.parse(named(made).get('_bindery/manifest.json') ?? '') as {
      label: string;
      domain: string;
      files: { path: string; size: number; sha256: string }[];
    };
    const bundle = [...all, ...made].filter(
      ({ path }) => path !== '_bindery/config.js' && path !== '_bindery/manifest.json',
    );
    expect(manifest.files.map(({ path }) => path)).toEqual(bundle.map(({ path }) => path).sort());
    for (const { path, size, sha256 } of manifest.files) {
      const body = bundle.find((file) => file.path === path)?.body ?? new Uint8Array();
      expect([path, size, sha256]).toEqual([path, body.length, sha256Of(body)]);
    }
    expect(manifest).toMatchObject({ domain: 'acme', label: 'v1' });
  });

  test('the report names broken links and anchors', async () => {
    const { made } = await closing(await testProject(files));
    const report = JSON.parse(named(made).get('_bindery/report.json') ?? '') as Record<string, unknown>;
    expect(report['byCode']).toContainEqual(
      expect.objectContaining({ code: 'broken-link', severity: 'warning', count: 1, files: 1 }),
    );
    expect(report['byCode']).toContainEqual(expect.objectContaining({ code: 'broken-anchor', count: 2, files: 1 }));
    expect(report['brokenLinks']).toEqual([
      { page: 'start', line: 6, column: 1, target: '/nowhere', reason: 'no such page or file' },
      ...[
        { column: 18, target: '/deep/one#none', leadsTo: '/deep/one#none' },
        { column: 63, target: '/old#none', leadsTo: '/start#none' },
      ].map((link) => ({ page: 'start', line: 6, ...link, reason: 'no such anchor' })),
    ]);
    const listed = Object.values(report['pages'] as Record<string, { severity: string; code: string }[]>).flat();
    expect(listed.filter(({ code }) => code.startsWith('broken'))).toEqual([]);
    const site = report['site'] as { severity: string }[];
    expect(report['summary']).toMatchObject({
      brokenLinks: 3,
      warnings: 3 + [...listed, ...site].filter(({ severity }) => severity === 'warning').length,
    });
  });

  test('search index, full text and feed have their content, escaped', async () => {
    const made = named((await closing(await testProject(files))).made);
    const window: { binderySearchIndex?: SearchIndex } = {};
    const sections: SearchSections = [];
    const binderySearchPart = (_: number, found: SearchSections) => sections.push(...found);
    const index = made.get('_bindery/search-index.js') ?? '';
    const part = made.get('_bindery/search/0.js') ?? '';
    runInNewContext(`${index}${part}`, { window, binderySearchPart });
    expect(index + part).not.toContain('</script>');
    const { pages = [], parts, scopes, trails } = window.binderySearchIndex ?? {};
    expect(JSON.parse(JSON.stringify({ parts, scopes, trails }))).toEqual({
      parts: [pages.length],
      scopes: [['', '']],
      trails: ['', 'Start › Deep', 'Start'],
    });
    const at = pages.findIndex(([path]) => path === 'deep/one');
    expect(JSON.stringify(sections[at])).toContain('words to find');
    expect(JSON.stringify([pages, sections])).not.toContain('Hidden');
    expect(made.get('llms-full.txt')).toContain('# One\nSource: /deep/one\n');
    expect(made.get('changelog/rss.xml')).toMatch(
      /<title>v1<\/title><link>\/changelog#v1<\/link>.*Some &amp;amp; news.*<category>API<\/category>/s,
    );
  });

  test('feed and sitemap are valid XML for any characters, and feed readers see no markup', async () => {
    const odd = '\\u0000\\u0007\\u001b\\ud800\\ufffe\\uffff';
    const project = await testProject({
      'docs.json': JSON.stringify({
        name: 'Bell \u0007',
        theme: 'mint',
        colors: { primary: '#ffff00' },
        navigation: { pages: ['index', 'bell\u202e'] },
      }),
      'index.mdx': `---\ntitle: "A ${odd.replaceAll('\\ud800', '')}"\n---\n\n<Update label={"v ${odd}"} tags={["t ${odd}"]} id={"${'x'.repeat(199)}😀"}>\nSend \`<img src=x onerror=alert(1)>\` \u0007.\n</Update>`,
      'bell\u202e.mdx': '# x',
    });
    const { made, all } = await closing(project);
    const feed = named(made).get('index/rss.xml') ?? '';
    expect(feed).toContain('<description>Send &amp;lt;img src=x onerror=alert(1)&amp;gt;');
    for (const text of [feed, named(all).get('sitemap.xml') ?? '']) {
      expect(text).toMatch(/^<\?xml/);
      expect(text).toMatch(/^[\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u);
    }
  });
});
