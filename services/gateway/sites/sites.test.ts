import { once } from 'node:events';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { exportJobAggregate, type ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import { followContent, settleDeployment } from '#shared/aggregates/site/decide.ts';
import { siteAggregate, type SiteEvent, type SiteState } from '#shared/aggregates/site/site.ts';
import { type DomainList, domainListSchema } from '#shared/interfaces/http/domain-list.ts';
import type { DeploymentList, DeploymentView } from '#shared/interfaces/http/sites.ts';
import { generateApiKey } from '#shared/http/api-key.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { exportLogSubject, siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { contentServices } from '../../../test/support/content-services.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { exportRequested } from '../../../test/support/make-commit.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';

const siteKey = generateApiKey('site');
const bundleKey = 'bundles/acme/x.tar.gz';

let gateway: GatewayHarness;
let acme: TestOrganization;

beforeEach(async () => {
  gateway = await gatewayHarness({ BINDERY_SITES_KEYS: siteKey }, contentServices);
  acme = await createOrganization(gateway);
});

afterEach(() => gateway.close());

const request = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  payload?: object,
  key: string = acme.adminKey,
) => gateway.app.inject({ method, url, headers: bearer(key), ...(payload === undefined ? {} : { payload }) });
const open = (body: object = {}, key?: string) => request('PUT', '/v1/domains/docs/site', body, key);
const version = (digit: number) => `cv_${String(digit).padStart(32, '0')}`;

/** Decides about the site as the deployer would. */
async function deployer(decide: (state: SiteState | undefined) => SiteEvent[]): Promise<void> {
  const { bus, clock } = gateway;
  await handleCommand({ log: bus.sites, clock, random: randomBase62 }, siteAggregate, {
    subject: siteLogSubject(acme.id, 'docs'),
    decide,
    origin: { source: 'deployer', actor: { kind: 'service', id: 'deployer' }, causationId: 'c', correlationId: 'c' },
  });
  await bus.projected();
}

/** Publishes, and makes the deployment live. */
async function deployed(digit: number, labels: Record<string, number> = {}): Promise<void> {
  const now = gateway.clock.time;
  const publishedAt = now.toISOString();
  const followed = {
    latest: version(digit),
    labels: Object.fromEntries(
      Object.entries(labels).map(([label, each]) => [label, { contentVersion: version(each), publishedAt }]),
    ),
  };
  await deployer((state) => followContent(state, followed, now));
  const { bus, clock } = gateway;
  const last = await bus.sites.last(siteLogSubject(acme.id, 'docs'));
  for (const { status, jobId } of last?.commit.data.state.deployments ?? []) {
    if (status !== 'running') continue;
    const events: ExportEvent[] = [
      exportRequested({ organization: acme.id, jobId, domain: 'docs' }),
      {
        type: 'ExportCompleted',
        version: 1,
        data: { bundleKey, sizeBytes: 5, sha256: 'a'.repeat(64), manifestSha256: 'b'.repeat(64) },
      },
    ];
    await handleCommand({ log: bus.exports, clock, random: randomBase62 }, exportJobAggregate, {
      subject: exportLogSubject(acme.id, jobId),
      decide: () => events,
      origin: { source: 't', actor: { kind: 'service', id: 't' }, causationId: 'c', correlationId: 'c' },
    });
    await deployer((state) => settleDeployment(state, jobId, { sha256: 'a'.repeat(64), sizeBytes: 5 }));
  }
}

const deployments = async (): Promise<DeploymentView[]> =>
  (await request('GET', '/v1/domains/docs/deployments')).json().deployments;

test('a site is opened, shown, changed and closed', async () => {
  expect((await request('GET', '/v1/domains/docs/site')).json()).toMatchObject({ code: 'not_found' });
  const opened = await open({ hosts: ['docs.acme.test'] });
  expect(opened.json()).toEqual({
    domain: 'docs',
    address: 'http://docs.acme.test:8090',
    name: 'docs',
    hosts: ['docs.acme.test'],
    previews: true,
    assistant: true,
    counts: true,
  });
  await deployed(1);
  const changed = await open({ name: 'handbook', previews: false, assistantKey: acme.assistantKey });
  expect(changed.json()).toMatchObject({
    address: 'http://handbook.localhost:8090',
    assistant: false,
    assistantKey: acme.assistantKey,
    live: { id: 1, status: 'live', address: 'http://handbook.localhost:8090', durationMs: 0 },
  });
  expect((await request('DELETE', '/v1/domains/docs/site')).statusCode).toBe(204);
  expect((await request('GET', '/v1/domains/docs/deployments')).statusCode).toBe(404);
});

