import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { type ConsoleHarness, consoleHarness } from '../../../test/support/console-harness.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
} from '../../../test/support/gateway-harness.ts';
import {
  type InstallationServices,
  installationServices,
  letterReader,
} from '../../../test/support/installation-services.ts';
import { exportCommit, exportState } from '../../../test/support/make-commit.ts';

const dayMs = 86_400_000;
const jobId = `se_${'a'.repeat(22)}`;
const subject = exportLogSubject('acme', jobId);
const letters = '/installation/dead-letters';
const id = 'deployer.EXPORTS.1';

let gateway: GatewayHarness;
let services: InstallationServices;
let site: ConsoleHarness;
let adminKey: string;
let reader: ReturnType<typeof letterReader>;
let again: () => Promise<void>;

beforeAll(async () => {
  // The first call loads the client, which takes long on a busy machine.
  await import('undici');
  gateway = await gatewayHarness({}, async (parts) => (services = await installationServices(parts)));
  ({ adminKey } = await createOrganization(gateway));
  await gateway.bus.exports.append(exportCommit(exportState({ jobId })), { sequence: 0 });
  site = await consoleHarness(gateway);
  reader = letterReader(gateway.bus, () => again());
});
afterAll(async () => {
  await reader.stop();
  await site.close();
  await gateway.close();
});

const asked = async (url: string) => (await gateway.app.inject({ url, headers: bearer(operatorToken) })).json();

test('people of an organization see none of it', async () => {
  const visitor = await site.signedIn(adminKey);
  for (const path of [
    '/installation/work',
    letters,
    `${letters}/${id}`,
    `${letters}/${id}/drop`,
    '/installation/housekeeping',
  ])
    expect([path, (await visitor.get(path)).status]).toEqual([path, 404]);
  expect((await visitor.send(`${letters}/${id}/retry`)).status).toBe(404);
  expect((await visitor.send(`${letters}/${id}/drop`, { why: 'x', confirm: id })).status).toBe(404);
});

test('queues, roles, workers and their tasks are as the interface says', async () => {
  const visitor = await site.signedIn(operatorToken);
  expect((await visitor.get('/installation/work')).html).toContain('No worker reports');
  gateway.bus.depths = [{ queue: 'render-<script>', pending: 12_345, inFlight: 2, redelivered: 1 }];
  await gateway.bus.activeJobs.put(jobStatusKey('acme', jobId), {} as never);
  services.renderers.heard({
    ...{ service: 'page-renderer', instance: 'page-renderer-<b>', time: gateway.clock.now().toISOString() },
    ...{ slots: 2, freeSlots: 0, tasks: [`${jobId}.7.2`, `${jobId}.closing.1`], heldMs: [120_000, 0], draining: false },
  });
  const { html } = await visitor.get('/installation/work');
  for (const shown of [
    ...['render-&lt;script&gt;', '12,345', 'page-renderer-&lt;b&gt;', 'chunk 7', 'closing files', '2 minutes ago'],
    ...[`href="/o/acme/exports/${jobId}"`, 'projector.exports', '1 export has not ended'],
  ])
    expect(html).toContain(shown);
  expect(html).not.toContain('<script>');
});

