import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { suiteBrowser } from '../support/suite-browser.ts';
import { serveFolder, siteFolder } from './site-folder.ts';

const integrations = {
  amplitude: { apiKey: 'amp_1' },
  ga4: { measurementId: 'G-ABC1234567' },
  matomo: { url: 'https://matomo.acme.test/', siteId: 7 },
  mixpanel: { projectToken: 'mix_1' },
  plausible: { domain: 'docs.acme.test', server: 'stats.acme.test' },
  posthog: { apiKey: 'phc_1', apiHost: 'https://eu.i.posthog.test' },
  segment: { key: 'seg_1' },
  umami: { url: 'https://umami.acme.test/stats', websiteId: 'uma_1' },
};
const files = (named: object) => ({
  'docs.json': JSON.stringify({
    name: 'Acme',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    navigation: { pages: ['index', 'keys'] },
    integrations: named,
  }),
  'index.mdx': '---\ntitle: "Start"\n---\n\nGo to [keys](/keys).\n',
  'keys.mdx': '---\ntitle: "Keys"\n---\n\nKeys.\n',
});

type Sent = { url: string; body: string; headers: Record<string, string> };

describeWithServers(['chromium'], 'visits', () => {
  const { newContext } = suiteBrowser();

  /** A site on a web server, with the requests of its pages to other servers. */
  async function site(options: Parameters<typeof siteFolder>[1], named: object = integrations, script?: string) {
    const folder = await siteFolder(files(named), options);
    const host = await serveFolder(folder);
    onTestFinished(() => host.close());
    const context = await newContext();
    if (script !== undefined) await context.addInitScript(script);
    const sent: Sent[] = [];
    await context.route(/^(?!http:\/\/127\.0\.0\.1)/, async (route) => {
      const request = route.request();
      if (request.method() === 'POST')
        sent.push({ url: request.url(), body: request.postData() ?? '', headers: await request.allHeaders() });
      await route.fulfill({
        headers: { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' },
        body: '{}',
      });
    });
    const page = await context.newPage();
    const loaded: string[] = [];
    const said: string[] = [];
    page.on('request', (request) => loaded.push(request.url()));
    page.on('console', (message) => said.push(message.text()));
    return { folder, context, page, sent, loaded, said, home: `${host.url}/docs/` };
  }

  /** Waits until a page has no requests in flight. */
  const visit = (page: Page, url: string) => page.goto(url, { waitUntil: 'networkidle' });

  test('name the page that led to them, but not its query', async () => {
    const from = 'https://user:word@search.test/find?q=secret&token=t#x';
    const script = `Object.defineProperty(document, 'referrer', { get: () => ${JSON.stringify(from)} });`;
    const { page, sent, home } = await site({ deployment: 'cloud' }, integrations, script);
    await visit(page, `${home}index.html`);
    expect(sent).toHaveLength(Object.keys(integrations).length);
    for (const { url, body } of sent) {
      expect(decodeURIComponent(url + body)).not.toMatch(/secret|token=t|word/);
      expect(decodeURIComponent(url + body)).toContain('https://search.test/find');
    }
  });

  test('are counted once for each page by each service that the project names, and leave no data in the browser', async () => {
    const platform = { serverUrl: 'https://bindery.test', assistantKey: `svc_dsc_${'0'.repeat(36)}` };
    const { page, sent, said, home, context } = await site({ deployment: 'cloud', domain: 'acme', site: platform });
    await visit(page, `${home}index.html?token=secret&utm_source=mail#top`);
    const by = new Map(sent.map((one) => [new URL(one.url).host, one]));
    const url = `${home}index.html?utm_source=mail`;
    const json = (host: string): unknown => JSON.parse(by.get(host)?.body ?? '');
    const form = (host: string) => Object.fromEntries(new URLSearchParams(by.get(host)?.body ?? ''));
    expect(sent.map((one) => one.url.replace(/collect\?.*/, 'collect')).toSorted()).toEqual([
      'https://api-js.mixpanel.com/track?ip=0',
      'https://api.segment.io/v1/page',
      'https://api2.amplitude.com/2/httpapi',
      'https://eu.i.posthog.test/i/v0/e/',
      'https://matomo.acme.test/matomo.php',
      'https://stats.acme.test/api/event',
      'https://umami.acme.test/stats/api/send',
      'https://www.google-analytics.com/g/collect',
    ]);
    const google = new URL(by.get('www.google-analytics.com')?.url ?? '').searchParams;
    expect(Object.fromEntries(google)).toMatchObject({ v: '2', tid: 'G-ABC1234567', en: 'page_view', dl: url });
    expect(google.get('cid')).toMatch(/^\d+\.\d+$/);
    expect(json('stats.acme.test')).toEqual({ name: 'pageview', domain: 'docs.acme.test', url, referrer: null });
    expect(json('umami.acme.test')).toMatchObject({ type: 'event', payload: { website: 'uma_1', url } });
    expect(json('eu.i.posthog.test')).toMatchObject({
      api_key: 'phc_1',
      event: '$pageview',
      properties: { $current_url: url, $process_person_profile: false },
    });
    expect(json('api.segment.io')).toMatchObject({ writeKey: 'seg_1', properties: { url } });
    expect(json('api2.amplitude.com')).toMatchObject({ api_key: 'amp_1', events: [{ event_properties: { url } }] });
    expect(form('matomo.acme.test')).toMatchObject({ idsite: '7', rec: '1', url });
    expect(JSON.parse(form('api-js.mixpanel.com')['data'] ?? '')).toMatchObject([
      { properties: { token: 'mix_1', $current_url: url } },
    ]);
    for (const { url, headers, body } of sent) {
      expect(`${url}${JSON.stringify(headers)}${body}`).not.toMatch(/secret|"cookie"/);
      expect(headers['referer']).toBeUndefined();
    }
    const before = sent.length;
    await page.getByRole('link', { name: 'keys', exact: true }).click();
    await page.waitForLoadState('networkidle');
    expect(sent.length).toBe(2 * before);
    expect(
      sent
        .slice(before)
        .map(({ url, body }) => url + body)
        .join(),
    ).not.toContain('index.html');
    expect(await context.cookies()).toEqual([]);
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain('analytics');
    expect(said).toEqual([]);
  });

  test.each([
    ['a client-hosted bundle by default', { deployment: 'client-hosted', domain: 'acme' }, undefined],
    ['a reader who asks not to be tracked', { deployment: 'cloud', domain: 'acme' }, 'doNotTrack: { value: "1" }'],
    [
      'a reader with Global Privacy Control',
      { deployment: 'cloud', domain: 'acme' },
      'globalPrivacyControl: { value: true }',
    ],
  ] as const)('are not counted for %s', async (_who, options, property) => {
    const script = property && `Object.defineProperties(navigator, { ${property} })`;
    const { page, sent, home } = await site(options, integrations, script);
    await visit(page, home + 'index.html');
    expect(sent).toEqual([]);
  });

  test('are not counted by an air-gapped bundle, whose config.js names no service', async () => {
    const { page, sent, loaded, home, folder } = await site({ deployment: 'air-gapped', domain: 'acme' });
    await visit(page, home + 'index.html');
    expect(sent).toEqual([]);
    expect(loaded.every((url) => url.startsWith(home))).toBe(true);
    expect(readFileSync(join(folder, '_bindery/config.js'), 'utf8')).not.toMatch(/matomo|ga4/);
  });

  test('are counted by the services in config.js; unusable settings are reported and do not affect the others', async () => {
    const { page, sent, said, home, folder } = await site({ deployment: 'client-hosted', domain: 'acme' }, {});
    const config = join(folder, '_bindery/config.js');
    const analytics = {
      umami: { url: 'not an address', websiteId: 'x' },
      constructor: {},
      plausible: { domain: 'acme' },
    };
    writeFileSync(
      config,
      readFileSync(config, 'utf8')
        .replace('"analytics": false', '"analytics": true')
        .replace('"analytics": {}', `"analytics": ${JSON.stringify(analytics)}`),
    );
    await visit(page, home + 'index.html');
    expect(sent.map(({ url }) => url)).toEqual(['https://plausible.io/api/event']);
    expect(said).toEqual([
      '_bindery/config.js: analytics.umami cannot be used.',
      '_bindery/config.js: analytics.constructor cannot be used.',
    ]);
  });

  test('are counted only for readers who agreed, if the project asks for consent', async () => {
    const { plausible } = integrations;
    const cookies = { key: 'consent', value: 'yes' };
    const { page, sent, home, context } = await site({ deployment: 'cloud', domain: 'acme' }, { plausible, cookies });
    await visit(page, home + 'index.html');
    expect(sent).toEqual([]);
    await page.evaluate('localStorage.setItem("consent", "yes")');
    await visit(page, home + 'index.html');
    expect(sent).toHaveLength(1);
    await page.evaluate('localStorage.clear()');
    await context.addCookies([{ name: 'consent', value: 'yes', url: home }]);
    await visit(page, home + 'index.html');
    expect(sent).toHaveLength(2);
  });
});