test.each([
  [{ name: 'two--dashes' }, 'name'],
  [{ hosts: ['other.localhost'] }, 'hosts.0'],
  [{ hosts: ['Docs.Acme.Test'] }, 'hosts.0'],
  [{ assistantKey: 'svc_nonsense' }, 'assistantKey'],
  [{ name: 'login' }, 'name'],
  [{ login: { kind: 'basic' } }, 'login.kind'],
  [{ login: { kind: 'password', users: [] } }, 'login.users'],
  [{ login: { kind: 'password', users: [{ name: 'anna' }] } }, 'login.users.0.password'],
  [{ login: { kind: 'password', users: [{ name: 'a:b', password: 'long enough for all' }] } }, 'login.users.0.name'],
  [{ login: { kind: 'password', users: [{ name: 'anna', password: 'short' }] } }, 'login.users.0.password'],
  [{ login: { kind: 'password', users: [{ name: 'a' }, { name: 'a' }] } }, 'login.users'],
  [{ login: { kind: 'oidc', emailDomains: ['@acme.com'] } }, 'login.emailDomains.0'],
  [{ login: { kind: 'oidc', protects: 'nothing' } }, 'login.protects'],
  [{ assistantKey: 'svc_dsc_x', assistant: true }, 'assistantKey'],
])('%j is refused, with the field %s named', async (body, path) => {
  const answer = await open(body);
  expect(answer.json()).toMatchObject({ code: 'invalid_request', fields: [{ path }] });
});

test('the first site that claims a host name has it, and a released one is free for others after an hour', async () => {
  const globex = await createOrganization(gateway, 'Globex');
  await open({ hosts: ['docs.shared.test'] });
  const refused = await open({ name: 'globex', hosts: ['docs.shared.test'] }, globex.adminKey);
  expect(refused.json()).toMatchObject({ code: 'in_use', error: expect.stringContaining('another organization') });
  // A refused claim leaves nothing behind: its other name is free.
  expect((await open({ name: 'globex' })).statusCode).toBe(200);
  expect((await open({ name: 'docs' }, globex.adminKey)).json()).toMatchObject({
    code: 'in_use',
    error: expect.stringContaining('free an hour after 2026-03-01T10:00:00.000Z'),
  });
  gateway.clock.time = new Date('2026-03-01T11:00:00.000Z');
  expect((await open({ name: 'docs' }, globex.adminKey)).statusCode).toBe(200);
  expect((await open({ name: 'docs' })).json()).toMatchObject({ code: 'in_use' });
});

test('a rollback shows an earlier deployment, and another organization sees and changes nothing', async () => {
  const globex = await createOrganization(gateway, 'Globex');
  await open();
  for (const each of [1, 2]) await deployed(each);
  expect((await deployments()).map(({ id, status, canRollBack }) => [id, status, canRollBack])).toEqual([
    [2, 'live', false],
    [1, 'replaced', true],
  ]);
  const rollback = '/v1/domains/docs/deployments/1/rollback';
  expect((await request('POST', rollback, undefined, globex.adminKey)).statusCode).toBe(404);
  const answer = await request('POST', rollback);
  expect(answer.statusCode).toBe(202);
  expect(answer.json()).toMatchObject({ id: 3, cause: 'rolled-back', contentVersion: version(1), status: 'live' });
  expect((await request('POST', '/v1/domains/docs/deployments/9/rollback')).json()).toMatchObject({
    code: 'not_found',
    error: expect.stringContaining('Possible are: 1, 2.'),
  });
  expect((await request('GET', '/v1/domains/docs/deployments', undefined, globex.adminKey)).statusCode).toBe(404);
});

