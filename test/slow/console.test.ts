import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { start, settings } from '#services/console/main.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import type { Running } from '#shared/service/start-service.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { findBarriers } from '../support/find-barriers.ts';
import { newFolder } from '../support/new-folder.ts';
import { openBrowser } from '../support/open-browser.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';
import { testLogger } from '../support/test-logger.ts';

/** A name that would run as a script, or break out of an attribute. */
const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>`;

/** Both widths and both schemes. */
const layouts = [
  { viewport: { width: 390, height: 900 }, colorScheme: 'light' },
  { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
] as const;

/** A project with a hostile title, a link that leads nowhere, and words that differ between its versions. */
function project(words: string): string {
  const folder = newFolder();
  mkdirSync(join(folder, 'guides'));
  const navigation = { pages: ['index', 'guides/install', 'guides/odd'] };
  writeFileSync(
    join(folder, 'docs.json'),
    JSON.stringify({ name: hostile, theme: 'mint', colors: { primary: '#0f766e' }, navigation }),
  );
  writeFileSync(join(folder, 'index.mdx'), `---\ntitle: Start\n---\n\n${words}\n\n[Nowhere](/none)\n`);
  writeFileSync(join(folder, 'guides/install.mdx'), '---\ntitle: Install\n---\n\nRun `npm start` to install it.\n');
  writeFileSync(join(folder, 'guides/odd.mdx'), `---\ntitle: ${JSON.stringify(hostile)}\n---\n\nOdd.\n`);
  return folder;
}

describeWithServers(['nats-server', 'chromium'], 'the console of a whole installation in a browser', () => {
  let installation: TestInstallation;
  let site: Running;
  let browser: Browser;
  let base: string;

  beforeAll(async () => {
    installation = await startInstallation({ processes: 'shared', sitesPort: 0 });
    const { admin, domain, organization } = installation;
    base = `/o/${organization}`;
    await installation.publish(project('The first words.'));
    await admin.json(`/v1/domains/${domain}/site`, { method: 'PUT', json: {} });
    await installation.publish(project('Other words.'), 'v2');
    await installation.exportSite();
    await admin.json('/v1/api-keys', { method: 'POST', json: { kind: 'admin', name: hostile.slice(0, 100) } });
    const config = loadConfig(settings, {
      BINDERY_DATA: newFolder(),
      BINDERY_PLATFORM_URL: installation.installation.baseUrl,
      BINDERY_CONSOLE_PORT: '0',
      BINDERY_CONSOLE_SECRET: 'the-secret-of-sessions-of-the-console-in-tests',
      BINDERY_PERSON_TOKEN_KEY: installation.installation.secrets.personTokenKey,
    });
    site = await start(config, testLogger);
    browser = await openBrowser();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    await installation?.stop();
  });

  async function signIn(context: BrowserContext): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${site.url}/sign-in`);
    await page.fill('#credential', installation.installation.secrets.operatorToken);
    await page.click('button');
    // The installation has one organization, so the first page is its overview.
    await page.waitForURL(`**${base}`);
    return page;
  }

  /** Faults of a page: messages of the browser, dialogs of scripts, barriers, and a layout that is wider than the window. */
  async function faultsOf(page: Page, address: string): Promise<string[]> {
    const faults: string[] = [];
    const onMessage = (message: { type(): string; text(): string }) =>
      message.type() === 'error' && faults.push(message.text());
    const onDialog = (dialog: { message(): string; dismiss(): Promise<void> }) => {
      faults.push(`a script opened the dialog ${dialog.message()}`);
      void dialog.dismiss();
    };
    page.on('console', onMessage).on('dialog', onDialog);
    const answer = await page.goto(site.url + address);
    if (answer?.status() !== 200) faults.push(`it is answered with ${answer?.status()}`);
    const wider = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    if (wider > 0) faults.push(`it is ${wider} pixels wider than the window`);
    faults.push(...(await findBarriers(page)));
    page.off('console', onMessage).off('dialog', onDialog);
    return faults.map((fault) => `${address}: ${fault}`);
  }

  /** Every page that links lead to, one of each kind: further rows of a list are like its first one. */
  async function addresses(page: Page): Promise<string[]> {
    const seen = new Map([['/organizations', '/organizations']]);
    for (const address of seen.values()) {
      await page.goto(site.url + address);
      const links = await page.$$eval('a[href^="/"]', (all) =>
        all.map((each) => each.getAttribute('href')?.split('#')[0] ?? ''),
      );
      for (const link of links) {
        const kind =
          link
            .replace(/(\/audit\/entries)\/.*/, '$1')
            .replaceAll(/\b(se|key|cv|th|req)_\w+|\b[0-9a-f]{8,}\b|\d+/g, '*')
            .split('=')[0] ?? '';
        if (!seen.has(kind) && !/\/audit\/export|\/download/.test(link)) seen.set(kind, link);
      }
    }
    return [...seen.values()];
  }

  test('has no fault on any page, at each width, light and dark, whatever names tenants choose', async () => {
    const finding = await browser.newContext();
    const all = await addresses(await signIn(finding));
    await finding.close();
    expect(all.length).toBeGreaterThan(20);
    const faults: string[] = [];
    for (const layout of layouts) {
      const context = await browser.newContext(layout);
      const page = await signIn(context);
      for (const address of all)
        faults.push(
          ...(await faultsOf(page, address)).map((fault) => `${layout.viewport.width} ${layout.colorScheme} ${fault}`),
        );
      await context.close();
    }
    expect(faults).toEqual([]);
  }, 600_000);

  test('shows the same heading and rows without scripts', async () => {
    const [withScripts, without] = [await browser.newContext(), await browser.newContext({ javaScriptEnabled: false })];
    const [one, other] = [await signIn(withScripts), await signIn(without)];
    for (const path of [
      '',
      '/domains',
      `/domains/${installation.domain}`,
      '/exports',
      '/keys',
      '/audit',
      '/usage',
      '/assistant',
    ]) {
      const shown = [];
      for (const page of [one, other]) {
        await page.goto(site.url + base + path);
        shown.push([await page.locator('h1').innerText(), await page.locator('main tbody tr').count()]);
      }
      expect([path, shown[1]]).toEqual([path, shown[0]]);
    }
    await withScripts.close();
    await without.close();
  });

  test('shows a new export and its end without loading the page again', async () => {
    const context = await browser.newContext();
    const page = await signIn(context);
    await page.goto(`${site.url}${base}/exports`);
    await page.evaluate('window.isKept = true');
    const { job } = await installation.exportSite({ onPageError: 'fail' });
    await page.getByText(/^1 new/).waitFor();
    expect(await page.evaluate('window.isKept')).toBe(true);
    await page.goto(`${site.url}${base}/exports/${job.jobId}`);
    expect(await page.locator('main').innerText()).toContain('completed');
    await page.goto(`${site.url}${base}/exports`);
    await page.evaluate('window.isKept = true');
    await page.click(`a[href="${base}/keys"]`);
    await page.waitForURL(`**${base}/keys`);
    expect(await page.evaluate('window.isKept')).toBe(true);
    await context.close();
  });
});
