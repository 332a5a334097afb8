import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { SiteConfig } from '#shared/docs/render/site/page-globals.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { ownDocumentation } from '../support/docs-projects.ts';
import { bearer, createOrganization, gatewayHarness } from '../support/gateway-harness.ts';
import { assistantBehind } from '../clients/assistant-harness.ts';
import { suiteBrowser } from '../support/suite-browser.ts';
import { serveFolder, siteFolder, siteInBrowser } from './site-folder.ts';

const page = (title: string, text: string): string => `---\ntitle: "${title}"\n---\n\n${text}\n`;

const files = {
  'docs.json': JSON.stringify({
    name: 'Acme',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    search: { prompt: 'Search Acme…' },
    navigation: {
      languages: [
        {
          language: 'en',
          groups: [{ group: 'Guides', pages: ['index', { group: 'Keys', pages: ['guides/keys', 'guides/export'] }] }],
        },
        { language: 'ja', pages: ['ja/index'] },
        { language: 'ar', pages: ['ar/index'] },
      ],
    },
  }),
  'index.mdx': page('Start', 'Welcome to [keys](/guides/keys).\n\n## First steps\n\nOpen the dashboard.'),
  'guides/keys.mdx': page(
    'API keys',
    `Keys open the interface.\n\n## Rotate a key\n\nPress Rotate on the <b>keys</b> page; the dashboard shows it.\n\n${'Filler text. '.repeat(200)}`,
  ),
  'guides/export.mdx': page('Static export', 'An export is one archive.\n\n## Start a job\n\nSend a request.'),
  'ja/index.mdx': page('はじめに', 'API キーの使い方。\n\n## 公開\n\nドキュメントを公開する方法。'),
  'ar/index.mdx': page('البداية', 'مفاتيح API.\n\n## التصدير\n\nالتصدير أرشيف واحد.'),
};

/** Opens the search and types a query. */
async function ask(opened: Page, query: string): Promise<void> {
  await opened.keyboard.press('/');
  await opened.locator('.search-input').fill(query);
}
const whenFound = (opened: Page, text: string): Promise<void> =>
  opened.locator('.search-dialog:not(.is-busy) .search-result', { hasText: text }).first().waitFor();
const titles = (opened: Page): Promise<string[]> => opened.locator('.search-title').allTextContents();

