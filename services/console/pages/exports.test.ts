import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { type ConsoleHarness, consoleHarness } from '../../../test/support/console-harness.ts';
import { storeExample } from '../../../test/support/example-history.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { exportCommit, exportState } from '../../../test/support/make-commit.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';
import { rateOf } from './export.ts';

let gateway: GatewayHarness;
let acme: TestOrganization;
let globex: TestOrganization;
let site: ConsoleHarness;

beforeEach(async () => {
  gateway = await gatewayHarness();
  acme = await createOrganization(gateway);
  globex = await createOrganization(gateway, 'Globex');
  await gateway.bus.projected();
  site = await consoleHarness(gateway);
});
afterEach(async () => {
  await site.close();
  await gateway.close();
});

const jobId = (digit: string) => `se_${digit.repeat(22)}`;
const example = (digit: string, organization = acme.id) => ({ organization, jobId: jobId(digit), domain: 'docs' });

/** Stores the next state of a job, whose events do not lead to it. */
async function job(digit: string, changes: Partial<ExportJobState> = {}, organization = acme.id): Promise<void> {
  const previous = await gateway.bus.exports.last(exportLogSubject(organization, jobId(digit)));
  const state = { ...exportState(example(digit, organization)), ...previous?.commit.data.state, ...changes };
  await gateway.bus.exports.append(exportCommit(state, previous), { sequence: previous?.sequence ?? 0 });
  await gateway.bus.projected();
}

/** The messages of a stream of the console, until the test ends. */
async function follow(visitor: Awaited<ReturnType<ConsoleHarness['signedIn']>>, path: string) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const answer = await fetch(site.url + path, { headers: { cookie }, signal: stop.signal, redirect: 'manual' });
  const seen = { status: answer.status, text: '', isOver: false };
  void (async () => {
    for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) seen.text += part;
  })()
    .catch(() => {})
    .finally(() => (seen.isOver = true));
  return seen;
}

test('the list shows what the interface says, with filters in the address, and names as text', async () => {
  await job('1');
  await job('2', { phase: 'rendering', progress: 41 });
  await job('3', {
    phase: 'failed',
    error: '<script>alert(1)</script> is wrong',
    completedAt: '2026-03-01T10:00:09.000Z',
  });
  const visitor = await site.signedIn(acme.adminKey);
  const { html } = await visitor.get('/o/acme/exports');
  const listed = await gateway.app.inject({ url: '/v1/static-export/jobs', headers: bearer(acme.adminKey) });
  const links = [...html.matchAll(/<tr id="row-(se_\w+)"><th scope="row"><a href="\/o\/acme\/exports\/\1">/g)];
  expect(links.map(([, id]) => id)).toEqual(listed.json().jobs.map((each: { jobId: string }) => each.jobId));
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt; is wrong');
  expect(html).toContain('41 %');
  const failed = await visitor.get('/o/acme/exports?state=failed&domain=docs&since=2026-03-01');
  expect([...failed.html.matchAll(/id="row-(se_\w+)"/g)].map(([, id]) => id)).toEqual([jobId('3')]);
  expect((await visitor.get('/o/acme/exports?state=failed&since=2026-03-02')).html).toContain('No export fits');
  // A wrong filter is none.
  expect((await visitor.get('/o/acme/exports?state=nonsense&domain=')).html).toContain(`row-${jobId('1')}`);
});

test('rows of the list change in place, and new exports wait behind a link', async () => {
  await job('1');
  const visitor = await site.signedIn(acme.adminKey);
  const live = /hx-sse:connect="([^"]+)"/.exec((await visitor.get('/o/acme/exports')).html)?.[1] ?? '';
  const seen = await follow(visitor, live.replaceAll('&amp;', '&'));
  await waitUntil(() => seen.text.includes(`hx-target="#row-${jobId('1')}"`));
  await job('1', { phase: 'rendering', progress: 52 });
  await waitUntil(() => seen.text.includes('52 %'));
  expect(seen.text).not.toContain(' new</a>');
  await job('2', { createdAt: '2026-03-01T11:00:00.000Z' });
  await job('9', { createdAt: '2026-03-01T11:00:00.000Z' }, globex.id);
  await waitUntil(() => seen.text.includes('<a class="button" href="/o/acme/exports">1 new</a>'));
  await job('2', { phase: 'rendering' });
  await job('3', { createdAt: '2026-03-01T11:00:01.000Z' });
  await waitUntil(() => seen.text.includes('2 new</a>'));
  expect(seen.text).not.toContain(jobId('9'));
});

