import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { packageFile } from '#shared/runtime/installed-packages.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { serveFolder, siteInBrowser } from './site-folder.ts';

const font = (name: string): Buffer => readFileSync(packageFile(`katex/dist/fonts/${name}.woff2`));
const page = `---
title: A page in its own type
description: The words of the description are in the font of the text.
---

Plain words, **bold words** and \`code\`.

## A heading

More words.
`;

const files = {
  'docs.json': JSON.stringify({
    name: 'Acme',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    favicon: '/favicon.svg',
    fonts: {
      body: { family: 'Body of ours', source: '/fonts/a body.woff2', format: 'woff2' },
      heading: { family: 'Heading "of ours"', source: '/fonts/heading.woff2', format: 'woff2', weight: 700 },
    },
    navigation: { pages: ['index', 'deep/page'] },
  }),
  'index.mdx': page,
  'deep/page.mdx': page,
  'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'fonts/a body.woff2': font('KaTeX_Typewriter-Regular'),
  'fonts/heading.woff2': font('KaTeX_Fraktur-Bold'),
};

const shownIn = (selector: string): string => `getComputedStyle(document.querySelector('${selector}')).fontFamily`;
const loaded = `(async () => {
  await document.fonts.ready;
  const all = [...document.fonts].map(({ family, status }) => family.replace(/[\\\\"]/g, '') + ' ' + status);
  const widthIn = (family) => {
    const probe = document.createElement('canvas').getContext('2d');
    probe.font = '20px ' + family;
    return probe.measureText('iiiiiWWWWW').width;
  };
  return { all, isBody: document.fonts.check('16px "Body of ours"'), evenWidth: widthIn('"Body of ours"') !== widthIn('sans-serif') };
})()`;

describeWithServers(['chromium'], 'fonts of a project in a browser', () => {
  const site = siteInBrowser(files);

  async function expectFonts(address: string, name: string, width = 1440): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      const opened = await site.open(address, { colorScheme, viewport: { width, height: 800 } });
      expect(await opened.evaluate(loaded)).toEqual({
        all: ['Body of ours loaded', 'Heading of ours loaded'],
        isBody: true,
        evenWidth: true,
      });
      expect(await opened.evaluate(shownIn('.mdx-content p'))).toMatch(/^"Body of ours", ui-sans-serif/);
      expect(await opened.evaluate(shownIn('.mdx-content h2'))).toMatch(/^"Heading \\"of ours\\"", "Body of ours"/);
      expect(await opened.evaluate(shownIn('.page-title'))).toMatch(/^"Heading/);
      expect(await opened.evaluate(shownIn('.mdx-content code'))).toMatch(/^ui-monospace/);
      expect(site.problems).toEqual([]);
      await site.keepPicture(opened, `fonts-${name}-${width}-${colorScheme}`);
    }
  }

  test('are used in pages of a folder', async () => {
    await expectFonts('index.html', 'folder');
    await expectFonts('deep/page.html', 'deep', 390);
  });

  test('are used in pages of a server', async () => {
    const server = await serveFolder(site.folder());
    try {
      await expectFonts(`${server.url}/docs/deep/page.html`, 'server');
      const opened = await site.open(`${server.url}/docs/index.html`);
      const names =
        'performance.getEntriesByType("resource").map(({ name, initiatorType }) => initiatorType + " " + name)';
      const requests = (await opened.evaluate<string[]>(names)).filter((name) => name.endsWith('.woff2'));
      expect(requests).toEqual([
        `link ${server.url}/docs/fonts/a%20body.woff2`,
        `link ${server.url}/docs/fonts/heading.woff2`,
      ]);
    } finally {
      await server.close();
    }
  });
});
