import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { type ConsoleHarness, consoleHarness } from '../support/console-harness.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import {
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../support/gateway-harness.ts';
import { exportCommit, exportState } from '../support/make-commit.ts';
import { suiteBrowser } from '../support/suite-browser.ts';

describeWithServers(['chromium'], 'a person who moves through the console', () => {
  let gateway: GatewayHarness;
  let acme: TestOrganization;
  let site: ConsoleHarness;
  const { newContext } = suiteBrowser();

  beforeAll(async () => {
    gateway = await gatewayHarness();
    acme = await createOrganization(gateway);
    await gateway.bus.projected();
    site = await consoleHarness(gateway);
  });
  afterAll(async () => {
    await site?.close();
    await gateway?.close();
  });

  const jobId = (digit: string) => `se_${digit.repeat(22)}`;

  /** Stores the next state of an export. */
  async function job(digit: string, changes: Partial<ExportJobState> = {}): Promise<void> {
    const previous = await gateway.bus.exports.last(exportLogSubject(acme.id, jobId(digit)));
    const first = exportState({ organization: acme.id, jobId: jobId(digit), domain: 'docs' });
    const state = { ...first, ...previous?.commit.data.state, ...changes };
    await gateway.bus.exports.append(exportCommit(state, previous), { sequence: previous?.sequence ?? 0 });
    await gateway.bus.projected();
  }

  async function signedIn(): Promise<Page> {
    const page = await (await newContext()).newPage();
    await page.goto(`${site.url}/sign-in`);
    await page.fill('#credential', acme.adminKey);
    await page.click('button');
    await page.waitForURL(`**/o/${acme.id}`);
    return page;
  }

  test('sees on each page what happens there, also on those that scripts put in place of another one', async () => {
    await job('1', { phase: 'rendering', progress: 10 });
    const page = await signedIn();
    await page.click('a[href$="/exports"]');
    await page.waitForURL('**/exports');
    await page.evaluate('window.isKept = true');
    const followed: string[] = [];
    page.on('request', (request) => request.url().endsWith('/live') && followed.push(request.url()));
    await page.click(`a[href$="/exports/${jobId('1')}"]`);
    await page.waitForURL(`**/exports/${jobId('1')}`);
    await job('1', { phase: 'rendering', progress: 37 });
    await page.locator('#export-now', { hasText: '37 %' }).waitFor();
    // The command palette leads from a page to one of the same kind.
    await job('2', { phase: 'rendering', progress: 11 });
    await page.keyboard.press('Control+k');
    await page.fill('#palette input', jobId('2'));
    await page.click(`#palette-found a[href$="${jobId('2')}"]`);
    await page.waitForURL(`**/exports/${jobId('2')}`);
    await page.locator('#export-now', { hasText: '11 %' }).waitFor();
    await job('2', { phase: 'rendering', progress: 44 });
    await page.locator('#export-now', { hasText: '44 %' }).waitFor();
    // The connection of the page before is closed, and what happens to its export is not shown here.
    await expect.poll(() => followed.filter((path) => path.includes(jobId('2'))).length).toBeGreaterThan(0);
    const since = followed.length;
    await job('1', { phase: 'rendering', progress: 71 });
    await job('2', { phase: 'rendering', progress: 45 });
    await page.locator('#export-now', { hasText: '45 %' }).waitFor();
    await job('1', { phase: 'rendering', progress: 72 });
    await job('2', { phase: 'rendering', progress: 46 });
    await page.locator('#export-now', { hasText: '46 %' }).waitFor();
    expect(followed.slice(since).filter((path) => path.includes(jobId('1')))).toEqual([]);
    expect(await page.evaluate('window.isKept')).toBe(true);
    await page.goBack();
    await page.goBack();
    await page.locator('h1', { hasText: 'Exports' }).waitFor();
    await job('1', { phase: 'rendering', progress: 58 });
    await page.locator(`#row-${jobId('1')}`, { hasText: '58 %' }).waitFor();
    await page.context().close();
  });

  test('sees nothing of it any more after signing out, neither going back nor through a link', async () => {
    const page = await signedIn();
    await page.goto(`${site.url}/o/acme/keys`);
    await page.locator('h1', { hasText: 'API keys' }).waitFor();
    await page.click('text="Sign out"');
    await page.waitForURL('**/sign-in');
    await page.goBack();
    await page.locator('h1').waitFor();
    expect(await page.locator('h1').innerText()).toBe('Sign in');
    await page.context().close();
  });

  test('whose session ended elsewhere is asked to sign in by the next link, and returns to its page', async () => {
    const page = await signedIn();
    const other = await site.signedIn(acme.adminKey);
    await other.send('/sign-out/everywhere');
    await page.click('a[href$="/usage"]');
    await page.locator('h1', { hasText: 'Sign in' }).waitFor();
    await page.fill('#credential', acme.adminKey);
    await page.click('button');
    await page.waitForURL('**/usage');
    await page.context().close();
  });
});
