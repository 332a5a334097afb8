import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { suiteBrowser } from '../support/suite-browser.ts';
import { keepPicture, serveFolder, siteFolder } from './site-folder.ts';

const link = {
  title: 'Report a problem',
  description: 'Tell us about a problem with this page.',
  icon: 'flag',
  href: { base: 'https://issues.example/new', query: [{ key: 'page', value: 'Docs: $path' }] },
};
const files = (contextual: object, more: object = {}) => ({
  'docs.json': JSON.stringify({
    name: 'Acme',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    navigation: {
      groups: [
        { group: 'Start', pages: ['index', { group: 'Folded', pages: [{ group: 'Deep', pages: ['guides/first'] }] }] },
      ],
    },
    contextual,
    ...more,
  }),
  'index.mdx':
    '---\ntitle: Start here\ndescription: All that you need to begin.\n---\n\nSome **words** of the page.\n\n## One\n\nText.\n\n## Two\n\nText.\n',
  'guides/first.mdx': '---\ntitle: First\ncontextual:\n  options: [view]\n---\n\nFirst page.\n',
});
const all = { options: ['copy', 'view', 'assistant', 'chatgpt', 'claude', 'perplexity', link] };

describeWithServers(['chromium'], 'the menu of a page', () => {
  const { newContext } = suiteBrowser();

  async function open(
    project: Record<string, string>,
    {
      deployment = 'client-hosted',
      served = true,
      path = 'index.html',
      ...context
    }: {
      deployment?: 'cloud' | 'client-hosted' | 'air-gapped';
      served?: boolean;
      path?: string;
      viewport?: { width: number; height: number };
      colorScheme?: 'dark';
      javaScriptEnabled?: boolean;
    } = {},
  ): Promise<{ page: Page; home: string; problems: string[] }> {
    const folder = await siteFolder(project, { deployment });
    const host = served ? await serveFolder(folder) : undefined;
    if (host) onTestFinished(() => host.close());
    const home = host ? `${host.url}/docs/` : `file://${folder}/`;
    const opened = await newContext({ permissions: ['clipboard-read', 'clipboard-write'], ...context });
    const page = await opened.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(home + path);
    return { page, home, problems };
  }
  const button = (page: Page) => page.getByLabel('Page menu').first();
  const entries = (page: Page) => page.locator('.page-menu li:visible').allInnerTexts();
  const addressOf = async (page: Page, name: string) =>
    (await page.getByRole('link', { name }).getAttribute('href')) ?? '';

  test('offers the endpoint for agents on a host that has it, and nowhere else', async () => {
    const { page, home } = await open(files({ options: ['view', 'mcp', 'add-mcp', 'cursor', 'vscode'] }));
    await button(page).click();
    expect(await entries(page)).toEqual(['View as Markdown']);
    await page.route('**/_bindery/config.js', async (route) => {
      const answer = await route.fetch();
      // A documentation host adds this.
      const own = `Object.assign(window.binderyConfig, { serverUrl: location.origin + '/docs', assistantKey: 'svc_dsc_${'a'.repeat(36)}', domain: 'docs' });
window.binderyConfig.features.search = 'server';`;
      await route.fulfill({ response: answer, body: `${await answer.text()}\n${own}\n` });
    });
    await page.reload();
    await button(page).click();
    expect(await entries(page)).toEqual([
      ...['View as Markdown', 'MCP', 'npx add-mcp'],
      ...['Open in Cursor (MCP)', 'Open in VS Code (MCP)'],
    ]);
    const endpoint = `${home}mcp`;
    const cursor = new URL(await addressOf(page, 'Open in Cursor (MCP)'));
    expect(JSON.parse(atob(cursor.searchParams.get('config') ?? ''))).toEqual({ url: endpoint });
    const code = (await addressOf(page, 'Open in VS Code (MCP)')).replace('vscode:mcp/install?', '');
    expect(JSON.parse(decodeURIComponent(code))).toMatchObject({ type: 'http', url: endpoint });
    await page.getByRole('button', { name: 'MCP', exact: true }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(endpoint);
  });

  test('copies the page as Markdown, and leads to it and to others with its address', async () => {
    const { page, home, problems } = await open(files(all));
    await button(page).click();
    expect(await entries(page)).toEqual([
      'Copy page',
      'View as Markdown',
      'Open in ChatGPT',
      'Open in Claude',
      'Open in Perplexity',
      'Report a problem\nTell us about a problem with this page.',
    ]);
    expect(decodeURIComponent(await addressOf(page, 'Open in Claude'))).toBe(
      `https://claude.ai/new?q=Read ${home}index.md so that I can ask questions about it.`,
    );
    expect(await addressOf(page, 'Report a problem')).toBe('https://issues.example/new?page=Docs%3A%20%2Findex');
    await page.getByRole('button', { name: 'Copy page' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await page.locator('.page-menu:not([open])').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^# Start here[^]*Some \*\*words\*\* of the page\./,
    );
    await button(page).press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    expect(await page.locator('.page-menu[open]').count()).toBe(0);
    expect(await page.evaluate('document.activeElement.tagName')).toBe('SUMMARY');
    await page.goto(`${home}guides/first.html`);
    await button(page).click();
    expect(await entries(page)).toEqual(['View as Markdown']);
    expect(problems).toEqual([]);
  });

  test('uses the address of the site from the project, also in a folder; without it a folder has no links to other sites', async () => {
    const seo = { metatags: { canonical: 'https://docs.acme.example' } };
    const { page } = await open(files(all, { seo }), { served: false });
    await button(page).click();
    expect(decodeURIComponent(await addressOf(page, 'Open in ChatGPT'))).toContain(
      'https://docs.acme.example/index.md',
    );
    const alone = await open(files(all), { served: false });
    await button(alone.page).click();
    expect(await entries(alone.page)).toEqual(['Copy page', 'View as Markdown', expect.stringContaining('Report')]);
    await alone.page.getByRole('button', { name: 'Copy page' }).click();
    await alone.page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(alone.problems).toEqual([]);
  });

  test('has no other sites in an air-gapped bundle, and does not exist without options', async () => {
    const { page } = await open(files(all), { deployment: 'air-gapped' });
    await button(page).click();
    expect(await entries(page)).toEqual(['Copy page', 'View as Markdown']);
    const empty = await open(files({ options: ['claude'] }), { deployment: 'air-gapped' });
    expect(await empty.page.locator('.page-menu:visible').count()).toBe(0);
  });

  test('stands below the contents where the project says so, and at the top where they are not shown', async () => {
    const { page } = await open(files({ ...all, display: 'toc' }), { viewport: { width: 1400, height: 900 } });
    expect(await page.locator('.table-of-contents .page-menu li:visible').count()).toBe(6);
    await keepPicture(page, 'page-menu-toc');
    const other = await open(files({ ...all, display: 'toc' }), { viewport: { width: 390, height: 844 } });
    await other.page.locator('.toc-inline summary').click();
    expect(await other.page.locator('.toc-inline .page-menu li:visible').count()).toBe(6);
    await keepPicture(other.page, 'page-menu-toc-phone');
    const without = await open(files({ ...all, display: 'toc' }), { path: 'guides/first.html' });
    await button(without.page).click();
    expect(await entries(without.page)).toEqual(['View as Markdown']);
  });

  test.each([
    ['desktop-light', { viewport: { width: 1280, height: 800 } }],
    ['desktop-dark', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' as const }],
    ['phone-light', { viewport: { width: 390, height: 844 } }],
    ['phone-dark', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const }],
  ])('fits on the screen: %s', async (name, context) => {
    const { page } = await open(files(all), context);
    await button(page).click();
    const box = await page.locator('.page-menu ul').first().boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= context.viewport.width).toBe(true);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await keepPicture(page, `page-menu-${name}`);
  });

  test('elements of an author that look like a menu get no address from the script', async () => {
    const fake =
      '<details className="page-menu"><summary>x</summary><ul><li hidden><a data-menu="service" data-base="javascript:alert(1)//" data-question="x">y</a></li></ul></details>';
    const { page } = await open({ ...files(all), 'index.mdx': `# Start\n\n${fake}\n` });
    await button(page).click();
    expect(await page.locator('.mdx-content a[data-menu]').getAttribute('href')).toBeNull();
  });

  test('opening a group leads to its first page if the project says so, and else only opens it', async () => {
    const { page, home } = await open(files(all, { interaction: { drilldown: true } }));
    await page.locator('.sidebar-folder summary', { hasText: 'Folded' }).click();
    await page.waitForURL(`${home}guides/first.html`);
    const other = await open(files(all));
    await other.page.locator('.sidebar-folder summary', { hasText: 'Folded' }).click();
    await other.page.locator('.sidebar-folder summary', { hasText: 'Deep' }).waitFor();
    expect(other.page.url()).toBe(`${other.home}index.html`);
  });
});