describe('a dead letter', () => {
  beforeEach(async () => {
    again = async () => {};
    for (const key of await gateway.bus.deadLetters.keys()) await gateway.bus.deadLetters.remove(key);
    await reader.setAside(subject, 1, new Poison('It is <script>alert(1)</script> too large.'));
  });

  test('is listed and shown with its message as text, and retried', async () => {
    const visitor = await site.signedIn(operatorToken);
    const list = await visitor.get(letters);
    expect(list.html).toContain(`href="${letters}/${id}"`);
    expect(list.html).toContain('&lt;script&gt;alert');
    const { html } = await visitor.get(`${letters}/${id}`);
    for (const shown of [subject, 'waits for you', 'Retry', '&quot;subject&quot;', 'set aside'])
      expect(html).toContain(shown);
    expect(html).not.toContain('<script>alert');

    again = () => Promise.reject(new Poison('It is still too large.'));
    await visitor.send(`${letters}/${id}/retry`);
    const failed = await visitor.get(`${letters}/${id}`);
    expect(failed.html).toContain(`${id} failed again: It is still too large.`);
    // A browser keeps no cookie of more than 4 KB, and the sentence is in one.
    again = () => Promise.reject(new Poison('名'.repeat(4_000)));
    const long = await visitor.send(`${letters}/${id}/retry`);
    for (const cookie of long.headers.getSetCookie()) expect(cookie.length).toBeLessThan(4_096);
    expect((await visitor.get(`${letters}/${id}`)).html).toContain(`${id} failed again: 名名`);
    again = async () => {};
    const sent = await visitor.send(`${letters}/${id}/retry`);
    expect([sent.status, sent.location]).toEqual([303, `${letters}/${id}`]);
    const settled = await visitor.get(`${letters}/${id}`);
    expect(settled.html).toContain(`${id} is handled.`);
    expect(settled.html).toContain('operator: retried in the console');
    expect(settled.html).not.toContain('>Retry<');
    expect((await visitor.get(letters)).html).toContain('Nothing is set aside');
  });

  test('is dropped only when its id is typed, with the reason', async () => {
    const visitor = await site.signedIn(operatorToken);
    const question = await visitor.get(`${letters}/${id}/drop`);
    expect(question.html).toContain('There is no way back.');
    await visitor.send(`${letters}/${id}/drop`, { why: 'lost', confirm: 'another' });
    expect((await visitor.get(`${letters}/${id}`)).html).toContain('Nothing was dropped');
    const incomplete = await visitor.send(`${letters}/${id}/drop`, { why: '', confirm: id });
    expect([incomplete.status, incomplete.html.includes('role="alert"')]).toEqual([400, true]);
    expect((await asked('/v1/installation/dead-letters')).deadLetters).toMatchObject([{ id, state: 'aside' }]);
    await visitor.send(`${letters}/${id}/drop`, { why: 'lost for <b>good</b>', confirm: id });
    const { html } = await visitor.get(`${letters}/${id}`);
    expect(html).toContain(`${id} is dropped.`);
    expect(html).toContain('operator: lost for &lt;b&gt;good&lt;/b&gt;');
    expect((await visitor.get(`${letters}?state=dropped`)).html).toContain(id);
    expect((await visitor.get(`${letters}/${id}/drop`)).html).toContain('It no longer waits');
  });

  test('and others of a filter are retried together, and dropped together when their number is typed', async () => {
    const visitor = await site.signedIn(operatorToken);
    const stored = (await gateway.bus.deadLetters.get(id))?.document;
    if (stored === undefined) throw new Error('the letter is stored');
    const others = ['deployer.CONTENT.2', 'indexer.CONTENT.3'];
    for (const other of others) {
      const [service = '', stream = '', sequence] = other.split('.');
      await gateway.bus.deadLetters.put(other, { ...stored, service, stream, sequence: Number(sequence) });
    }
    const lettersOf = (html: string) => /name="letters" value="([^"]+)"/.exec(html)?.[1];
    expect(lettersOf((await visitor.get(letters)).html)).toBe(`deployer.CONTENT.2 ${id} indexer.CONTENT.3`);
    const filtered = await visitor.get(`${letters}?service=deployer`);
    expect(lettersOf(filtered.html)).toBe(`deployer.CONTENT.2 ${id}`);
    expect(filtered.html).not.toContain('indexer.CONTENT.3');
    expect((await visitor.get(`${letters}?stream=VIEWS`)).html).toContain('No letter fits');

    const question = await visitor.send(`${letters}/retry`, { letters: `deployer.CONTENT.2 ${id}` });
    expect(question.html).toContain('Retry 2 letters');
    const retried = await visitor.send(`${letters}/retry`, { letters: `deployer.CONTENT.2 ${id}`, sure: 'yes' });
    // The reader of the test handles the letters of one stream.
    expect((await visitor.get(retried.location ?? '')).html).toContain(
      '1 handled, 1 to be decided by a service that has not answered yet.',
    );

    const both = others.join(' ');
    const asks = await visitor.send(`${letters}/drop-question`, { letters: both });
    for (const shown of ['Drop 2 letters?', 'There is no way back.', ...others]) expect(asks.html).toContain(shown);
    const wrong = await visitor.send(`${letters}/drop`, { letters: both, why: 'lost', confirm: '3' });
    expect([wrong.status, wrong.html.includes('Nothing was dropped')]).toEqual([400, true]);
    const without = await visitor.send(`${letters}/drop`, { letters: both, why: ' ', confirm: '2' });
    expect([without.status, without.html.includes('say why')]).toEqual([400, true]);
    const dropped = await visitor.send(`${letters}/drop`, { letters: both, why: 'lost', confirm: '2' });
    const { html } = await visitor.get(dropped.location ?? '');
    expect(html).toContain('1 to be decided by a service that has not answered yet, 1 unchanged.');
    expect(html).toContain('operator decided');
    const { deadLetters } = await asked('/v1/installation/dead-letters?service=indexer');
    expect(deadLetters).toMatchObject([{ decision: { action: 'drop', by: 'operator', why: 'lost' } }]);
    const many = Array.from({ length: 51 }, (_, at) => `indexer.CONTENT.${at + 1}`).join(' ');
    expect((await visitor.send(`${letters}/retry`, { letters: many, sure: 'yes' })).status).toBe(400);
  });

  test('that there is not is no page', async () => {
    const visitor = await site.signedIn(operatorToken);
    expect((await visitor.get(`${letters}/deployer.EXPORTS.99`)).status).toBe(404);
    expect((await visitor.get(`${letters}/x`)).status).toBe(404);
  });
});

