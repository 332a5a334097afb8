import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportJobAggregate, type ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import { followContent, settleDeployment } from '#shared/aggregates/site/decide.ts';
import { siteAggregate, type SiteEvent, type SiteState } from '#shared/aggregates/site/site.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { exportLogSubject, siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { packTar } from '../../../../test/support/archives.ts';
import { type ConsoleHarness, consoleHarness } from '../../../../test/support/console-harness.ts';
import { contentServices } from '../../../../test/support/content-services.ts';
import { describeWithServers } from '../../../../test/support/describe-with-servers.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  type TestOrganization,
} from '../../../../test/support/gateway-harness.ts';
import { exportRequested } from '../../../../test/support/make-commit.ts';
import { storeReportedBundle } from '../../../../test/support/store-reported-bundle.ts';
import { suiteBrowser } from '../../../../test/support/suite-browser.ts';

const script = '<script>alert(1)</script>';
const navigation = ['index', 'a', 'guides/old'];
const docsJson = (pages: string[]) =>
  JSON.stringify({ name: 'Docs', theme: 'mint', colors: { primary: '#0d9373' }, navigation: { pages } });
const first = {
  'docs.json': docsJson(navigation),
  'index.mdx': '---\ntitle: Start\n---\n\nHello.\n',
  'a.mdx': `---\ntitle: "${script}"\n---\n\nA.\n`,
  'guides/old.mdx': '# Old\n',
};
const second = {
  'docs.json': docsJson(['index', 'a', 'new']),
  'index.mdx': `---\ntitle: Start\n---\n\nHello, ${script}\n`,
  'a.mdx': first['a.mdx'],
  'new.mdx': '# New\n',
};

let gateway: GatewayHarness;
let acme: TestOrganization;
let site: ConsoleHarness;
/** The older and the newer content. */
let versions: [string, string];

const request = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) =>
  (
    await gateway.app.inject({
      method,
      url,
      headers: bearer(acme.adminKey),
      ...(payload === undefined ? {} : { payload }),
    })
  ).json();

async function publish(files: Record<string, string>, query = ''): Promise<string> {
  const { contentVersion } = (
    await gateway.app.inject({
      method: 'PUT',
      url: `/v1/domains/docs/content${query}`,
      headers: { ...bearer(acme.adminKey), 'content-type': 'application/gzip' },
      payload: await packTar(files),
    })
  ).json<{ contentVersion: string }>();
  return contentVersion;
}

async function deployer(decide: (state: SiteState | undefined) => SiteEvent[]): Promise<SiteState | undefined> {
  const { bus, clock } = gateway;
  const { stored } = await handleCommand({ log: bus.sites, clock, random: randomBase62 }, siteAggregate, {
    subject: siteLogSubject(acme.id, 'docs'),
    decide,
    origin: { source: 'deployer', actor: { kind: 'service', id: 'deployer' }, causationId: 'c', correlationId: 'c' },
  });
  await bus.projected();
  return stored?.commit.data.state;
}

/** Follows a publication as the deployer does. Returns the export of each deployment that runs. */
async function follow(latest: string, labels: Record<string, string> = {}): Promise<string[]> {
  const publishedAt = gateway.clock.time.toISOString();
  const followed = Object.entries(labels).map(([label, contentVersion]) => [label, { contentVersion, publishedAt }]);
  const state = await deployer((before) =>
    followContent(before, { latest, labels: Object.fromEntries(followed) }, gateway.clock.time),
  );
  return state?.deployments.filter(({ status }) => status === 'running').map(({ jobId }) => jobId) ?? [];
}

async function goLive(jobId: string): Promise<void> {
  const { bus, clock } = gateway;
  const { bundle, planHash, manifestSha256 } = await storeReportedBundle(gateway.objectStore, {
    organization: acme.id,
  });
  const events: ExportEvent[] = [
    exportRequested({ organization: acme.id, jobId, domain: 'docs', contentVersion: versions[1] }),
    {
      type: 'PagesPlanned',
      version: 1,
      data: { planHash, rendererVersion: `rv_${'1'.repeat(16)}`, chunkCount: 1, pageTotal: 1 },
    },
    {
      type: 'ExportCompleted',
      version: 1,
      data: { bundleKey: bundle.key, sizeBytes: bundle.sizeBytes, sha256: bundle.sha256, manifestSha256 },
    },
  ];
  await handleCommand({ log: bus.exports, clock, random: randomBase62 }, exportJobAggregate, {
    subject: exportLogSubject(acme.id, jobId),
    decide: () => events,
    origin: { source: 't', actor: { kind: 'service', id: 't' }, causationId: 'c', correlationId: 'c' },
  });
  await deployer((state) => settleDeployment(state, jobId, bundle));
}