test('a site is deployed again on request', async () => {
  await open();
  await deployed(1);
  const again = await request('POST', '/v1/domains/docs/deployments');
  expect(again.statusCode).toBe(202);
  expect(again.json()).toMatchObject({ id: 2, status: 'running', cause: 'repeated' });
  expect((await request('POST', '/v1/domains/docs/deployments')).json()).toMatchObject({ code: 'in_use' });
});

test('a proxy learns which host names are of live sites and previews', async () => {
  await open({ hosts: ['docs.acme.test'] });
  const asked = (host: string) => gateway.app.inject(`/v1/sites/hosts/${host}`);
  await deployed(1, { 'PR/12': 2, 'pr-1': 2 });
  expect((await asked('DOCS.acme.test.')).json()).toEqual({
    host: 'docs.acme.test.',
    address: 'http://docs.acme.test:8090',
  });
  expect((await asked('docs.localhost')).statusCode).toBe(200);
  expect((await asked('pr-1--docs.localhost')).json()).toMatchObject({ address: 'http://pr-1--docs.localhost:8090' });
  expect((await asked('other.localhost')).json()).toMatchObject({ code: 'not_found' });
  expect((await gateway.app.inject('/v1/sites/hosts?domain=docs.localhost')).statusCode).toBe(200);
  await open({ hosts: ['docs.acme.test'], previews: false });
  await gateway.bus.projected();
  await waitUntil(async () => (await asked('pr-1--docs.localhost')).statusCode === 404);
});

test('only the key of a host of sites opens the feed and signs links, and only for bundles of live deployments', async () => {
  const sign = (body: object, key: string) => request('POST', '/v1/sites/links', body, key);
  await open();
  await deployed(1);
  await deployed(2);
  await gateway.objectStore.put(bundleKey, Buffer.from('bytes'));
  const [second, first] = await deployments();
  const body = { site: `${acme.id}/docs`, jobId: second?.jobId };
  expect((await sign(body, acme.adminKey)).json()).toMatchObject({ code: 'wrong_key_kind' });
  expect((await sign(body, generateApiKey('site'))).json()).toMatchObject({ code: 'invalid_key' });
  expect((await request('GET', '/v1/sites/feed', undefined, acme.assistantKey)).json()).toMatchObject({
    code: 'wrong_key_kind',
  });
  expect((await sign(body, siteKey)).json()).toMatchObject({ jobId: second?.jobId, sizeBytes: 5 });
  expect((await sign({ ...body, jobId: first?.jobId }, siteKey)).statusCode).toBe(200);
  for (const wrong of [
    { ...body, site: `globex/docs` },
    { ...body, site: `${acme.id}/docs/pr-1` },
    { ...body, site: 'a/b/c/d' },
    { ...body, jobId: `se_${'x'.repeat(22)}` },
  ])
    expect((await sign(wrong, siteKey)).json()).toMatchObject({ code: 'not_found' });
  // The key of a site opens nothing else.
  expect((await request('GET', '/v1/domains/docs/site', undefined, siteKey)).json()).toMatchObject({
    code: 'invalid_key',
  });
});

test('the feed begins with all sites, and follows what goes live and what is gone', async () => {
  await open();
  await deployed(1);
  const feed = await followFeed();
  expect(await feed.next()).toMatchObject({
    event: 'site',
    data: { site: `${acme.id}/docs`, hosts: ['docs.localhost'], deployment: 1, contentVersion: version(1) },
  });
  expect(await feed.next()).toEqual({ event: 'whole', data: {} });
  await deployed(2, { 'pr-1': 3 });
  expect(await feed.next()).toMatchObject({ event: 'site', data: { deployment: 2 } });
  expect(await feed.next()).toMatchObject({ event: 'site', data: { label: 'pr-1', hosts: ['pr-1--docs.localhost'] } });
  await request('DELETE', '/v1/domains/docs/site');
  const gone = [await feed.next(), await feed.next()];
  expect(gone.map((each) => each?.data)).toEqual([{ site: `${acme.id}/docs` }, { site: `${acme.id}/docs/pr-1` }]);
});

