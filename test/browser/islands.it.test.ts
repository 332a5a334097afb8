import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { serveFolder, siteInBrowser } from './site-folder.ts';

const counter = `export const Counter = ({ start = 0, label, children }) => {
  const [count, setCount] = useState(start);
  return (
    <div className="not-prose rounded-xl border border-zinc-950/20 dark:border-white/20 p-4">
      <p className="font-medium text-primary">{label}</p>
      <button className="rounded bg-primary px-2 text-white hover:opacity-80" onClick={() => setCount(count + 1)}>Add</button>
      <span className="count px-4">{count}</span>
      {children}
    </div>
  );
};
`;

const files = {
  'snippets/counter.mdx': counter,
  'snippets/filter.tsx': `import { useMemo, useState } from 'react';
import { Counter } from './counter.mdx';

type Item = { name: string; href: string };
const same = (text: string): string => text.trim().toLowerCase();

export const Filter = ({ items }: { items: Item[] }) => {
  const [asked, setAsked] = useState('');
  const found = useMemo(() => items.filter(({ name }) => same(name).includes(same(asked))), [items, asked]);
  return (
    <>
      <label>Find <input className="rounded border p-1" value={asked} placeholder="a name" onChange={(event) => setAsked(event.target.value)} /></label>
      <ul>{found.map(({ name, href }) => <li key={name}><a href={href}>{name}</a></li>)}</ul>
      <Note title="Inside">{found.length} found</Note>
      <Card title="A card" icon="rocket" href="/plain">In an island.</Card>
      <Tabs><Tab title="One">First tab</Tab><Tab title="Two">Second tab</Tab></Tabs>
      <Counter label="Inner" />
    </>
  );
};
`,
  'index.mdx': `---
title: Islands
---

import { Counter } from "/snippets/counter.mdx";
import { Filter } from "/snippets/filter.tsx";

export const Theme = React.createContext('none');
export const Shown = () => <em>{useContext(Theme)}</em>;
export const App = () => <Theme.Provider value="given"><Shown /></Theme.Provider>;

Before them.

<Counter start={3} label={<b>Counted</b>}>
  Content with **marks** and tabs:

  <Tabs>
    <Tab title="npm">npm it</Tab>
    <Tab title="yarn">yarn it</Tab>
  </Tabs>
</Counter>

<Filter items={[{ name: 'Apple', href: '/plain' }, { name: 'Pear', href: '/plain#end' }]} />

Text with <Shown /> in it. <App />

<button onClick={(event) => { event.currentTarget.textContent = 'pressed'; }}>Press **me**</button>

After them.
`,
  'broken.mdx': `---
title: Broken
---

export const Throws = ({ children }) => { const [n] = useState(1); if (typeof window !== 'undefined') throw new Error('wrong'); return <div>{children}</div>; };
export const Late = () => { const [n, set] = useState(0); if (n > 0) throw new Error('late'); return <button onClick={() => set(1)}>Break it</button>; };
export const Needs = () => <p>{document.title.nothing.more}</p>;

<Throws>What was **given**.</Throws>

<Late />

<Needs />
`,
  'plain.mdx': 'Nothing runs here.\n\n## End\n',
};

describeWithServers(['chromium'], 'islands in Chromium', () => {
  const { folder, open, problems, keepPicture } = siteInBrowser(files);

  const works = async (address: string): Promise<void> => {
    const page = await open(address, { viewport: { width: 1280, height: 2500 } });
    const first = page.locator('.island').first();
    await first.locator('.island-live').waitFor();
    await first.getByRole('button', { name: 'Add' }).click();
    expect(await first.locator('.count').textContent()).toBe('4');
    // The tabs inside the island still work.
    await first.getByRole('tab', { name: 'yarn' }).click();
    expect(await first.getByText('yarn it').isVisible()).toBe(true);
    expect(await first.locator('strong').textContent()).toBe('marks');
    expect(await first.locator('b').textContent()).toBe('Counted');

    const second = page.locator('.island').nth(1);
    await second.locator('.island-live').waitFor();
    await second.getByLabel('Find').fill('pea');
    expect(await second.locator('ul').innerText()).toBe('Pear');
    expect(await second.getByText('1 found').isVisible()).toBe(true);
    expect(await second.locator('ul a').evaluate((link: { href: string }) => link.href)).toMatch(/\/plain\.html#end$/);
    expect(await second.locator('.card svg').count()).toBe(1);
    await second.getByRole('tab', { name: 'Two' }).click();
    expect(await second.getByText('Second tab').isVisible()).toBe(true);
    await second.getByRole('button', { name: 'Add' }).click();
    expect(await second.locator('.count').textContent()).toBe('1');

    await page.getByText('given').waitFor();
    expect(await page.getByText('Text with none in it.').count()).toBe(1);
    await page.getByRole('button', { name: 'Press me' }).click();
    expect(await page.getByRole('button', { name: 'pressed' }).count()).toBe(1);
    expect(await page.locator('.island-problem').count()).toBe(0);
    // A browser requests the site's icon, which this server does not have.
    expect(problems.filter((problem) => !/404/.test(problem))).toEqual([]);
  };

  test('work from a folder', () => works('index.html'));

  test('work from a server', async () => {
    const server = await serveFolder(folder());
    try {
      await works(`${server.url}/docs/index.html`);
    } finally {
      await server.close();
    }
  });

  for (const width of [390, 1280]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`look the same before and after they run at ${width} px, ${colorScheme}`, async () => {
        const before = await open('index.html', {
          viewport: { width, height: 2500 },
          colorScheme,
          javaScriptEnabled: false,
        });
        await keepPicture(before, `islands-before-${width}-${colorScheme}`);
        const page = await open('index.html', { viewport: { width, height: 2500 }, colorScheme });
        await expect.poll(() => page.locator('.island[data-running]').count()).toBe(5);
        await keepPicture(page, `islands-${width}-${colorScheme}`);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      });
    }
  }

  test('are there without scripts', async () => {
    const page = await open('index.html', { javaScriptEnabled: false });
    expect(await page.locator('.count').first().textContent()).toBe('3');
    expect(await page.getByText('marks').isVisible()).toBe(true);
    expect(await page.getByText('Apple').isVisible()).toBe(true);
  });

  test('start only when they come near the visible part', async () => {
    const page = await open('index.html', { viewport: { width: 390, height: 300 } });
    await page.locator('.island[data-running]').first().waitFor();
    expect(await page.locator('.island').last().getAttribute('data-running')).toBe(null);
    await page.locator('.island').last().scrollIntoViewIfNeeded();
    await page.locator('.island').last().getByRole('button').waitFor();
  });

  test('that fail show their first look again, with a sentence', async () => {
    const page = await open('broken.html');
    await page.getByRole('button', { name: 'Break it' }).click();
    await expect.poll(() => page.locator('.island-problem').count()).toBe(3);
    expect(await page.locator('strong').textContent()).toBe('given');
    expect(await page.getByText('This part of the page does not work here.').count()).toBe(3);
    await keepPicture(page, 'islands-broken');
  });

  test('load nothing on pages without islands', async () => {
    const page = await open('plain.html');
    expect(await page.evaluate('[...document.scripts].some(({ src }) => /islands|react/.test(src))')).toBe(false);
    expect(readdirSync(join(folder(), '_bindery/islands'))).toHaveLength(2);
    expect(readFileSync(join(folder(), 'plain.html'), 'utf8')).toContain('script-src &#39;self&#39; file:;');
  });
});
