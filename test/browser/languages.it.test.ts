import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { siteInBrowser } from './site-folder.ts';

const page = (title: string) =>
  `---\ntitle: ${title}\n---\n\n## ${title}\n\n${title}\n\n\`\`\`js app.js\nconst a = 1;\n\`\`\`\n\n<Warning>${title}</Warning>\n`;
const language = (code: string, title: string) => ({
  language: code,
  groups: [{ group: title, pages: [`${code}/index`, `${code}/other`] }],
});
const titles = { ar: 'البدء السريع', he: 'התחלה מהירה', ja: 'はじめに', en: 'Start' };
const files = {
  'docs.json': JSON.stringify({
    name: 'Acme',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    navigation: { languages: Object.entries(titles).map(([code, title]) => language(code, title)) },
  }),
  ...Object.fromEntries(
    Object.entries(titles).flatMap(([code, title]) => [
      [`${code}/index.mdx`, page(title)],
      [`${code}/other.mdx`, page(`${title} 2`)],
    ]),
  ),
};

describeWithServers(['chromium'], 'a site in several languages in Chromium', () => {
  const site = siteInBrowser(files);
  const open = (path: string, width = 1440) => site.open(path, { viewport: { width, height: 900 } });

  const boxOf = async (opened: Page, selector: string) => {
    const box = await opened.locator(selector).first().boundingBox();
    if (box === null) throw new Error(`${selector} is not shown`);
    return { ...box, end: box.x + box.width };
  };

  test.each(['ar', 'he'])('in %s the page runs from right to left, and code does not', async (code) => {
    const opened = await open(`${code}/index.html`);
    const [sidebar, content, contents] = [
      await boxOf(opened, '.sidebar'),
      await boxOf(opened, '.mdx-content'),
      await boxOf(opened, '.table-of-contents'),
    ];
    expect(sidebar.x).toBeGreaterThanOrEqual(content.end);
    expect(contents.end).toBeLessThanOrEqual(content.x);
    const [block, letter] = [await boxOf(opened, '.code-block'), await boxOf(opened, '.code-block .tk')];
    expect(letter.x - block.x).toBeLessThan(40);
    const [next, footer] = [await boxOf(opened, '.pagination-link.next'), await boxOf(opened, '.pagination')];
    expect(next.x).toBe(footer.x);
    await site.keepPicture(opened, `language-${code}`);
  });

  test('on a phone the drawer comes from the right, and nothing is wider than the page', async () => {
    const opened = await open('ar/index.html', 390);
    expect(await opened.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await opened.locator('.menu-button').click();
    expect(await opened.locator('.menu-button').getAttribute('aria-label')).toBe('إغلاق قائمة التنقل');
    const right = "Math.round(document.querySelector('.sidebar').getBoundingClientRect().right)";
    // Waiting in the page would need eval, which its policy forbids.
    await expect.poll(() => opened.evaluate(right)).toBeGreaterThanOrEqual(370);
  });

  test('each language has its own texts, also in scripts', async () => {
    const words = async (path: string) => {
      const opened = await open(path);
      const said = [
        await opened.locator('.toc-title').textContent(),
        await opened.locator('.copy-button').first().getAttribute('aria-label'),
        await opened.locator('.callout').getAttribute('aria-label'),
      ];
      return said;
    };
    expect(await words('ja/index.html')).toEqual(['このページの内容', 'コピー', '警告']);
    expect(await words('en/index.html')).toEqual(['On this page', 'Copy', 'Warning']);
  });

  test('the search counts results as the language does', async () => {
    const opened = await open('ar/index.html');
    await opened.keyboard.press('/');
    await opened.locator('.search-input').fill('app');
    await opened.locator('[role=status]', { hasText: /نتيج|نتائج/ }).waitFor({ state: 'attached' });
  });
});