test('the deployments of a site as a stream: all of them, then each that is new or changed, until the site is closed', async () => {
  await open();
  await deployed(1);
  const url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  const headers = { ...bearer(acme.adminKey), accept: 'text/event-stream' };
  const answer = await fetch(`${url}/v1/domains/docs/deployments`, { headers });
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  const seen: string[] = [];
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '{}');
      const views: DeploymentView[] = data.deployments ?? [data];
      seen.push(`${/^event: (.*)$/m.exec(event)?.[1]}: ${views.map(({ id, status }) => `${id} ${status}`).join(', ')}`);
    }
    if (seen.at(-1) === 'deployments: 1 live') await deployed(2);
    else if (seen.at(-1) === 'deployment: 2 live') await request('DELETE', '/v1/domains/docs/site');
  }
  // A state in between may be left out.
  expect(seen.filter((line) => line !== 'deployment: 2 running')).toEqual([
    'deployments: 1 live',
    'deployment: 1 replaced',
    'deployment: 2 live',
    // A closed site cannot be rolled back.
    'deployment: 1 replaced',
    'deployment: 2 ended',
  ]);
  expect((await gateway.app.inject({ url: '/v1/domains/docs/deployments', headers })).statusCode).toBe(404);
});

test('HEAD of that stream follows nothing', async () => {
  await open();
  const watch = vi.spyOn(gateway.context.sitesFeed, 'onChange');
  const headers = { ...bearer(acme.adminKey), accept: 'text/event-stream' };
  const answer = await gateway.app.inject({ method: 'HEAD', url: '/v1/domains/docs/deployments', headers });
  expect([answer.statusCode, answer.headers['content-type'], answer.body]).toEqual([200, 'text/event-stream', '']);
  expect(watch).not.toHaveBeenCalled();
});

const anna = { name: 'anna', password: 'correct horse battery' };

test('a password is stored as its hash, which no client sees, and the same password keeps it', async () => {
  const login = { kind: 'password', users: [anna], protects: 'previews' };
  const opened = await open({ login });
  expect(opened.json()).toMatchObject({
    login: { kind: 'password', protects: 'previews', users: [{ name: 'anna' }] },
  });
  expect(opened.body).not.toMatch(/scrypt|correct horse/);
  const stored = async () => {
    const last = await gateway.bus.sites.last(siteLogSubject(acme.id, 'docs'));
    return { revision: last?.commit.revision, commit: JSON.stringify(last?.commit) };
  };
  const { revision, commit } = await stored();
  expect(commit).toMatch(/"hash":"scrypt:/);
  expect(commit).not.toContain('correct horse');
  for (const users of [[anna], [{ name: 'anna' }]]) await open({ login: { ...login, users } });
  expect((await stored()).revision).toBe(revision);
  await open({ login: { ...login, users: [{ ...anna, password: 'another horse battery' }] } });
  expect((await stored()).revision).not.toBe(revision);
  // A client that knows no logins opens no site.
  expect((await open({ previews: true })).json()).toMatchObject({ login: { kind: 'password' } });
  expect((await open({ login: { kind: 'none' } })).json()).not.toHaveProperty('login');
});

test('the feed carries the login of the sites that it protects, at once, and names those to no host that does not check it', async () => {
  await open();
  await deployed(1, { 'pr-1': 2 });
  const [feed, older] = [await followFeed({ 'x-checks-logins': '1' }), await followFeed()];
  for (const each of [feed, older])
    expect([await each.next(), await each.next(), await each.next()].map(({ event }) => event)).toEqual([
      'site',
      'site',
      'whole',
    ]);
  await open({ login: { kind: 'password', users: [anna], protects: 'previews' } });
  const preview = { site: `${acme.id}/docs/pr-1` };
  expect(await feed.next()).toMatchObject({
    event: 'site',
    data: {
      ...preview,
      login: { kind: 'password', users: [{ name: 'anna', hash: expect.stringMatching(/^scrypt:/) }] },
    },
  });
  expect(await older.next()).toEqual({ event: 'gone', data: preview });
  await open({ login: { kind: 'oidc', groups: ['docs'] } });
  const rules = { kind: 'oidc', groups: ['docs'], emailDomains: [] };
  const changed = [await feed.next(), await feed.next()].map(({ data }) => data);
  expect(changed).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ ...preview, login: rules }),
      expect.objectContaining({ site: `${acme.id}/docs`, login: rules }),
    ]),
  );
  const late = await followFeed();
  expect([await late.next(), await late.next(), await late.next()].map(({ event }) => event)).toEqual([
    'gone',
    'gone',
    'whole',
  ]);
  await open({ login: { kind: 'none' } });
  expect((await feed.next()).data).not.toHaveProperty('login');
});

