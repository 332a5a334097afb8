import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { isolateFile } from '#shared/docs/render/isolate/isolate-file.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { serveFolder, siteFolder, siteInBrowser } from './site-folder.ts';

const files = {
  'index.mdx': `---
title: Start
---

<Tooltip tip={'${'A tip of many words. '.repeat(8)}'}>word</Tooltip> at the start.

<iframe src="https://example.invalid/frame" />

<video src="https://example.invalid/film.mp4" controls />

![far](https://example.invalid/picture.png) ![near](/picture.png)

<div style={{ color: 'rgb(1, 2, 3)' }} id="styled">Styled</div>

<div id="cover" style={{ position: 'relative', top: '-99px', left: '-99px', width: '3000px', height: '3000px', margin: '-900px', transform: 'scale(20)', zIndex: 99, background: 'red' }}>cover</div>

<div className="sidebar navbar veil" id="fixed">Looks like the frame</div>
`,
  'deep/two.mdx': '# Two',
  'picture.png': 'x',
};
const redirects = {
  'docs.json': JSON.stringify({
    name: 'Test',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    navigation: { pages: ['index', 'deep/two'] },
    redirects: [{ source: '/old', destination: '/deep/two' }],
  }),
};

describeWithServers(['chromium'], 'the policy of pages in Chromium', () => {
  const plain = siteInBrowser({ ...files, ...redirects });
  const scripted = siteInBrowser({
    ...files,
    'own.js': "document.documentElement.dataset.own = 'ran'; eval(\"document.documentElement.dataset.eval = 'ran'\");",
    'own.css': '#styled { background: rgb(4, 5, 6) }',
  });

  /** Opens a page and returns the violations of its policy. */
  async function open(address: string, options: BrowserContextOptions = {}) {
    const context = await plain.newContext(options);
    const page = await context.newPage();
    const refused: string[] = [];
    await context.exposeFunction('refusedByPolicy', (what: string) => refused.push(what));
    await context.addInitScript(
      "addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => refusedByPolicy(effectiveDirective + ' ' + blockedURI), true)",
    );
    await page.route(/^https?:\/\/example\.invalid/, (route) => route.fulfill({ status: 200, body: '' }));
    await page.goto(address, { waitUntil: 'load' });
    return { page, refused };
  }

  const policies = (page: Page) =>
    page.evaluate(
      "[...document.querySelectorAll('meta[http-equiv=Content-Security-Policy]')].map(({ content }) => content)",
    );

  test.each(['index.html', 'deep/two.html', '404.html', 'old.html'])(
    '%s has a policy, which allows everything of the page and refuses injected content',
    async (path) => {
      const { page, refused } = await open(`file://${plain.folder()}/${path}`);
      if (path === 'old.html') await page.waitForURL(/deep\/two\.html$/);
      expect(await policies(page)).toEqual([expect.stringMatching(/object-src 'none'; base-uri 'none'$/)]);
      expect(refused).toEqual([]);
      await page.evaluate(`{
          const script = document.createElement('script');
          script.textContent = "document.documentElement.dataset.put = 'ran'";
          document.body.append(script);
          document.body.insertAdjacentHTML('beforeend', '<img src="x:" onerror="document.documentElement.dataset.put = 1"><base href="https://example.invalid/"><object data="x.swf"></object>');
          const far = document.createElement('script');
          far.src = 'https://example.invalid/far.js';
          document.body.append(far);
        }`);
      await expect
        .poll(() => refused.map((one) => one.split(' ')[0]))
        .toEqual(expect.arrayContaining(['base-uri', 'object-src', 'script-src-attr', 'script-src-elem']));
      expect(await page.evaluate('document.documentElement.dataset.put')).toBeUndefined();
    },
  );

  test('from a server as from a folder', async () => {
    const server = await serveFolder(plain.folder());
    for (const path of ['index.html', 'deep/two.html', 'a/b/no-such-page']) {
      const { page, refused } = await open(`${server.url}/docs/${path}`);
      const font = "getComputedStyle(document.documentElement).getPropertyValue('--sans')";
      // Waiting in the page would need eval, which its policy forbids.
      await expect.poll(() => page.evaluate(font)).not.toBe('');
      expect(refused).toEqual([]);
    }
    await server.close();
  });

  test("the project's own scripts and styles work where they are allowed, but no text becomes code", async () => {
    const { page, refused } = await open(`file://${scripted.folder()}/index.html`);
    expect(await page.evaluate('document.documentElement.dataset.own')).toBe('ran');
    expect(await page.evaluate('document.documentElement.dataset.eval')).toBeUndefined();
    expect(await page.evaluate("getComputedStyle(document.querySelector('#styled')).backgroundColor")).toBe(
      'rgb(4, 5, 6)',
    );
    expect(refused).toEqual([expect.stringMatching(/^script-src eval/)]);
  });

  test("where they are not allowed, the project's own styles apply only inside the content", async () => {
    const css =
      ':root, body, .navbar, .content-box { display: none !important } :scope { position: fixed; inset: 0 !important; z-index: 99; transform: scale(9); contain: none } body::before { content: "x"; position: fixed; inset: 0 } p { color: rgb(7, 8, 9); position: fixed; inset: 0 } @property --sans { syntax: "<color>"; inherits: false; initial-value: red }';
    const folder = await siteFolder({ 'index.mdx': 'Words', 'own.css': css });
    writeFileSync(join(folder, 'own.css'), isolateFile('own.css', Buffer.from(css)));
    const { page } = await open(`file://${folder}/index.html`);
    expect(await page.evaluate("getComputedStyle(document.querySelector('.mdx-content p')).color")).toBe(
      'rgb(7, 8, 9)',
    );
    for (const part of ['.navbar', '.content-box', 'body']) expect(await page.locator(part).isVisible()).toBe(true);
    expect(await page.evaluate("getComputedStyle(document.body, '::before').content")).toBe('none');
    expect(await page.evaluate("getComputedStyle(document.body).getPropertyValue('--sans')")).toContain('system-ui');
    expect(await page.evaluate("document.elementFromPoint(5, 5).closest('.mdx-content')")).toBeNull();
  });

  for (const width of [390, 1280]) {
    test(`at ${width} px, styles of the content cover nothing of the frame`, async () => {
      const { page } = await open(`file://${plain.folder()}/index.html`, { viewport: { width, height: 800 } });
      const covered = await page.evaluate(`{
          const frame = [...document.querySelectorAll('.navbar, .page-title, .pagination-link, .table-of-contents, .menu-button, .nav-logo')].filter((part) => !part.closest('.mdx-content'));
          if (innerWidth > 1000) frame.push(document.querySelector('#sidebar'));
          frame.filter((part) => {
            if (part.offsetParent === null && getComputedStyle(part).position !== 'sticky') return false;
            part.scrollIntoView();
            const { left, top, width, height } = part.getBoundingClientRect();
            const at = document.elementFromPoint(left + width / 2, top + Math.min(height, innerHeight) / 2);
            return at !== null && at.closest('.mdx-content') !== null;
          }).map((part) => part.className);
        }`);
      expect(covered).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    });

    test(`at ${width} px, a tooltip at the start is shown whole`, async () => {
      const { page } = await open(`file://${plain.folder()}/index.html`, { viewport: { width, height: 800 } });
      await page.evaluate("document.querySelectorAll('#cover, #fixed').forEach((one) => one.remove())");
      await page.locator('.tooltip').hover();
      const [tip, box] = await Promise.all([
        page.locator('.tooltip-content').boundingBox(),
        page.locator('.content-box').boundingBox(),
      ]);
      if (tip === null || box === null) throw new Error('there is no tooltip');
      expect(tip.x).toBeGreaterThanOrEqual(box.x);
      expect(tip.x + tip.width).toBeLessThanOrEqual(box.x + box.width + 1);
      expect(tip.y).toBeGreaterThanOrEqual(box.y);
    });
  }
});
