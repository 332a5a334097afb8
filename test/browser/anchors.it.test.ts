import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { testProject } from '#shared/docs/render/test-project.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { siteInBrowser } from './site-folder.ts';

/** Cases that need the scripts of a page. */
const parts = `import { useState } from 'react';

export const Counter = () => { const [count, setCount] = useState(1); return <button onClick={() => setCount(count + 1)}>Count {count}</button>; };

<Counter />

\`\`\`mermaid
flowchart LR
  a --> b
\`\`\`

<Tabs><Tab title="One">first</Tab><Tab title="Two">second</Tab></Tabs>`;

const long = 'Words.\n\n'.repeat(80);
const files = {
  'parts.mdx': parts,
  'index.mdx': `[in the page](#can-t-connect) [on another](/other#whats-new)

## Can't connect

${long}`,
  'other.mdx': `${long}

## What's new?

## Links

## Set up

## Setup

<ParamField path="--max-time" type="number">Words</ParamField>

<ParamField path="max_time" type="number">Words</ParamField>

<ResponseField name="themeMode" type="string">Words</ResponseField>

<Accordion title="Closed">

### Deep: inside

</Accordion>

${long}`,
};

/** Global names that libraries look up, besides those of browsers. */
const ofLibraries =
  'process global globalThis module exports require define mermaid React ReactDOM scheduler Buffer setImmediate jQuery d3'.split(
    ' ',
  );

describeWithServers(['chromium'], 'anchors in Chromium', () => {
  const { open, folder, problems } = siteInBrowser(files);

  test.each([
    ['whats-new', 'what’s-new'],
    ['what%E2%80%99s-new%3F', 'what’s-new'],
    ['h-links', 'links'],
    ['LINKS', 'links'],
    ['deep_inside', 'deep-inside'],
    ['param-max-time', 'param---max-time'],
    ['param-theme-mode', 'thememode'],
  ])('an address with #%s leads to the heading', async (written, id) => {
    const page = await open(`other.html#${written}`);
    await page.locator(`[id="${id}"].targeted`).waitFor();
    await expect.poll(async () => (await page.locator(`[id="${id}"]`).boundingBox())?.y).toBeLessThan(800);
    expect(problems).toEqual([]);
  });

  test('an ambiguous anchor does not scroll the page', async () => {
    const page = await open('other.html#set_up');
    await page.locator('.search-entry:not([hidden])').waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    expect(await page.locator('.targeted').count()).toBe(0);
  });

  test('a link to another page is followed to its heading', async () => {
    const page = await open('index.html');
    await page.getByText('on another').click();
    await page.locator('[id="what’s-new"].targeted').waitFor();
    expect(page.url()).toContain('other.html#whats-new');
  });

  test('no id of a heading shadows a property of the window or the document', async () => {
    const blank = await open('index.html');
    const [ofWindow = [], ofDocument = []] = await blank.evaluate<string[][]>(`
      [window, document].map((owner) => {
        const found = new Set();
        for (let at = owner; at !== null; at = Object.getPrototypeOf(at))
          for (const name of Object.getOwnPropertyNames(at)) found.add(name);
        return [...found].filter((name) => /^[\\w$]+$/.test(name));
      })`);
    expect(ofWindow.length).toBeGreaterThan(1000);
    expect(ofDocument.length).toBeGreaterThan(200);
    const names = new Set([...ofWindow, ...ofDocument, ...ofLibraries]);
    const headings = [...names].map((name) => `## The ${name} {#${name}}\n\nText.`);
    const project = await testProject({
      'docs.json': JSON.stringify({
        ...{ name: 'Test', theme: 'mint', colors: { primary: '#0f766e' }, navigation: { pages: ['index', 'names'] } },
      }),
      'index.mdx': 'x',
      'names.mdx': `${parts}

${headings.join('\n\n')}
`,
    });
    const { files: made } = project.render('names');
    for (const { path, body } of made) {
      mkdirSync(join(folder(), dirname(path)), { recursive: true });
      writeFileSync(join(folder(), path), body);
    }
    const page = await open('names.html');
    expect(await page.locator('h2[id="location"], h2[id="cookie"], h2[id="addEventListener"]').count()).toBe(3);
    const hidden = await page.evaluate<string[]>(`{
      const hiddenIn = (owner, names) => names.filter((name) => owner[name] instanceof HTMLHeadingElement);
      [...hiddenIn(window, ${JSON.stringify(ofWindow)}), ...hiddenIn(document, ${JSON.stringify(ofDocument)})];
    }`);
    expect(hidden).toEqual([]);
    await page.getByRole('button', { name: 'Count 1' }).click();
    await page.getByRole('button', { name: 'Count 2' }).waitFor();
    await page.locator('figure.mermaid svg').first().waitFor();
    await page.getByRole('tab', { name: 'Two' }).click();
    expect(await page.getByText('second').isVisible()).toBe(true);
    await page.keyboard.press('/');
    await page.locator('dialog.search-dialog[open]').waitFor();
    expect(problems).toEqual([]);
  });
});
