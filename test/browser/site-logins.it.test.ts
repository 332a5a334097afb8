import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { hashOfPassword } from '#shared/http/password-hash.ts';
import { askHost } from '../support/ask-host.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { docsHosts, type TestedHost } from '../support/docs-host.ts';
import { exampleBundle } from '../support/example-bundle.ts';
import { type SitesPlatform, sitesPlatform } from '../support/sites-platform.ts';
import { suiteBrowser } from '../support/suite-browser.ts';

const waiting = { timeout: 60_000, interval: 20 };

describeWithServers(
  ['chromium'],
  'logins of two sites of a platform (in Chromium; skipped where there is none)',
  () => {
    const { host, atEnd } = docsHosts();
    const { newContext } = suiteBrowser();
    let platform: SitesPlatform;
    let port = 0;
    let running: TestedHost;
    /** The cookies that each site received, by the host name of its requests. */
    let received: { host: string; cookie: string }[];

    beforeEach(async () => {
      [port = 0] = await freePorts(1);
      platform = await sitesPlatform();
      atEnd(() => platform.close());
      received = [];
    });

    async function served(env: Record<string, string> = {}): Promise<void> {
      running = await host({ ...platform.env, BINDERY_DOCS_HOST_PORT: String(port), ...env });
      const count = () => running.log.filter(({ msg }) => msg === 'a deployment is served').length;
      await expect.poll(count, waiting).toBe(platform.sites.size);
    }

    async function openPage(context: BrowserContext): Promise<Page> {
      const page = await context.newPage();
      page.on('request', (request) => {
        const cookies = request.allHeaders().then((headers) => headers.cookie ?? '');
        void cookies.then((cookie) => received.push({ host: new URL(request.url()).hostname, cookie })).catch(() => {});
      });
      return page;
    }

    const at = (name: string, path = '/') => `http://${name}.localhost:${port}${path}`;
    const textOf = async (page: Page) => (await page.textContent('body')) ?? '';

    async function startProvider(): Promise<string> {
      const client = {
        client_id: 'docs',
        client_secret: 'the-secret-of-the-client',
        // All sites share one redirect address.
        redirect_uris: [at('login', '/_bindery/login')],
      };
      const file = join(import.meta.dirname, '../support/oidc-provider.mjs');
      const provider = fork(file, [JSON.stringify({ clients: [client] })], {
        stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
      });
      atEnd(async () => provider.kill());
      const [line] = (await once(provider.stdout ?? provider, 'data')) as [Buffer];
      return (JSON.parse(String(line)) as { issuer: string }).issuer;
    }

    async function logIn(page: Page, name: string): Promise<void> {
      await page.locator('input[name=login]').fill(name);
      await page.locator('input[name=password]').fill('any');
      await page.locator('[type=submit]').click();
      await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
      await page.locator('[type=submit]').click();
    }

    test('an account opens the sites whose rules name it, and the cookies of one are not sent to the other', {
      timeout: 90_000,
    }, async () => {
      const login = (group: string) => ({ kind: 'oidc' as const, groups: [group], emailDomains: [] });
      platform.deploy({ domain: 'one', bundle: await exampleBundle('one'), login: login('writers') });
      platform.deploy({ domain: 'two', bundle: await exampleBundle('two'), login: login('nobody') });
      platform.deploy({ domain: 'three', bundle: await exampleBundle('three'), login: login('staff') });
      for (const served of platform.sites.values()) served.address = at(served.domain, '').replace(/\/$/, '');
      await served({
        BINDERY_OIDC_ISSUER: await startProvider(),
        BINDERY_OIDC_CLIENT_ID: 'docs',
        BINDERY_OIDC_CLIENT_SECRET: 'the-secret-of-the-client',
        BINDERY_LOGIN_SESSION_SECRET: 'a-secret-of-32-characters-or-more',
        BINDERY_SITES_BASE: `localhost:${port}`,
      });
      const context = await newContext();
      const page = await openPage(context);
      await page.goto(at('one', '/guides/x?a=1'));
      await logIn(page, 'ada');
      await page.waitForURL(at('one', '/guides/x?a=1'));
      await page.goto(at('one'));
      expect(await textOf(page)).toContain('Version one');
      const ofOne = await context.cookies(at('one'));
      expect(ofOne.map(({ name, domain, httpOnly }) => [name, domain, httpOnly])).toContainEqual([
        'bindery-session',
        'one.localhost',
        true,
      ]);
      // Ada is still logged in at the provider, so only the rules of each site decide.
      await page.goto(at('two'));
      await page.getByText('your account may not read this site').waitFor();
      await page.goto(at('three'));
      await page.waitForURL(at('three'));
      expect(await textOf(page)).toContain('Version three');
      const session = ofOne.find(({ name }) => name === 'bindery-session')?.value ?? '-';
      // Each request with the session went to its site, and there was at least one.
      const withSession = () => received.filter(({ cookie }) => cookie.includes(session)).map((each) => each.host);
      await expect.poll(() => [...new Set(withSession())], waiting).toEqual(['one.localhost']);
      // A copy of the cookie does not log in at the other site.
      const copied = (name: string) =>
        askHost(running.url, `${name}.localhost`, '/', { headers: { cookie: `bindery-session=${session}` } });
      expect([(await copied('one')).status, (await copied('three')).status]).toEqual([200, 401]);
      await page.goto(at('one', '/_bindery/logout'));
      // The reader was redirected to the logout of the provider.
      expect(page.url()).toContain('/session/end');
      expect((await copied('one')).status).toBe(401);
    });

    test('a name and a password open one site, and its cookie stays there', async () => {
      const hash = await hashOfPassword('correct horse battery');
      const login = { kind: 'password' as const, users: [{ name: 'anna', hash }] };
      for (const domain of ['one', 'two']) platform.deploy({ domain, bundle: await exampleBundle(domain), login });
      await served();
      const context = await newContext({
        httpCredentials: {
          username: 'anna',
          password: 'correct horse battery',
          origin: at('one', '').replace(/\/$/, ''),
        },
      });
      const page = await openPage(context);
      const failed: string[] = [];
      await page.goto(at('one'));
      page.on('response', (answer) => {
        if (answer.status() >= 400) failed.push(`${answer.status()} ${answer.url()}`);
      });
      await page.reload();
      expect(await textOf(page)).toContain('Version one');
      expect(failed).toEqual([]);
      const [cookie] = await context.cookies(at('one'));
      expect(cookie).toMatchObject({
        name: 'bindery_reader',
        domain: 'one.localhost',
        httpOnly: true,
        sameSite: 'Strict',
      });
      const other = await page.goto(at('two')).catch(() => undefined);
      expect(other?.status() ?? 401).toBe(401);
      const value = cookie?.value ?? '-';
      expect(received.some((each) => each.host === 'one.localhost' && each.cookie.includes(value))).toBe(true);
      expect(received.filter((each) => each.host !== 'one.localhost' && each.cookie !== '')).toEqual([]);
    });
  },
);
