import type { BrowserContext, Page, Response } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { docsHosts } from '../support/docs-host.ts';
import { askHost } from '../support/ask-host.ts';
import { packedFolder } from '../support/list-all-files.ts';
import { type SitesPlatform, sitesPlatform } from '../support/sites-platform.ts';
import { suiteBrowser } from '../support/suite-browser.ts';
import { siteFolder } from './site-folder.ts';

/** A base below which browsers let a page set cookies for all, as for most domains; `localhost` is like a public suffix. */
const base = 'sites.example.test';
const own = "document.title = 'taken'; document.cookie = 'taken=1'; document.documentElement.dataset.taken = 'yes';";

/** A project that tries to run its own script in each way that its author has. */
const hostile = {
  'docs.json': JSON.stringify({
    name: 'Hostile',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    navigation: { pages: ['index', 'guide'] },
    analytics: { ga4: { measurementId: 'G-HOSTILE1' } },
  }),
  'index.mdx': `---
title: Hostile
---

import { Bait } from "/snippets/bait.jsx"

export const Inline = () => { useEffect(() => { ${own} }, []); return <p>Inline text</p>; };

<Inline />

<Bait />

<script>{\`${own}\`}</script>

<script src="/own.js"></script>

<b onClick={() => { ${own} }}>Click me</b>

<img src="/missing.png" onError="${own}" alt="" />

<iframe srcDoc="<script>parent.document.title='taken'</script>" title="frame"></iframe>

[Leave](javascript:document.title='taken')

<svg onload="${own}"><script>{\`${own}\`}</script></svg>
`,
  'guide.mdx': '---\ntitle: Guide\n---\n\nText.\n',
  'snippets/bait.jsx': `export const Bait = () => { useEffect(() => { ${own} }, []); return <p onMouseOver={() => { ${own} }}>Bait text</p>; };`,
  'own.js': own,
  'own.mjs': own,
  'picture.svg': `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="${own}"><script>${own}</script></svg>`,
  'files/page.html': `<html><body><p>Text</p><script>${own}</script></body></html>`,
  'files/page.xml': `<html xmlns="http://www.w3.org/1999/xhtml"><script>${own}</script></html>`,
  'files/page.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml"><script>${own}</script></html>`,
};

const plain = (name: string) => ({
  'docs.json': JSON.stringify({
    name,
    theme: 'mint',
    colors: { primary: '#0f766e' },
    navigation: { pages: ['index'] },
  }),
  'index.mdx': `---\ntitle: ${name}\n---\n\nText of ${name}.\n`,
});

describeWithServers(['chromium'], 'sites that share a base', () => {
  const { host, atEnd } = docsHosts();
  const { newContext } = suiteBrowser([`--host-resolver-rules=MAP *.${base} 127.0.0.1`]);
  let platform: SitesPlatform;
  beforeEach(async () => {
    platform = await sitesPlatform();
    atEnd(() => platform.close());
  });

  /** Bundles as a deployment exports them. */
  const bundleOf = async (files: Record<string, string>) =>
    packedFolder(await siteFolder(files, { deployment: 'cloud', allowTenantScripts: false }));
  const names = { one: `one.${base}`, two: `two.${base}`, preview: `pr-12--one.${base}` };

  async function serve(files: Record<string, string> = plain('one')): Promise<(name: string, path?: string) => string> {
    const bundle = await bundleOf(files);
    platform.deploy({ domain: 'one', hosts: [names.one, 'one.localhost'], bundle });
    platform.deploy({ domain: 'one', label: 'pr-12', hosts: [names.preview, 'pr-12--one.localhost'], bundle });
    platform.deploy({
      domain: 'two',
      organization: 'other',
      hosts: [names.two, 'two.localhost'],
      bundle: await bundleOf(plain('two')),
    });
    const { url } = await host(platform.env);
    for (const name of Object.values(names)) await expect.poll(async () => (await askHost(url, name)).status).toBe(200);
    const { port } = new URL(url);
    return (name, path = '/') => `http://${name}:${port}${path}`;
  }

  const cookiesSent = async (page: Page, address: string): Promise<string | undefined> => {
    const answer = (await page.goto(address)) as Response;
    return (await answer.request().allHeaders()).cookie;
  };

  const keep = (page: Page, cookie: string) => page.evaluate(`document.cookie = ${JSON.stringify(cookie)}`);

  test('a cookie of one site is sent to no other, nor to its own previews', async () => {
    const address = await serve();
    const page = await (await newContext()).newPage();
    for (const [from, others] of [
      [names.one, [names.two, names.preview]],
      [names.preview, [names.two]],
    ] as const) {
      await page.context().clearCookies();
      await page.goto(address(from));
      await keep(page, 'own=1; path=/');
      expect(await cookiesSent(page, address(from))).toBe('own=1');
      for (const other of others) expect(await cookiesSent(page, address(other))).toBeUndefined();
    }
    // Sites set no cookies.
    expect((await askHost(address('127.0.0.1'), names.one)).headers['set-cookie']).toBe(undefined);
  });

  test('a cookie for the base reaches other sites, unless the base is a public suffix, and changes none of their answers', async () => {
    const address = await serve();
    const page = await (await newContext()).newPage();
    await page.goto(address(names.one));
    await keep(page, `all=1; path=/; domain=${base}`);
    expect(await cookiesSent(page, address(names.two))).toBe('all=1');
    const url = address('127.0.0.1', '');
    const answers = await Promise.all(
      [{}, { cookie: 'all=1' }, { cookie: `all=${'x'.repeat(4_000)}; __Host-a=1` }].map((headers) =>
        askHost(url, names.two, '/', { headers }),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.map(({ headers }) => headers.vary ?? '').join()).not.toMatch(/cookie/i);
    // Chromium treats each name without dots as a public suffix.
    await page.goto(address('one.localhost'));
    await keep(page, 'all=1; path=/; domain=localhost');
    expect(await cookiesSent(page, address('two.localhost'))).toBeUndefined();
  });

  test('scripts of a project do not run on its site', async () => {
    const address = await serve(hostile);
    const context = await newContext();
    await expectNotTaken(context, address(names.one), async (page) => {
      await page.getByText('Bait text').hover();
      await page.getByText('Click me').click();
      await page.getByText('Leave').click({ noWaitAfter: true });
    });
    for (const path of [
      '/own.js',
      '/own.mjs',
      '/picture.svg',
      '/files/page.html',
      '/files/page',
      '/files/page.xml',
      '/files/page.xhtml',
      '/snippets/bait.jsx',
    ])
      await expectNotTaken(context, address(names.one, path));
    expect(await context.cookies()).toEqual([]);
  });

  async function expectNotTaken(context: BrowserContext, address: string, use?: (page: Page) => Promise<void>) {
    const page = await context.newPage();
    await page.goto(address, { waitUntil: 'networkidle' });
    await use?.(page);
    const found = await page.evaluate("[document.title, document.documentElement.dataset?.taken ?? '']");
    expect([address, found]).toEqual([address, [expect.not.stringMatching('taken'), '']]);
    await page.close();
  }
});