beforeAll(async () => {
  gateway = await gatewayHarness({}, contentServices);
  acme = await createOrganization(gateway);
  site = await consoleHarness(gateway);
  versions = [await publish(first, '?version=v1'), await publish(second)];
  await request('PUT', '/v1/domains/docs/site', { hosts: ['docs.acme.test'] });
  for (const jobId of await follow(versions[0], { v1: versions[0] })) await goLive(jobId);
  for (const jobId of await follow(versions[1], { v1: versions[0] })) await goLive(jobId);
  await gateway.bus.projected();
});
afterAll(async () => {
  await site.close();
  await gateway.close();
});

/** Words of a page without its tags. */
const wordsOf = (page: string): string =>
  page
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&#39;/g, "'")
    .replaceAll(/\s+/g, ' ');

test('the list and the overview show the site, its last deployment and the number of contents', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  for (const path of ['/o/acme/domains', '/o/acme']) {
    const { html } = await visitor.get(path);
    expect(html).toContain('href="/o/acme/domains/docs"');
    expect(html).toContain('href="http://docs.acme.test:8090"');
    expect(wordsOf(html)).toMatch(/docs live docs\.acme\.test:8090 live just now 2/);
  }
  expect((await visitor.get('/o/acme/find?q=doc')).html).toContain('href="/o/acme/domains/docs"');
  expect((await visitor.get('/o/acme/domains/unknown')).status).toBe(404);
});

test('a list of many domains costs as many requests as one of a single domain', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  const asked: string[] = [];
  const { onAnswer } = gateway.context;
  gateway.context.onAnswer = (seen) => {
    asked.push(seen.route);
    onAnswer?.(seen);
  };
  const requestsOf = async (path: string) => {
    asked.length = 0;
    expect((await visitor.get(path)).status).toBe(200);
    return asked.filter((route) => route !== 'GET /v1/whoami').toSorted();
  };
  const [list, overview] = [await requestsOf('/o/acme/domains'), await requestsOf('/o/acme')];
  expect(list).toEqual(['GET /v1/domains']);
  for (let at = 0; at < 60; at += 1)
    await gateway.app.inject({
      method: 'POST',
      url: `/v1/organizations/${acme.id}/domains`,
      headers: bearer(operatorToken),
      payload: { domain: `zz-${at}` },
    });
  await gateway.bus.projected();
  expect(await requestsOf('/o/acme/domains')).toEqual(list);
  expect(await requestsOf('/o/acme')).toEqual(overview);
  const first = (await visitor.get('/o/acme/domains')).html;
  const next = /href="([^"]*)" rel="next"/.exec(first)?.[1] ?? '';
  expect((await visitor.get(next.replaceAll('&amp;', '&'))).html).toContain('/domains/zz-9"');
  expect((await visitor.get('/o/acme')).html).toContain('All 61 domains');
});

test('a domain shows what the interface says about its deployments and contents', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  const { html } = await visitor.get('/o/acme/domains/docs');
  const { deployments } = await request('GET', '/v1/domains/docs/deployments');
  expect(deployments).toHaveLength(3);
  for (const { id, status, label } of deployments) {
    const row = new RegExp(`<tr id="deployment-${id}">.*?</tr>`, 's').exec(html)?.[0] ?? '';
    expect(wordsOf(row)).toContain(`${id} ${status} ${label ?? 'live site'}`);
    // The key that published is named, although the deployer asked for the deployment.
    expect(wordsOf(row)).toContain('first key');
    expect(row.includes('Roll back')).toBe(id === 1);
  }
  expect(html).toContain(`href="/o/acme/domains/docs/content/${versions[0]}#label-v1">End</a>`);
  expect(html).toContain(`content/${versions[1]}/changes?from=${versions[0]}`);
  const viewer = await site.signedIn(
    (await request('POST', '/v1/api-keys', { kind: 'admin', name: 'viewer', scopes: ['read'] })).key,
  );
  const seen = (await viewer.get('/o/acme/domains/docs')).html;
  expect(seen).toContain('deployment-3');
  for (const word of ['Roll back', 'Deploy again', 'Export now', '>End<']) expect(seen).not.toContain(word);
});

