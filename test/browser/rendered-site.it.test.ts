import { expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { serveFolder, siteInBrowser } from './site-folder.ts';

const code = (language: string, title: string) =>
  `\`\`\`${language} ${title}\nconst example = "${title}"; ${'// long '.repeat(20)}\n\`\`\``;
const files = {
  'docs.json': JSON.stringify({
    name: 'Acme',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    navigation: {
      tabs: [
        {
          tab: 'Guides',
          groups: [
            { group: 'Start', pages: ['index', { group: 'Deep', pages: ['deep/one', 'deep/two', 'deep/100%'] }] },
          ],
        },
        { tab: 'Reference', pages: ['reference'] },
      ],
    },
    navbar: {
      links: [{ label: 'Blog', href: 'https://example.com' }],
      primary: { type: 'button', label: 'Sign up', href: 'https://example.com' },
    },
    footer: { socials: { github: 'https://github.com/acme' } },
  }),
  'index.mdx': `---
title: Welcome
description: Everything there is to know.
---

Words, **strong** ones, \`code\`, and a [link](/deep/one#part).

<Tabs>
  <Tab title="JavaScript">First JS</Tab>
  <Tab title="Python">First Python</Tab>
</Tabs>

<CodeGroup>

${code('js', 'JavaScript')}

${code('python', 'Python')}

</CodeGroup>

<Warning>Take care.</Warning>

<CardGroup cols={2}>
  <Card title="One" icon="rocket" href="/deep/one">Go</Card>
  <Card title="Two" icon="key" href="/deep/two">There</Card>
</CardGroup>

<Steps><Step title="Do">this</Step><Step title="Then">that</Step></Steps>

## Section

| A | B | C | D | E | F |
| - | - | - | - | - | - |
| ${'long words here | '.repeat(6)}

<Accordion title="Closed"><span id="inside">Hidden text</span></Accordion>

### Deeper

${'Paragraph.\n\n'.repeat(40)}
`,
  'deep/one.mdx': '---\ntitle: One\n---\n\n## Part\n\nfindable words\n',
  'deep/two.mdx': '---\ntitle: Two\n---\n\nx\n',
  'deep/100%.mdx': '---\ntitle: All of it\n---\n\nx\n',
  'reference.mdx':
    '---\ntitle: Reference\n---\n\n<RequestExample>\n\n```bash cURL\ncurl https://example.com\n```\n\n</RequestExample>\n\n<ParamField query="limit" type="integer" required>How many</ParamField>\n',
};

describeWithServers(['chromium'], 'a rendered site in Chromium', () => {
  const { open, newContext, folder, problems, keepPicture } = siteInBrowser(files);

  for (const width of [390, 800, 1280]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`fits ${width} px, ${colorScheme}`, async () => {
        const page = await open('index.html', { viewport: { width, height: 800 }, colorScheme });
        for (const path of ['index.html', 'reference.html']) {
          if (path !== 'index.html') await page.goto(`file://${folder()}/${path}`);
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
          expect(await page.evaluate('document.documentElement.classList.contains("dark")')).toBe(
            colorScheme === 'dark',
          );
          await keepPicture(page, `${path}-${width}-${colorScheme}`);
          expect(problems).toEqual([]);
        }
      });
    }
  }

  test('the sidebar is complete and marks the page', async () => {
    const page = await open('deep/one.html');
    expect(await page.locator('.sidebar-link').allTextContents()).toEqual([
      'Welcome',
      'Deep',
      'One',
      'Two',
      'All of it',
    ]);
    expect(await page.locator('.sidebar [aria-current=page]').textContent()).toBe('One');
    await page.locator('.sidebar-link', { hasText: 'Two' }).click();
    expect(page.url()).toMatch(/deep\/two\.html$/);
  });

  test('a page and an address with a lone percent sign break no script', async () => {
    const page = await open('deep/100%25.html#100%');
    expect(await page.locator('.sidebar [aria-current=page]').textContent()).toBe('All of it');
    expect(problems).toEqual([]);
  });

  test('tabs with the same title change together, by keyboard too, and on the next page load', async () => {
    const page = await open('index.html');
    await page.getByRole('tab', { name: 'JavaScript' }).first().focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('.tabs .tab-panel[data-active]').textContent()).toContain('First Python');
    expect(await page.locator('.code-group .tab-panel[data-active]').getAttribute('data-title')).toBe('Python');
    await page.reload();
    expect(await page.locator('.tabs .tab-panel[data-active]').textContent()).toContain('First Python');
  });

  test('the theme switch holds', async () => {
    const page = await open('index.html', { colorScheme: 'light' });
    await page.locator('.theme-switch').click();
    await page.goto(`file://${folder()}/deep/one.html`);
    expect(await page.evaluate('document.documentElement.className')).toContain('dark');
  });

  test('on a phone the sidebar is a drawer that Escape closes', async () => {
    const page = await open('index.html', { viewport: { width: 390, height: 800 } });
    expect(await page.locator('.sidebar').isVisible()).toBe(false);
    await page.locator('.menu-button').click();
    expect(await page.locator('.sidebar').isVisible()).toBe(true);
    expect(await page.locator('.sidebar .navbar-link').textContent()).toBe('Blog');
    await page.keyboard.press('Escape');
    await page.locator('.sidebar').waitFor({ state: 'hidden' });
  });

  test('an address with an anchor opens the elements around it', async () => {
    const page = await open('index.html#inside');
    expect(await page.getByText('Hidden text').isVisible()).toBe(true);
  });

  test('the search of the bundle finds words without a server', async () => {
    const page = await open('index.html');
    await page.keyboard.press('/');
    await page.locator('.search-input').fill('findable');
    await page.locator('.search-result').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/deep\/one\.html#part$/);
  });

  test('the search opens with / and with Ctrl-K, but a / that is typed is a letter', async () => {
    const page = await open('index.html');
    const input = page.locator('.search-input');
    for (const keys of ['/', 'Control+k', 'Meta+k']) {
      await page.keyboard.press(keys);
      await input.waitFor();
      expect(await input.evaluate('document.activeElement.className')).toBe('search-input');
      await page.keyboard.press('/');
      expect(await input.inputValue()).toBe('/');
      await page.keyboard.press('Escape');
      if (await input.isVisible()) await page.keyboard.press('Escape');
      await input.waitFor({ state: 'hidden' });
    }
  });

  test('without an index in the bundle there is no search', async () => {
    const context = await newContext();
    await context.route('**/_bindery/config.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: 'window.binderyConfig = { features: {} };' }),
    );
    const page = await context.newPage();
    await page.goto(`file://${folder()}/index.html`);
    for (const keys of ['/', 'Control+k']) await page.keyboard.press(keys);
    expect(await page.locator('.search-entry').isVisible()).toBe(false);
    expect(await page.locator('.search-dialog').count()).toBe(0);
  });

  test('in print everything is open and light, and afterwards as before', async () => {
    const page = await open('index.html', { colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.evaluate("for (const at of [1, 2]) dispatchEvent(new Event('beforeprint'))");
    for (const text of ['First JS', 'First Python', 'Hidden text'])
      expect(await page.getByText(text).isVisible()).toBe(true);
    for (const name of ['.navbar', '.sidebar', '.pagination', '.tabs-list', '.copy-button'])
      expect(await page.locator(name).first().isVisible()).toBe(false);
    expect(await page.evaluate('document.documentElement.classList.contains("dark")')).toBe(false);
    await page.evaluate("dispatchEvent(new Event('afterprint'))");
    expect(await page.evaluate('document.documentElement.classList.contains("dark")')).toBe(true);
    expect(await page.locator('details.accordion').first().getAttribute('open')).toBe(null);
  });

  test('without scripts everything can be read', async () => {
    const page = await open('index.html', { javaScriptEnabled: false });
    for (const text of ['First JS', 'First Python']) expect(await page.getByText(text).isVisible()).toBe(true);
    expect(await page.locator('.sidebar-link').allTextContents()).toEqual(['Welcome']);
    expect(await page.locator('.theme-switch').isVisible()).toBe(false);
  });

  test('404.html finds the site under any address', async () => {
    const server = await serveFolder(folder());
    const page = await open(`${server.url}/docs/a/b/c`);
    await page.locator('a[data-file]', { hasText: 'One' }).first().waitFor();
    await page.locator('a[href="/docs/deep/one.html"]').waitFor();
    await server.close();
  });
});
