import { expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { siteInBrowser } from './site-folder.ts';

const files = {
  'index.mdx': `<style>
.soft { color: rgb(1, 2, 3); }
.dark .soft { color: rgb(4, 5, 6); }
h1, .navbar, body { background: rgb(7, 8, 9) !important; }
</style>

<p className="soft">soft</p>
`,
};

describeWithServers(['chromium'], 'a <style> of a page in Chromium', () => {
  const { open, problems } = siteInBrowser(files, { allowTenantScripts: false });

  test.each([
    ['light', 'rgb(1, 2, 3)'],
    ['dark', 'rgb(4, 5, 6)'],
  ] as const)('is for the content of the page alone: %s', async (colorScheme, color) => {
    const page = await open('index.html', { colorScheme });
    const styleOf = (selector: string, property: string) =>
      page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${property}`);
    expect(await styleOf('.soft', 'color')).toBe(color);
    for (const selector of ['h1', '.navbar', 'body'])
      expect(await styleOf(selector, 'backgroundColor')).toMatch(/^(?!rgb\(7, 8, 9\))(?:rgb|oklab)/);
    expect(problems).toEqual([]);
  });
});