test('a rollback and a deployment again are asked for, and shown live until they end', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  const before = (await request('GET', '/v1/domains/docs/deployments')).deployments.length;
  const asked = await visitor.send('/o/acme/domains/docs/rollback', { deployment: '1' });
  expect([asked.status, (await request('GET', '/v1/domains/docs/deployments')).deployments.length]).toEqual([
    200,
    before,
  ]);
  expect(asked.html).toContain('Readers see deployment 1 again, at once.');
  expect(asked.html).toContain('<input type="hidden" name="deployment" value="1">');
  expect(asked.html).toContain('<input type="hidden" name="sure" value="yes">');
  expect(asked.html).toContain('href="/o/acme/domains/docs">Back</a>');
  const rolled = await visitor.send('/o/acme/domains/docs/rollback', { deployment: '1', sure: 'yes' });
  expect((await visitor.get(rolled.location ?? '')).html).toContain('Readers see deployment 1 again');
  await gateway.bus.projected();
  await visitor.send('/o/acme/domains/docs/deployments');
  await gateway.bus.projected();
  const page = await visitor.get('/o/acme/domains/docs');
  expect(page.html).toContain('hx-sse:connect="/o/acme/domains/docs/live"');
  const stop = new AbortController();
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const live = await fetch(`${site.url}/o/acme/domains/docs/live`, { headers: { cookie }, signal: stop.signal });
  expect(live.headers.get('content-type')).toBe('text/event-stream');
  const parts = live.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const until = async (words: RegExp) => {
    while (!words.test(text)) text += (await parts?.read())?.value ?? '';
  };
  await until(/<hx-partial hx-target="#live"[^]*live, deploying/);
  const running = (await request('GET', '/v1/domains/docs/deployments')).deployments[0];
  expect(running.actor).toEqual({ kind: 'key', id: acme.adminKeyId });
  text = '';
  await goLive(running.jobId);
  await until(new RegExp(`<hx-partial hx-target="#live"[^]*id="deployment-${running.id}"[^]*?live</span>`));
  stop.abort();
});

describeWithServers(['chromium'], 'in a browser', () => {
  const { newContext } = suiteBrowser();

  test('the page of a domain moves on while a deployment runs, without a reload', async () => {
    await request('POST', '/v1/domains/docs/deployments');
    await gateway.bus.projected();
    const page = await (await newContext()).newPage();
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await page.goto(`${site.url}/sign-in`);
    await page.fill('#credential', acme.adminKey);
    await page.click('main button');
    await page.goto(`${site.url}/o/acme/domains/docs`);
    const state = page.locator('#live dl .state');
    expect(await state.textContent()).toBe('live, deploying');
    await page.evaluate(() => Object.assign(globalThis, { isSame: true }));
    const { deployments } = await request('GET', '/v1/domains/docs/deployments');
    await goLive(deployments[0].jobId);
    await expect.poll(() => state.textContent()).toBe('live');
    expect(await page.locator(`#deployment-${deployments[0].id} .state`).textContent()).toBe('live');
    expect(await page.evaluate(() => 'isSame' in globalThis)).toBe(true);
    // A dialog of the page asks before a rollback, and Escape or "Back" changes nothing.
    const rollBack = page.locator('#live form button', { hasText: 'Roll back' }).first();
    const question = page.locator('#question');
    const known = async () => (await request('GET', '/v1/domains/docs/deployments')).deployments.length;
    const before = await known();
    await rollBack.click();
    expect(await question.textContent()).toMatch(/Show readers deployment \d+ again/);
    await page.keyboard.press('Escape');
    await rollBack.click();
    await question.getByRole('button', { name: 'Back', exact: true }).click();
    expect([await question.isVisible(), await known()]).toEqual([false, before]);
    await rollBack.click();
    await question.getByRole('button', { name: 'Roll back' }).click();
    await page.getByText(/Readers see deployment \d+ again, as deployment/).waitFor();
    expect(await known()).toBe(before + 1);
    expect(problems).toEqual([]);
  });
});

test('two contents are compared: pages that differ, and the text of one', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  const base = `/o/acme/domains/docs/content/${versions[1]}`;
  const { html } = await visitor.get(`${base}/changes?from=${versions[0]}`);
  const compared = await request('GET', `/v1/domains/docs/content/${versions[1]}/changes?from=${versions[0]}`);
  expect(compared.summary).toEqual({ added: 1, removed: 1, changed: 1, unchanged: 1, otherFiles: 1 });
  for (const { path, change } of compared.changes) expect(wordsOf(html)).toMatch(new RegExp(`${path} .*${change}`));
  const difference = await visitor.get(`${base}/difference?from=${versions[0]}&page=index`);
  expect(difference.html).toContain('<del>Hello.</del>');
  expect(difference.html).toContain('<ins>Hello, &lt;script&gt;alert(1)&lt;/script&gt;</ins>');
  const removed = await visitor.get(`${base}/difference?from=${versions[0]}&page=guides%2Fold`);
  expect(removed.html).toContain('<del># Old</del>');
  expect((await visitor.get(`${base}/changes?from=nonsense`)).status).toBe(400);
  expect((await visitor.get(`${base}/difference?from=${versions[0]}&page=none`)).status).toBe(404);
});