describeWithServers(['chromium'], 'the search in the bundle', () => {
  const { open, newContext, folder, problems, keepPicture } = siteInBrowser(files);

  test('is a combobox that loads when it opens: arrows move in its list, Enter leads to the section', async () => {
    const opened = await open('index.html');
    const loaded: string[] = [];
    opened.on('request', (request) => loaded.push(request.url().replace(/.*_bindery\//, '')));
    await ask(opened, 'key rotate');
    await whenFound(opened, 'Rotate a key');
    expect(loaded).toEqual(['search.js', 'search-index.js', expect.stringMatching(/^search\/\d\.js$/)]);
    const input = opened.getByRole('combobox');
    expect(await input.getAttribute('placeholder')).toBe('Search Acme…');
    expect(await input.getAttribute('aria-expanded')).toBe('true');
    const active = async () => {
      const option = opened.locator('[role=listbox] [role=option][aria-selected=true]');
      expect(await option.getAttribute('id')).toBe(await input.getAttribute('aria-activedescendant'));
      return await option.locator('.search-title, .search-body').last().textContent();
    };
    expect(await active()).toBe('API keys');
    await opened.keyboard.press('ArrowUp');
    expect(await active()).toBe('Search all versions and languages');
    for (const key of ['ArrowDown', 'ArrowDown']) await opened.keyboard.press(key);
    expect(await active()).toBe('Rotate a key');
    expect(await opened.locator('.search-trail').first().textContent()).toBe('Guides › Keys');
    expect(await opened.locator('mark').allTextContents()).toEqual(expect.arrayContaining(['Rotate', 'keys']));
    expect(await opened.getByRole('status').textContent()).toMatch(/^\d+ results$/);
    await opened.keyboard.press('Enter');
    await opened.waitForURL(/guides\/keys\.html#rotate-a-key$/);
    // Earlier queries with a chosen result are offered again.
    await opened.keyboard.press('Control+k');
    await expect.poll(() => opened.locator('.search-recent').allTextContents()).toEqual(['key rotate']);
    for (const key of ['ArrowDown', 'Enter']) await opened.keyboard.press(key);
    await whenFound(opened, 'Rotate a key');
    await opened.keyboard.press('Escape');
    await opened.locator('.search-dialog').waitFor({ state: 'hidden' });
    expect(problems).toEqual([]);
  });

  test('has the pages of the reader’s language first, and all of them when asked', async () => {
    const opened = await open('index.html');
    await ask(opened, 'api');
    await whenFound(opened, 'API keys');
    expect(await titles(opened)).not.toContain('はじめに');
    await opened.locator('.search-everywhere').click();
    await whenFound(opened, 'はじめに');
    expect(await titles(opened)).toContain('البداية');
  });

  test('finds words of languages without spaces, and runs from right to left where the page does', async () => {
    const japanese = await open('ja/index.html');
    await ask(japanese, '公開方法');
    await whenFound(japanese, '公開');
    expect(await titles(japanese)).toEqual(['はじめに', '公開']);
    const arabic = await open('ar/index.html', { viewport: { width: 390, height: 844 } });
    await ask(arabic, 'التصدير');
    await whenFound(arabic, 'البداية');
    const icon = await arabic.locator('.search-result svg').first().boundingBox();
    const text = await arabic.locator('.search-title').first().boundingBox();
    expect(icon?.x).toBeGreaterThan(text?.x ?? Infinity);
    await keepPicture(arabic, 'search-rtl');
  });

  test('says that nothing was found, in words that are text', async () => {
    const opened = await open('index.html');
    await ask(opened, '<img src=x onerror=alert(1)> $& qqqq');
    const note = opened.locator('.search-note', { hasText: 'Nothing was found' });
    await note.waitFor();
    expect(await note.textContent()).toContain('“<img src=x onerror=alert(1)> $& qqqq”');
    expect(await opened.locator('.search-dialog img').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('says when the index is missing', async () => {
    const context = await newContext();
    await context.route('**/_bindery/search-index.js', (route) => route.abort());
    const opened = await context.newPage();
    await opened.goto(`file://${folder()}/index.html`);
    await ask(opened, 'keys');
    await opened.locator('.search-note', { hasText: 'is not available' }).waitFor();
  });
});

describeWithServers(['chromium'], 'a site by its deployment type', () => {
  vi.setConfig({ testTimeout: 60_000 });
  const { newContext } = suiteBrowser();

  /** The start page of a site, with every request of its pages to other servers. */
  async function site(
    options: NonNullable<Parameters<typeof siteFolder>[1]>,
    of: Parameters<typeof siteFolder>[0] = files,
  ) {
    const folder = await siteFolder(of, options);
    const context = await newContext();
    const opened = await context.newPage();
    const left: string[] = [];
    const said: string[] = [];
    opened.on('request', (request) => {
      if (!request.url().startsWith(`file://${folder}/`)) left.push(request.url());
    });
    opened.on('console', (message) => said.push(message.text()));
    const visit = (path: string) => opened.goto(`file://${folder}/${path}`);
    await visit('index.html');
    const { features } = await opened.evaluate<SiteConfig>('window.binderyConfig');
    const hasSearch = await opened.locator('.search-entry').isVisible();
    const hasAssistant = (await opened.locator('.assistant-entry').count()) === 1;
    return { opened, visit, left, said, seen: { ...features, hasAssistant, hasSearch } };
  }

  const key = `svc_dsc_${'0'.repeat(36)}`;
  const platform = { serverUrl: 'https://bindery.test', assistantKey: key };

  test('cloud has everything, with a key; without one it searches its own index and says so', async () => {
    const cloud = await site({ deployment: 'cloud', domain: 'acme', site: platform });
    expect(cloud.seen).toEqual({
      ...{ search: 'server', assistant: true, analytics: true, playground: true },
      ...{ hasAssistant: true, hasSearch: true },
    });
    expect(cloud.said).toEqual([]);
    const keyless = await site({ deployment: 'cloud', domain: 'acme', site: { serverUrl: platform.serverUrl } });
    expect(keyless.seen).toMatchObject({ search: 'bundle', hasAssistant: false, hasSearch: true });
    expect(keyless.said.join()).toContain('Without assistantKey');
  });

  test('client-hosted has the requested features; by default its own search and the playground', async () => {
    const plain = await site({ deployment: 'client-hosted', domain: 'acme', site: platform });
    expect(plain.seen).toEqual({
      ...{ search: 'bundle', assistant: false, analytics: false, playground: true },
      ...{ hasAssistant: false, hasSearch: true },
    });
    const features = { search: 'server', assistant: true, playground: false } as const;
    const chosen = await site({ deployment: 'client-hosted', domain: 'acme', site: { ...platform, features } });
    expect(chosen.seen).toMatchObject({ ...features, analytics: false, hasAssistant: true });
  });

  test('air-gapped has none of them, and 30 pages load without a request that leaves the site', async () => {
    const own = Object.fromEntries(
      readdirSync(ownDocumentation, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((file) => [file.slice(ownDocumentation.length + 1), readFileSync(file)]),
    );
    const gapped = await site({ deployment: 'air-gapped', domain: 'docs' }, own);
    expect(gapped.seen).toEqual({
      ...{ search: 'off', assistant: false, analytics: false, playground: false },
      ...{ hasAssistant: false, hasSearch: false },
    });
    const all = Object.keys(own).filter((path) => path.endsWith('.mdx'));
    // Spread over all folders.
    const pages = all.filter(
      (_path, at) => Math.floor(((at + 1) * 30) / all.length) > Math.floor((at * 30) / all.length),
    );
    expect(pages).toHaveLength(30);
    for (const path of pages) await gapped.visit(path.replace(/\.mdx$/, '.html'));
    await gapped.opened.keyboard.press('/');
    expect(await gapped.opened.locator('.search-dialog').count()).toBe(0);
    expect(gapped.left).toEqual([]);
    expect(gapped.said).toEqual([]);
  }, 300_000);

  test('air-gapped with an index searches without a request that leaves the site', async () => {
    const { opened, left } = await site({
      deployment: 'air-gapped',
      domain: 'acme',
      site: { features: { search: 'bundle' } },
    });
    await ask(opened, 'archive');
    await whenFound(opened, 'Static export');
    expect(left).toEqual([]);
  });
});

describeWithServers(['chromium'], 'the search of the platform', () => {
  vi.setConfig({ testTimeout: 60_000 });
  const { newContext } = suiteBrowser();

  /** A page of an unpacked cloud bundle on a web server, and the gateway that its config.js names. */
  async function start() {
    const gateway = await gatewayHarness({}, assistantBehind());
    onTestFinished(() => gateway.close());
    const { assistantKey } = await createOrganization(gateway);
    // Pages wait six seconds for an answer; the first one of a process on a busy machine may take longer.
    await gateway.app.inject({
      method: 'POST',
      url: '/discovery/v1/search/docs',
      headers: bearer(assistantKey),
      payload: { query: 'key' },
    });
    const serverUrl = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
    const { 'guides/keys.mdx': keys, 'guides/export.mdx': exported } = files;
    const options = { deployment: 'cloud', domain: 'docs', site: { serverUrl, assistantKey } } as const;
    const folder = await siteFolder(
      { 'index.mdx': '', 'guides/keys.mdx': keys, 'guides/export.mdx': exported },
      options,
    );
    const host = await serveFolder(folder);
    onTestFinished(() => host.close());
    const context = await newContext();
    const opened = await context.newPage();
    const requests: string[] = [];
    opened.on('request', (request) => requests.push(request.url()));
    await opened.goto(`${host.url}/docs/index.html`);
    return { opened, context, requests };
  }

  test('answers a bundle on any web server: its passages lead to the pages of the bundle', async () => {
    const { opened, requests } = await start();
    await ask(opened, 'rotate a key');
    await whenFound(opened, 'Rotate a key');
    // The platform has other texts than the bundle.
    await whenFound(opened, 'The old key works for one more day');
    expect(requests.filter((url) => url.includes('search-index'))).toEqual([]);
    await opened.locator('.search-section', { hasText: 'Rotate a key' }).click();
    await opened.waitForURL(/\/docs\/guides\/keys\.html#rotate-a-key$/);
  });

  test('sends one request for a query that is typed at once', async () => {
    const { opened, requests } = await start();
    await opened.keyboard.press('/');
    await opened.locator('.search-input').waitFor();
    await opened.evaluate(`for (const typed of ['r', 'ro', 'rot', 'rotate']) {
      const input = document.querySelector('.search-input');
      input.value = typed;
      input.dispatchEvent(new Event('input', { bubbles: true }));
    }`);
    await whenFound(opened, 'Rotate a key');
    expect(requests.filter((url) => url.includes('/discovery/v1/search/docs'))).toHaveLength(1);
  });

  test('shows only results that are pages of the site, as text of bounded length', async () => {
    const { opened, context } = await start();
    const about = { title: '<b>Keys</b>', heading: 'Old', url: '/x#%E0%A4' };
    const passage = { content: 'word', path: 'guides/keys', metadata: about };
    const json = [
      ...['/evil.example/a', '//evil.example', '../../other/a', 'a/./b', '', 7].map((path) => ({ ...passage, path })),
      ...[null, 'x', { ...passage, metadata: null }, { ...passage, content: {} }],
      { ...passage, metadata: { ...about, title: 5 } },
      { ...passage, content: 'word '.repeat(400_000) },
    ];
    await context.route('**/discovery/**', (route) =>
      route.fulfill({ headers: { 'access-control-allow-origin': '*' }, json }),
    );
    await ask(opened, 'word');
    await whenFound(opened, '<b>Keys</b>');
    const links = await opened
      .locator('.search-results a[href]')
      .evaluateAll((all) => all.map((a) => a.getAttribute('href')));
    expect(links).toEqual(['./guides/keys.html', './guides/keys.html#%25E0%25A4']);
    expect(await opened.locator('.search-text mark').count()).toBeGreaterThan(5);
    expect((await opened.locator('.search-text').textContent())?.length).toBeLessThan(200);
  });

  test.each([
    ['is not reachable', 'is not available right now', 'abort'],
    ['has had too many requests', 'too many searches', 429],
    ['refuses the key', 'the key of this site was rejected', 401],
  ] as const)('searches the bundle when the platform %s, and says so', async (_, sentence, answer) => {
    const { opened, context } = await start();
    await context.route('**/discovery/**', (route) =>
      answer === 'abort'
        ? route.abort()
        : route.fulfill({ status: answer, headers: { 'access-control-allow-origin': '*' }, json: {} }),
    );
    await ask(opened, 'archive');
    await whenFound(opened, 'Static export');
    expect(await opened.locator('.search-note').textContent()).toMatch(
      new RegExp(`${sentence}.*The results come from this copy of the site\\.$`),
    );
  });
});
