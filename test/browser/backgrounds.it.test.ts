import { describe, expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { siteInBrowser } from './site-folder.ts';

const square = (color: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 5"><path fill="${color}" d="M0 0h8v5z"/></svg>`;
const page = `---
title: A page on a ground of its own
description: Everything is read as before.
---

Words, \`code\` and a [link](/deep/page).

<Warning>Take care.</Warning>

<Card title="One" href="/deep/page">Go there</Card>

<Tree>
  <Tree.Folder name="docs">
    <Tree.File name="docs.json" />
  </Tree.Folder>
</Tree>
`;

/** A project of one theme with this background. */
function filesWith(background: object): Record<string, string> {
  return {
    'docs.json': JSON.stringify({
      name: 'Acme',
      theme: 'mint',
      colors: { primary: '#2d00f7', dark: '#4cc9f0', light: '#4cc9f0' },
      favicon: '/images/light square.svg',
      background: { color: { light: '#EEEEEE', dark: '#222831' }, ...background },
      banner: { content: 'A banner of **ours**', color: { light: '#1e3a5f', dark: '#ffd166' } },
      navigation: {
        languages: [
          { language: 'en', pages: ['index', 'deep/page'] },
          { language: 'ar', pages: ['ar/page'] },
        ],
      },
    }),
    'index.mdx': page,
    'deep/page.mdx': page,
    'ar/page.mdx': page,
    'images/light square.svg': square('#dde'),
    'images/dark.svg': square('#224'),
  };
}

const paints = `(() => {
  const styleOf = (selector, pseudo) => getComputedStyle(document.querySelector(selector), pseudo);
  return {
    page: styleOf('body').backgroundColor,
    banner: [styleOf('.banner').backgroundColor, styleOf('.banner').color],
    behind: styleOf('body', '::before').backgroundImage,
  };
})()`;
type Paints = { page: string; banner: string[]; behind: string };

describeWithServers(['chromium'], 'backgrounds of a project in a browser', () => {
  describe('with a picture', () => {
    const site = siteInBrowser(filesWith({ image: { light: '/images/light square.svg', dark: 'images/dark.svg' } }));

    test.each([
      ['light', 'rgb(238, 238, 238)', ['rgb(30, 58, 95)', 'rgb(255, 255, 255)'], 'images/light%20square.svg'],
      ['dark', 'rgb(34, 40, 49)', ['rgb(255, 209, 102)', 'rgb(0, 0, 0)'], 'images/dark.svg'],
    ] as const)('in %s', async (colorScheme, ground, banner, picture) => {
      for (const width of [1440, 390]) {
        const opened = await site.open('deep/page.html', { colorScheme, viewport: { width, height: 800 } });
        const found = await opened.evaluate<Paints>(paints);
        expect(found).toEqual({ page: ground, banner, behind: `url("file://${site.folder()}/${picture}")` });
        expect(site.problems).toEqual([]);
        await site.keepPicture(opened, `background-picture-${width}-${colorScheme}`);
      }
    });

    test('a folder in a tree points where it opens, on pages from right to left, too', async () => {
      for (const path of ['index.html', 'ar/page.html']) {
        const opened = await site.open(path);
        expect(await opened.evaluate("getComputedStyle(document.querySelector('.tree .chevron')).scale")).toBe('none');
      }
    });
  });

  describe.each(['gradient', 'grid', 'windows'])('%s', (decoration) => {
    const site = siteInBrowser(filesWith({ decoration }));

    test.each(['light', 'dark'] as const)('is behind the page, in %s', async (colorScheme) => {
      const opened = await site.open('index.html', { colorScheme, viewport: { width: 1440, height: 800 } });
      expect((await opened.evaluate<Paints>(paints)).behind).toContain('gradient(');
      expect(await opened.evaluate("getComputedStyle(document.body, '::before').zIndex")).toBe('-1');
      expect(site.problems).toEqual([]);
      await site.keepPicture(opened, `background-${decoration}-${colorScheme}`);
      await opened.emulateMedia({ media: 'print' });
      expect((await opened.evaluate<Paints>(paints)).behind).toBe('none');
    });
  });
});