test('10,000 dead letters are shown page by page', async () => {
  for (const key of await gateway.bus.deadLetters.keys()) await gateway.bus.deadLetters.remove(key);
  for (let sequence = 1; sequence <= 10_000; sequence += 1)
    await gateway.bus.deadLetters.put(`indexer.CONTENT.${sequence}`, {
      ...{ service: 'indexer', stream: 'CONTENT', subject: 'content.acme.docs.log', reason: 'x'.repeat(200), sequence },
      ...{ isOrdered: true, cause: 'poison', setAsideAt: gateway.clock.now().toISOString(), state: 'aside' },
    });
  const visitor = await site.signedIn(operatorToken);
  const shown = ({ html }: { html: string }) =>
    [...html.matchAll(/indexer\.CONTENT\.(\d+)</g)].map(([, sequence]) => Number(sequence));
  const first = await visitor.get(letters);
  expect(first.html.length).toBeLessThan(300_000);
  expect(shown(first)).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
  const next = /href="([^"]+)" rel="next"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect(shown(await visitor.get(next))).toEqual(Array.from({ length: 50 }, (_, at) => at + 51));
});

test('removable objects are those of the interface, and stay', async () => {
  gateway.clock.time = new Date(Date.now() + 200 * dayMs);
  const key = `bundles/acme/${'0'.repeat(64)}.tar.gz`;
  await gateway.objectStore.put(key, Buffer.alloc(1_500_000));
  const visitor = await site.signedIn(operatorToken);
  const { html } = await visitor.get('/installation/housekeeping');
  for (const shown of ['bundles', '1.5 MB', '1,500,000 bytes', 'href="/o/acme"']) expect(html).toContain(shown);
  expect(await gateway.objectStore.head(key)).toBeDefined();
  expect((await visitor.get('/installation')).html).toContain('1 object of 1.5 MB would be removed.');
});

test('each part that is not known says why, and the rest of the page stands', async () => {
  const alone = await gatewayHarness({ BINDERY_HOUSEKEEPER_URL: 'http://127.0.0.1:1' });
  const console_ = await consoleHarness(alone);
  const visitor = await console_.signedIn(operatorToken);
  const { status, html } = await visitor.get('/installation');
  expect(status).toBe(200);
  expect(html).toContain('<th scope="row">gateway</th>');
  expect(html).toContain('The gateway cannot ask the orchestrator: BINDERY_ORCHESTRATOR_URL is not set.');
  expect(html).toContain('The gateway cannot ask the housekeeper: BINDERY_TOKEN_GATEWAY_TO_HOUSEKEEPER is not set.');
  for (const path of ['/installation/work', letters, `${letters}/${id}`, '/installation/housekeeping']) {
    const page = await visitor.get(path);
    expect([path, page.status, page.html.includes('This is not known now.')]).toEqual([path, 200, true]);
  }
  await console_.close();
  await alone.close();
});

test('a part of the work that is not known is named, and the others are there', async () => {
  const { workQueues } = gateway.bus;
  gateway.bus.workQueues = { depths: () => Promise.reject(new Error('The bus has the rights of an older version.')) };
  const visitor = await site.signedIn(operatorToken);
  const { html } = await visitor.get('/installation/work');
  gateway.bus.workQueues = workQueues;
  expect(html).toContain('The bus has the rights of an older version.');
  expect(html).toContain('projector.exports');
});
