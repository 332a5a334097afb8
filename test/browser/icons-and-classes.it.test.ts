import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { siteInBrowser } from './site-folder.ts';

const files = {
  'docs.json': JSON.stringify({
    name: 'Acme',
    theme: 'mint',
    colors: { primary: '#0f766e', light: '#5eead4' },
    navigation: {
      anchors: [{ anchor: 'Blog', icon: 'fa-regular fa-newspaper', href: 'https://example.com' }],
      groups: [{ group: 'Start', icon: 'rocket', pages: ['index', { group: 'More', icon: '🧭', pages: ['other'] }] }],
    },
    navbar: { links: [{ type: 'github', href: 'https://github.com/acme' }] },
    footer: { socials: { x: 'https://x.com/acme', discord: 'https://example.com', website: 'https://example.com' } },
  }),
  'index.mdx': `---
title: Icons and classes
icon: /mark.svg
---

<p className="all-icons">
<Icon icon="rocket" /> <Icon icon="circle" iconType="regular" /> <Icon icon="refresh-cw" /> <Icon icon="stripe" iconType="brands" size={28} />
<Icon icon="🚀" /> <Icon icon="/mark.svg" color="#ff0000" className="mx-4" />
</p>

<CardGroup cols={3}>
<Card title="A drawing" icon="book-open">Solid</Card>
<Card title="An outline" icon="file-lines" iconType="regular">Regular</Card>
<Card title="An emoji" icon="🧭">As it is</Card>
</CardGroup>

<Note>Note</Note><Info>Info</Info><Tip>Tip</Tip><Check>Check</Check><Warning>Warning</Warning><Danger>Danger</Danger>

<Accordion title="Opens" icon="key">Inside</Accordion>

\`\`\`js title="a.js" icon="terminal"
1
\`\`\`

<div className="grid grid-cols-1 sm:grid-cols-2 gap-4 mt-8">
<div className="boxed border border-l-4 rounded-2xl p-6 bg-primary/10 dark:bg-primary-light/20 text-primary shadow-lg">A box</div>
<div className="light-side block dark:hidden">Light</div>
<div className="dark-side hidden dark:block">Dark</div>
</div>

<div className="attack fixed inset-0 -m-96 z-50 bg-red-500 selector-[body]:hidden [&,.navbar]:hidden bg-[url(https://evil.example/x.png)] pointer-events-none opacity-5">All over</div>
`,
  'other.mdx': '# Other\n',
  'mark.svg':
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><circle cx="5" cy="5" r="4" fill="teal"/></svg>',
};

describeWithServers(['chromium'], 'icons and utility classes in a browser', () => {
  const site = siteInBrowser(files);

  async function open(colorScheme: 'light' | 'dark', width = 1440): Promise<Page> {
    const page = await site.open('index.html', { colorScheme, viewport: { width, height: 1000 } });
    await site.keepPicture(page, `icons-${colorScheme}-${width}`);
    return page;
  }

  test('every icon is drawn, in the text, the sidebar, the header and the footer', async () => {
    const page = await open('light');
    const drawn = (selector: string): Promise<number> =>
      page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].filter((element) => {
        const { width, height } = element.getBoundingClientRect();
        return width > 0 && height > 0 && element.naturalWidth !== 0;
      }).length`);
    expect(await drawn('.all-icons .icon')).toBe(6);
    expect(await drawn('.mdx-content .callout-icon')).toBe(6);
    expect(await drawn('.mdx-content :is(.card-icon, .accordion-icon, .code-block-icon)')).toBe(5);
    expect(await drawn('.sidebar .icon:not(.chevron)')).toBe(4);
    expect(await drawn('.sidebar .chevron')).toBe(1);
    expect(await drawn('.navbar-link svg')).toBe(1);
    expect(await drawn('.social svg')).toBe(3);
    expect(await drawn('.copy-button svg')).toBe(1);
  });

  test('classes style the content, by day and by night', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      const page = await open(scheme);
      expect(await page.locator('.light-side').isVisible()).toBe(scheme === 'light');
      expect(await page.locator('.dark-side').isVisible()).toBe(scheme === 'dark');
      const style = await page.evaluate(`(() => {
        const { borderLeftWidth, borderTopStyle, borderRadius, padding } = getComputedStyle(document.querySelector('.boxed'));
        return { borderLeftWidth, borderTopStyle, borderRadius, padding };
      })()`);
      expect(style).toEqual({ borderLeftWidth: '4px', borderTopStyle: 'solid', borderRadius: '16px', padding: '24px' });
    }
    const phone = await open('light', 390);
    expect(await phone.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  });

  test('no class covers the frame, hides it, or loads anything', async () => {
    const page = await open('light');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.reload();
    expect(asked.filter((url) => !url.startsWith('file:'))).toEqual([]);
    const boxes = await page.evaluate(`(() => {
      document.querySelector('.attack').style.pointerEvents = 'auto';
      const at = (x, y) => document.elementFromPoint(x, y)?.closest('.attack, .navbar, .sidebar')?.className;
      return [at(700, 20), at(60, 300)];
    })()`);
    expect(boxes).toEqual(['navbar', 'sidebar']);
  });
});