test('the page of an export has its timeline and events, and follows it until it ends', async () => {
  await storeExample(gateway.bus.exports, example('1'), 2_000);
  await gateway.bus.projected();
  const visitor = await site.signedIn(acme.adminKey);
  const address = `/o/acme/exports/${jobId('1')}`;
  const { html } = await visitor.get(address);
  expect(html).toContain('renderer Qm4t8Zk1');
  expect(html).toContain('chunk 9, attempt 1, renderer Qm4t8Zk1: its process ended with signal SIGKILL');
  expect(html).toContain('280 of 420');
  expect(html).toContain(`action="${address}/cancel"`);
  // The policy of the page forbids styles of elements.
  expect(html).not.toMatch(/\sstyle=/);
  const seen = await follow(visitor, `${address}/live`);
  await waitUntil(() => seen.text.includes('hx-target="#export-timeline"'));
  await storeExample(gateway.bus.exports, example('1'));
  await gateway.bus.projected();
  await vi.waitUntil(() => seen.isOver, 5_000);
  expect(seen.text).toMatch(/event: over\ndata:\n\n$/);
  expect(seen.text).toContain(`href="${address}/download"`);
  const { html: ended } = await visitor.get(address);
  expect(ended).not.toContain('hx-sse:connect');
  expect(ended).toContain('ExportCompleted');
  expect(ended).toContain('No other export');
});

test('a digest is compared with that of another export of the same content', async () => {
  await storeExample(gateway.bus.exports, example('1'));
  await storeExample(gateway.bus.exports, example('2'));
  await gateway.bus.projected();
  const visitor = await site.signedIn(acme.adminKey);
  const { html } = await visitor.get(`/o/acme/exports/${jobId('1')}?with=${jobId('2')}`);
  expect(html).toContain('Same digest');
});

test('a failed export says why and what to do, and a viewer can change nothing', async () => {
  await job('1', { phase: 'failed', error: 'A page is wrong.', completedAt: '2026-03-01T10:00:09.000Z' });
  const admin = await site.signedIn(acme.adminKey);
  const { html } = await admin.get(`/o/acme/exports/${jobId('1')}`);
  expect(html).toContain('<strong>A page is wrong.</strong>');
  expect(html).toContain('ask the operator');
  expect(html).toContain(`/exports/${jobId('1')}/replay`);
  const made = await gateway.app.inject({
    method: 'POST',
    url: '/v1/api-keys',
    headers: bearer(acme.adminKey),
    payload: { kind: 'admin', name: 'viewer', scopes: ['read'] },
  });
  await gateway.bus.projected();
  const viewer = await site.signedIn(made.json().key);
  expect((await viewer.get(`/o/acme/exports/${jobId('1')}`)).html).not.toContain('/replay');
  expect((await viewer.send(`/o/acme/exports/${jobId('1')}/replay`)).status).toBe(403);
});

test('an export is cancelled, and the page says so', async () => {
  await job('1');
  const visitor = await site.signedIn(acme.adminKey);
  await visitor.get(`/o/acme/exports/${jobId('1')}`);
  const sent = await visitor.send(`/o/acme/exports/${jobId('1')}/cancel`);
  expect(sent.location).toBe(`/o/acme/exports/${jobId('1')}`);
  await gateway.bus.projected();
  const { html } = await visitor.get(sent.location ?? '');
  expect(html).toContain('The export ends as cancelled in a moment.');
  expect(gateway.bus.recorded.facts).toMatchObject([{ type: 'CancelRequested', jobId: jobId('1') }]);
});

test('an export is found by its id, also one that the newest do not have', async () => {
  for (const digit of 'abcdefghijklmnopqrstuvw')
    await job(digit, { createdAt: digit === 'a' ? '2026-02-01T10:00:00.000Z' : '2026-03-01T10:00:00.000Z' });
  const visitor = await site.signedIn(acme.adminKey);
  const found = async (q: string) => (await visitor.get(`/o/acme/find?q=${q}`)).html;
  expect(await found(jobId('a'))).toContain(`href="/o/acme/exports/${jobId('a')}"`);
  expect(await found('wwwwwwwwww')).toContain(`href="/o/acme/exports/${jobId('w')}"`);
  expect(await found(jobId('z'))).toContain('Nothing has this name');
  expect((await visitor.get('/o/acme')).html).toContain('href="/o/acme/exports/se_');
});

test('the rate is that of pages that were rendered, without those that were reused', () => {
  const bar = { work: 'chunk' as const, startMs: 0, endMs: 500, pages: 50, attempt: 1, reused: false };
  const lane = { worker: 'x', waits: [], busyMs: 0, chunks: 2, pages: 100, rows: [[bar, { ...bar, reused: true }]] };
  const phases = [{ name: 'rendering' as const, startMs: 100, endMs: 600 }];
  expect(rateOf({ lanes: [lane], phases })).toBe(100);
  expect(rateOf({ lanes: [], phases })).toBeUndefined();
});