test('a proxy gets a certificate for the name where readers log in', async () => {
  const answer = await gateway.app.inject('/v1/sites/hosts?domain=login.localhost');
  expect(answer.json()).toEqual({ host: 'login.localhost', address: 'http://login.localhost:8090' });
});

/** The feed over a socket, because an injected request ends only with its answer. */
async function followFeed(headers: Record<string, string> = {}) {
  if (!gateway.app.server.listening) await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = gateway.app.server.address() as AddressInfo;
  const asked = get(`http://127.0.0.1:${port}/v1/sites/feed`, {
    headers: { ...bearer(siteKey), ...headers },
    agent: false,
  });
  onTestFinished(() => void asked.destroy());
  const [answer] = await once(asked, 'response');
  answer.setEncoding('utf8');
  let text = '';
  answer.on('data', (part: string) => (text += part));
  answer.on('error', () => {});
  return {
    next: async () => {
      await vi.waitUntil(() => text.includes('\n\n'), 5_000);
      const [first = '', ...rest] = text.split('\n\n');
      text = rest.join('\n\n');
      const [, event, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(first) ?? [];
      return { event, data: JSON.parse(data) };
    },
  };
}

test('the list of domains has each site as it is, page by page', async () => {
  const operator = { authorization: `Bearer ${operatorToken}` };
  for (const domain of ['api', 'blog'])
    await gateway.app.inject({
      method: 'POST',
      url: `/v1/organizations/${acme.id}/domains`,
      headers: operator,
      payload: { domain },
    });
  await open();
  await deployed(1);
  const pages: DomainList[] = [];
  for (let cursor = ''; pages.length === 0 || cursor !== ''; ) {
    const page = domainListSchema.parse((await request('GET', `/v1/domains?limit=2${cursor}`)).json());
    pages.push(page);
    cursor = page.nextCursor === undefined ? '' : `&cursor=${page.nextCursor}`;
  }
  expect(pages.map(({ domains }) => domains.map(({ domain }) => domain))).toEqual([['api', 'blog'], ['docs']]);
  const [docs] = pages[1]?.domains ?? [];
  const { address } = (await request('GET', '/v1/domains/docs/site')).json();
  const [{ actor: _, ...newest }] = (await request('GET', '/v1/domains/docs/deployments')).json().deployments;
  expect(docs?.site).toEqual({ address, live: newest, newest, last: newest });
  expect(docs?.hosts).toEqual([`docs.${acme.id}.test`]);
  expect(pages[0]?.domains[0]).toEqual({ domain: 'api', hosts: [], groups: 'claimed', contents: 0 });
  await request('DELETE', '/v1/domains/docs/site');
  expect((await request('GET', '/v1/domains')).json().domains[2]).not.toHaveProperty('site');
  expect((await request('GET', '/v1/domains?cursor=QUJD')).statusCode).toBe(400);
});

test('the list of deployments has the actor of each one', async () => {
  await open();
  await deployed(1);
  await deployed(2);
  await request('POST', '/v1/domains/docs/deployments/1/rollback');
  await gateway.bus.projected();
  const { deployments } = (await request('GET', '/v1/domains/docs/deployments')).json<DeploymentList>();
  expect(deployments.map(({ id, actor }) => [id, actor])).toEqual([
    [3, { kind: 'key', id: acme.adminKeyId }],
    [2, { kind: 'service', id: 'deployer' }],
    [1, { kind: 'service', id: 'deployer' }],
  ]);
});
