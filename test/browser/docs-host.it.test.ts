import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { docsHosts, hostReadiness, isReady } from '../support/docs-host.ts';
import { newFolder } from '../support/new-folder.ts';
import { listAllFiles } from '../support/list-all-files.ts';
import { type LoopbackServer, onLoopback } from '../support/on-loopback.ts';
import { siteInBrowser } from './site-folder.ts';

const project = {
  'docs.json': JSON.stringify({
    name: 'Acme',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    navigation: { groups: [{ group: 'Guides', pages: ['index', 'guides/start', 'guides/index', 'attributes'] }] },
    redirects: [
      { source: '/old', destination: '/guides/start' },
      { source: '/former/:slug*', destination: '/guides/:slug*' },
    ],
  }),
  'index.mdx': '---\ntitle: Welcome\n---\n\nRead the [guide](/guides/start).\n\n![A mark](/images/mark.svg)\n',
  'guides/start.mdx': '---\ntitle: Start\n---\n\n## Porcupine\n\n```mermaid\ngraph LR; a-->b\n```\n\nBack [home](/).\n',
  'guides/index.mdx':
    '---\ntitle: Guides\n---\n\nimport { Next } from "/snippets/next.jsx"\n\nAll [guides](/guides/start).\n\n<Next />\n',
  'attributes.mdx': `---
title: Attributes
---

![x src=](/images/mark.svg "y onerror=document.title=1 style=outline:9px z")

<iframe src="https://example.invalid/embed" title="a src="></iframe>

<a href="/guides/start" title='a href="/" onfocus=document.title=2 autofocus tabindex=1 '>Start</a>

<Card title={'b src="x" onmouseover="document.title=3" '} href="/guides/start" img="/images/mark.svg">A card</Card>
`,
  'snippets/next.jsx':
    'export const Next = () => {\n  const [times, setTimes] = useState(0);\n  return <p><button id="count" onClick={() => setTimes(times + 1)}>{times}</button> <a id="next" href="/guides/start">Next</a></p>;\n};\n',
  'images/mark.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><circle r="4"/></svg>',
};

/** A platform that finds nothing, and records its requests. */
async function startPlatform(): Promise<LoopbackServer & { asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.setHeader('content-type', 'application/json').end('[]');
  });
  return { ...(await onLoopback(server)), asked };
}