test('findings are those of the newest export, each with its line, by severity and code', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  const base = `/o/acme/domains/docs/content/${versions[1]}/findings`;
  const all = await visitor.get(base);
  expect(wordsOf(all.html)).toContain('a.mdx warning No such component.');
  expect((await visitor.get(`${base}?code=broken-link`)).html).toContain('There is no such finding');
  expect((await visitor.get(`${base}?severity=error`)).html).toContain('There is no such finding');
  // The older content has its findings from the publication.
  const older = await visitor.get(`/o/acme/domains/docs/content/${versions[0]}/findings`);
  expect(older.status).toBe(200);
});

test('a content is promoted, loses its label and is deleted, once its name is typed', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  const base = `/o/acme/domains/docs/content/${versions[0]}`;
  expect((await visitor.get(base)).html).toContain('cannot be deleted, because it has labels');
  const wrong = await visitor.send(`${base}/unlabel`, { label: 'v1', confirm: 'v2' });
  expect((await visitor.get(wrong.location ?? '')).html).toContain('Nothing was removed');
  await visitor.send(`${base}/unlabel`, { label: 'v1', confirm: 'v1' });
  expect((await visitor.send(`${base}/promote`)).html).toContain('use this content then');
  await visitor.send(`${base}/promote`, { sure: 'yes' });
  expect((await visitor.get(base)).html).toContain('because it is the latest');
  await visitor.send(`/o/acme/domains/docs/content/${versions[1]}/promote`, { sure: 'yes' });
  const kept = await visitor.send(`${base}/delete`, { confirm: 'docs' });
  expect((await visitor.get(kept.location ?? '')).html).toContain('Nothing was deleted');
  const deleted = await visitor.send(`${base}/delete`, { confirm: versions[0].slice(3, 11) });
  expect((await visitor.get(deleted.location ?? '')).html).toContain('is deleted');
  expect((await visitor.get(base)).status).toBe(404);
});

test('an export begins with its options, and once although its form is sent twice', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  const form = await visitor.get('/o/acme/domains/docs/export');
  const once = /name="once" value="(\w+)"/.exec(form.html)?.[1] ?? '';
  const fields = { once, deployment: 'air-gapped', onPageError: 'report', paths: 'index a', search: 'bundle' };
  const [begun, again] = [
    await visitor.send('/o/acme/domains/docs/export', fields),
    await visitor.send('/o/acme/domains/docs/export', fields),
  ];
  expect([begun.status, again.status]).toEqual([303, 303]);
  await gateway.bus.projected();
  const { jobs } = await request('GET', '/v1/static-export/jobs?status=queued');
  expect(jobs).toHaveLength(1);
  const { events } = await request('GET', `/v1/static-export/jobs/${jobs[0].jobId}/events`);
  expect(events[0].data.options).toMatchObject({ deployment: 'air-gapped', onPageError: 'report' });
  const refused = await visitor.send('/o/acme/domains/docs/export', { ...fields, once: 'another', paths: 'nowhere' });
  expect(refused.status).toBe(400);
  expect(refused.html).toContain('value="nowhere"');
});

test('a site is changed, closed once its name is typed, and opened again', async () => {
  const visitor = await site.signedIn(acme.adminKey);
  const fields = {
    ...{ name: 'docs', hosts: 'docs.acme.test', assistant: 'off', assistantKey: '', previews: 'on' },
    ...{ login: 'password', protects: 'previews', users: 'ada a long password\n', groups: '', emailDomains: '' },
  };
  const saved = await visitor.send('/o/acme/domains/docs/site', fields);
  expect(saved.status).toBe(303);
  expect(await request('GET', '/v1/domains/docs/site')).toMatchObject({
    ...{ hosts: ['docs.acme.test'], previews: true, counts: false, assistant: false },
    login: { kind: 'password', protects: 'previews', users: [{ name: 'ada' }] },
  });
  const form = await visitor.get('/o/acme/domains/docs/site');
  expect(form.html).toMatch(/<textarea[^>]*>ada<\/textarea>/);
  const refused = await visitor.send('/o/acme/domains/docs/site', { ...fields, hosts: 'No Host!', users: 'bo secret' });
  expect(refused.status).toBe(400);
  expect(refused.html).toMatch(/<textarea[^>]*>bo<\/textarea>/);
  expect(refused.html).not.toContain('secret');
  const kept = await visitor.send('/o/acme/domains/docs/close', { confirm: 'other' });
  expect((await visitor.get(kept.location ?? '')).html).toContain('Nothing was closed');
  const closed = await visitor.send('/o/acme/domains/docs/close', { confirm: 'docs' });
  const page = (await visitor.get(closed.location ?? '')).html;
  expect(page).toContain('This domain has no site');
  await visitor.send('/o/acme/domains/docs/site', { ...fields, login: 'none' });
  const opened = await request('GET', '/v1/domains/docs/site');
  expect(opened).not.toHaveProperty('login');
});
