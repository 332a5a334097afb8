import { expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { hostilePages } from '../hostile/pages.ts';
import { siteInBrowser } from '../browser/site-folder.ts';

const diagram = (source: string, meta = ''): string => `\`\`\`mermaid${meta}\n${source}\n\`\`\`\n`;
const files = {
  'index.mdx': `---
title: Diagrams
---

${diagram('flowchart LR\n  A[Start] -->|text| B{Good?}\n  B --> C[(Store)] --> D[One] --> E[Two] --> F[Three] --> G[Four] --> H[Five]')}
${diagram('sequenceDiagram\n  accTitle: How a job starts\n  Client->>Gateway: POST\n  Gateway-->>Client: 202')}
${diagram('this is no diagram')}
${diagram('pie title Pets\n  "Dogs" : 386\n  "Cats" : 85', ' actions={false}')}
`,
  'plain.mdx': 'No diagram',
  'wrong-colour.mdx':
    diagram('%%{init: { "theme": "base", "themeVariables": { "primaryColor": "red;" } }}%%\nflowchart LR\n  A --> B') +
    diagram('flowchart LR\n  C --> D'),
  'hostile.mdx': String(hostilePages['diagrams.mdx']?.source),
};

const drawn = "document.querySelectorAll('figure.mermaid.drawn').length";

describeWithServers(['chromium'], 'diagrams in Chromium', () => {
  const { open, problems, keepPicture } = siteInBrowser(files);

  for (const width of [390, 1280]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`are drawn at ${width} px, ${colorScheme}, within the policy of the page`, async () => {
        const page = await open('index.html', { viewport: { width, height: 3000 }, colorScheme });
        await expect.poll(() => page.evaluate(drawn)).toBe(3);
        await page.locator('.diagram-problem').waitFor();
        expect(await page.getByText('this is no diagram').isVisible()).toBe(true);
        expect(await page.getByRole('img', { name: 'How a job starts' }).count()).toBe(1);
        expect(await page.getByRole('img', { name: 'Diagram' }).count()).toBe(2);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        expect(await page.evaluate('document.adoptedStyleSheets.length')).toBe(0);
        expect(problems).toEqual([]);
        await keepPicture(page, `diagrams-${width}-${colorScheme}`);
      });
    }
  }

  test('change with the theme, and open large', async () => {
    const page = await open('index.html', { colorScheme: 'light' });
    await expect.poll(() => page.evaluate(drawn)).toBe(3);
    const fill = "getComputedStyle(document.querySelector('.diagram').shadowRoot.querySelector('.node rect')).fill";
    const light = await page.evaluate(fill);
    await page.locator('.theme-switch').click();
    await expect.poll(() => page.evaluate(fill)).not.toBe(light);
    await page.locator('figure.mermaid').first().hover();
    await page.locator('.diagram-enlarge').first().click();
    expect(await page.getByRole('dialog').isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.locator('figure[data-actions=false] .diagram-enlarge').count()).toBe(0);
  });

  test('are readable as their source without scripts', async () => {
    const page = await open('index.html', { javaScriptEnabled: false });
    expect(await page.getByText('A[Start] -->|text| B{Good?}').isVisible()).toBe(true);
  });

  test('load nothing on pages without diagrams', async () => {
    const page = await open('plain.html');
    expect(await page.evaluate('[...document.scripts].some(({ src }) => /diagrams|mermaid/.test(src))')).toBe(false);
  });

  test('are drawn after one with an invalid colour', async () => {
    const page = await open('wrong-colour.html');
    await page.locator('.diagram-problem').waitFor();
    await expect.poll(() => page.evaluate(drawn)).toBe(1);
    expect(await page.locator('.diagram-problem, .diagram-measure').count()).toBe(1);
  });

  test('that are hostile run and load nothing, even without the policy', async () => {
    const page = await open('hostile.html', { bypassCSP: true });
    await page.waitForFunction(
      "[...document.querySelectorAll('figure.mermaid')].every((one) => one.matches('.drawn, :has(.diagram-problem)'))",
    );
    const found = await page.evaluate(`[...document.querySelectorAll('.diagram')].flatMap(({ shadowRoot }) => {
        for (const part of shadowRoot.querySelectorAll('*')) part.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
        return [...shadowRoot.querySelectorAll('*')].flatMap((part) => [part.localName, ...part.getAttributeNames().map((name) => name + '=' + part.getAttribute(name))]);
      }).filter((one) => /^(script|img|style|foreignObject|iframe)$|^on|javascript:|example\\.invalid/i.test(one))`);
    expect(found).toEqual([]);
    expect(await page.evaluate(drawn)).toBeGreaterThanOrEqual(3);
    expect(await page.evaluate("getComputedStyle(document.querySelector('.mdx-content')).position")).not.toBe('fixed');
    expect(problems).toEqual([]);
  });
});