describeWithServers(['chromium'], 'a site from the documentation host, in Chromium', () => {
  const site = siteInBrowser(project);
  const { host } = docsHosts();

  test.each(['cloud', 'client-hosted', 'air-gapped'])(
    'as %s: every page, its sidebar, its search and its missing pages, without a request that fails',
    async (deployment) => {
      const data = newFolder();
      listAllFiles(site.folder());
      const running = await host({
        BINDERY_DATA: data,
        BINDERY_BUNDLE_PATH: site.folder(),
        BINDERY_SITE_DEPLOYMENT: deployment,
        BINDERY_SITE_FEATURES: 'search=bundle,assistant=off',
        BINDERY_BASE_PATH: '/docs',
      });
      await hostReadiness(running, isReady);
      const page = await site.open(`${running.url}/docs`);
      const failed: string[] = [];
      page.on(
        'response',
        (response) => response.status() >= 400 && failed.push(`${response.status()} ${response.url()}`),
      );
      // A page that was prefetched and then opened is requested a second time.
      page.on('requestfailed', (request) => {
        if (request.failure()?.errorText !== 'net::ERR_ABORTED') failed.push(request.url());
      });
      const links = await page.locator('.sidebar a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
      expect(links).toContain('/docs/guides/start');
      await page.locator('.mdx-content a').click();
      await page.waitForURL(`${running.url}/docs/guides/start`);
      await page.locator('figure.mermaid svg').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('porcupine');
      await page.locator('.search-section').first().click();
      await page.waitForURL(/\/docs\/guides\/start#porcupine$/);
      await page.goto(`${running.url}/docs/guides`);
      expect(await page.locator('h1').textContent()).toBe('Guides');
      await page.locator('.mdx-content a').first().click();
      await page.waitForURL(`${running.url}/docs/guides/start`);
      // Components have addresses relative to the page's file, but this page is served under the name of its folder.
      await page.goto(`${running.url}/docs/guides`);
      await page.locator('#count').click();
      await page.locator('#count', { hasText: '1' }).waitFor();
      await page.locator('#next').click();
      await page.waitForURL(`${running.url}/docs/guides/start`);
      expect(failed).toEqual([]);
      expect(site.problems).toEqual([]);
      await page.goto(`${running.url}/docs/former/start`);
      expect(page.url()).toBe(`${running.url}/docs/guides/start`);
      await page.goto(`${running.url}/docs/a/b/nowhere`);
      await page.locator('.not-found a[href^="/docs/"]').first().waitFor();
      await site.keepPicture(page, `docs-host-404-${deployment}`);
      expect(failed).toEqual([`404 ${running.url}/docs/a/b/nowhere`]);
    },
  );

  test('texts that look like attributes stay texts, and nothing runs where the policy is off', {
    timeout: 60_000,
  }, async () => {
    const data = newFolder();
    listAllFiles(site.folder());
    const running = await host({ BINDERY_DATA: data, BINDERY_BUNDLE_PATH: site.folder() });
    await hostReadiness(running, isReady);
    const attributes = async (address: string) => {
      const page = await site.open(address, { bypassCSP: true });
      const found = await page.locator('.mdx-content *').evaluateAll((all) =>
        all.map((one) => {
          const of = [...one.attributes].filter(({ name }) => name !== 'src' && name !== 'href');
          return [one.localName, ...of.map(({ name, value }) => `${name}=${value}`)].join(' ');
        }),
      );
      await page.locator('.mdx-content .card').hover();
      return { page, found, title: await page.title() };
    };
    const exported = await attributes('attributes.html');
    const served = await attributes(`${running.url}/attributes`);
    expect(served.found).toEqual(exported.found);
    expect([served.title, exported.title]).toEqual(['Attributes - Acme', 'Attributes - Acme']);
    expect(await served.page.locator('.mdx-content iframe').getAttribute('sandbox')).toContain('allow-scripts');
    const picture = served.page.locator('.mdx-content img').first();
    expect(await picture.evaluate((image) => (image as HTMLElement & { naturalWidth: number }).naturalWidth)).toBe(8);
    expect(await picture.getAttribute('title')).toBe('y onerror=document.title=1 style=outline:9px z');
  });

  test('with a key for the platform its search is on, also behind a login', async () => {
    const data = newFolder();
    const platform = await startPlatform();
    try {
      listAllFiles(site.folder());
      const running = await host({
        BINDERY_DATA: data,
        BINDERY_BUNDLE_PATH: site.folder(),
        BINDERY_SITE_DEPLOYMENT: 'client-hosted',
        BINDERY_PLATFORM_URL: platform.url,
        BINDERY_DOCS_DOMAIN: 'acme',
        BINDERY_ASK_KEY: 'svc_dsc_ours',
        BINDERY_LOGIN: 'basic',
        BINDERY_LOGIN_USERS: 'ana:a-long-password-of-ana',
      });
      await hostReadiness(running, isReady);
      const { port } = new URL(running.url);
      const page = await site.open(`http://ana:a-long-password-of-ana@127.0.0.1:${port}/guides/start`);
      const refused: string[] = [];
      page.on('response', (answer) => answer.status() >= 400 && refused.push(`${answer.status()} ${answer.url()}`));
      await page.keyboard.press('/');
      const searched = page.waitForResponse((answer) => answer.url().includes('/discovery/'));
      await page.keyboard.type('porcupine');
      expect((await searched).status()).toBe(200);
      expect(platform.asked[0]).toBe('POST /discovery/v1/search/acme Bearer svc_dsc_ours');
      expect(refused).toEqual([]);
    } finally {
      await platform.close();
    }
  });

  test("the host's own pages can be read on a phone, light and dark", async () => {
    const data = newFolder();
    const running = await host({ BINDERY_DATA: data, BINDERY_STATIC_EXPORT_ENABLED: '0' });
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await site.open(running.url, { viewport: { width: 390, height: 844 }, colorScheme });
      const sentence = page.getByText('There is no version of this site here yet.');
      const box = await sentence.boundingBox();
      expect([box !== null && box.x >= 16, box !== null && box.x + box.width <= 374]).toEqual([true, true]);
      // The page also tells the browser its colour scheme.
      expect(await page.evaluate("getComputedStyle(document.querySelector('main')).color")).toBe(
        colorScheme === 'dark' ? 'rgb(255, 255, 255)' : 'rgb(0, 0, 0)',
      );
      expect(await page.getByRole('link', { name: 'Try again' }).getAttribute('href')).toBe('/');
      expect(site.problems.filter((problem) => !problem.includes('503'))).toEqual([]);
      await site.keepPicture(page, `docs-host-sentence-${colorScheme}`);
    }
  });
});
