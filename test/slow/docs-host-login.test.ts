import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { downloadVerified } from '#services/cli/export-client.ts';
import type { CreatedApiKey } from '#shared/interfaces/http/directory.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { docsHosts, hostReadiness, isReady } from '../support/docs-host.ts';
import { openBrowser } from '../support/open-browser.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';

const minuteMs = 60_000;
const pages = {
  'docs.json': '{"name":"Acme","theme":"mint","colors":{"primary":"#0f766e"},"navigation":{"pages":["index","keys"]}}',
  'index.mdx': '---\ntitle: Welcome\n---\n\nRead about [keys](/keys).\n',
  'keys.mdx': '---\ntitle: API keys\n---\n\n## Rotate a key\n\nPress Rotate on the keys page to rotate a key.\n',
};

describeWithServers(['nats-server', 'chromium'], 'a host with a login at a provider, and a platform behind it', () => {
  const { folder, atEnd, host } = docsHosts();
  let platform: TestInstallation;
  let browser: Browser;

  beforeAll(async () => {
    platform = await startInstallation();
    const project = join(platform.folder, 'project');
    await mkdir(project);
    for (const [name, text] of Object.entries(pages)) await writeFile(join(project, name), text);
    await platform.publish(project);
    browser = await openBrowser();
  }, 2 * minuteMs);
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
  });

  async function startProvider(site: string, base: string): Promise<string> {
    const client = {
      client_id: 'docs',
      client_secret: 'the-secret-of-the-client',
      redirect_uris: [`${site}${base}/_bindery/login`],
      post_logout_redirect_uris: [`${site}${base}/`],
    };
    const provider: ChildProcess = fork(
      join(import.meta.dirname, '../support/oidc-provider.mjs'),
      [JSON.stringify({ clients: [client] })],
      { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] },
    );
    atEnd(async () => provider.kill());
    const [line] = (await once(provider.stdout ?? provider, 'data')) as [Buffer];
    return (JSON.parse(String(line)) as { issuer: string }).issuer;
  }

  /** Fills in the forms of the provider. */
  async function logIn(page: Page, name: string): Promise<void> {
    await page.locator('input[name=login]').fill(name);
    await page.locator('input[name=password]').fill('any');
    await page.locator('[type=submit]').click();
    await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
    await page.locator('[type=submit]').click();
  }

  async function searchFor(page: Page, text: string): Promise<number> {
    await page.keyboard.press('/');
    const answer = page.waitForResponse((each) => each.url().includes('/discovery/v1/search/'));
    await page.keyboard.type(text);
    return (await answer).status();
  }

  test.each(['', '/docs'])(
    'below "%s": a reader logs in, searches and asks; readers without permission get nothing',
    { timeout: 2 * minuteMs },
    async (base) => {
      const { link } = await platform.exportSite({ deployment: 'client-hosted' });
      const file = join(folder(), 'site.tar.gz');
      expect((await downloadVerified(link, file)).problems).toEqual([]);
      const { key } = await platform.admin.json<CreatedApiKey>('/v1/api-keys', {
        method: 'POST',
        json: { kind: 'assistant', name: 'host', scopes: ['read', 'proxy'], allowedAddresses: ['127.0.0.1'] },
      });
      const [port] = await freePorts(1);
      const site = `http://127.0.0.1:${port}`;
      const running = await host({
        BINDERY_DOCS_HOST_PORT: String(port),
        BINDERY_BASE_PATH: base,
        BINDERY_BUNDLE_PATH: file,
        BINDERY_PLATFORM_URL: platform.installation.baseUrl,
        BINDERY_DOCS_DOMAIN: platform.domain,
        BINDERY_ASK_KEY: key,
        BINDERY_LOGIN: 'oidc',
        BINDERY_OIDC_ISSUER: await startProvider(site, base),
        BINDERY_OIDC_CLIENT_ID: 'docs',
        BINDERY_OIDC_CLIENT_SECRET: 'the-secret-of-the-client',
        BINDERY_LOGIN_SESSION_SECRET: 'a-secret-of-32-characters-or-more',
        BINDERY_LOGIN_GROUPS: 'writers',
        BINDERY_SITE_URL: site,
      });
      await hostReadiness(running, isReady);

      const context = await browser.newContext();
      atEnd(() => context.close());
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('pageerror', (error) => problems.push(error.message));
      page.on('response', (answer) => {
        if (answer.url().startsWith(site) && answer.status() >= 400)
          problems.push(`${answer.status()} ${answer.url()}`);
      });
      await page.goto(`${site}${base}/keys`);
      await logIn(page, 'ada');
      await page.waitForURL(`${site}${base}/keys`);
      expect(await page.locator('h1').textContent()).toBe('API keys');
      expect(await searchFor(page, 'rotate')).toBe(200);
      await page.locator('.search-section').first().waitFor();
      await page.keyboard.press('Escape');
      await page.locator('.assistant-entry').first().click();
      await page.locator('.assistant-field').fill('How do I rotate a key?');
      await page.keyboard.press('Enter');
      await page.locator('.assistant-actions, .assistant-problem').first().waitFor();
      expect(await page.locator('.assistant-turn').last().textContent()).toContain('Rotate');
      await page.locator('.assistant-sources a').first().waitFor();
      expect(problems).toEqual([]);

      const others = await browser.newContext();
      atEnd(() => others.close());
      const refused = await others.newPage();
      await refused.goto(`${site}${base}/keys`);
      await logIn(refused, 'bob');
      await refused.getByText('your account may not read this site').waitFor();
      expect((await others.cookies()).map(({ name }) => name)).not.toContain('bindery-session');
      await refused.getByRole('link', { name: 'Log out' }).click();
      await refused.waitForURL(/\/session\/end/);
    },
  );
});
