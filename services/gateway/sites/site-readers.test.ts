import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { siteAggregate, type SiteEvent } from '#shared/aggregates/site/site.ts';
import { callerHeader, callerSchema } from '#shared/interfaces/internal/caller.ts';
import { generateApiKey } from '#shared/http/api-key.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';

const siteKey = generateApiKey('site');

let assistant: FastifyInstance;
let seen: { url: string; body: unknown; caller: ReturnType<typeof callerSchema.parse> }[];
let gateway: GatewayHarness;
let acme: TestOrganization;

beforeEach(async () => {
  seen = [];
  assistant = Fastify();
  assistant.removeAllContentTypeParsers();
  assistant.addContentTypeParser('*', { parseAs: 'string' }, async (_request: FastifyRequest, body: string) => body);
  assistant.post('/internal/*', async ({ url, body, headers }) => {
    seen.push({ url, body, caller: callerSchema.parse(JSON.parse(String(headers[callerHeader]))) });
    return url.endsWith('/search') ? [] : { path: '/', content: '' };
  });
  gateway = await gatewayHarness({
    BINDERY_SITES_KEYS: siteKey,
    BINDERY_ASSISTANT_URL: await assistant.listen({ host: '127.0.0.1', port: 0 }),
    BINDERY_LIMIT_ASSISTANT_PER_HOUR: '5',
    BINDERY_LIMIT_ASSISTANT_PER_ADDRESS_PER_DAY: '3',
  });
  acme = await createOrganization(gateway);
});

afterEach(async () => {
  await gateway.close();
  await assistant.close();
});

/** Opens a site of `docs` with a live deployment. */
async function openSite({ id, adminKey }: TestOrganization, name: string, body: object = {}): Promise<void> {
  const url = '/v1/domains/docs/site';
  const headers = bearer(adminKey);
  expect((await gateway.app.inject({ method: 'PUT', url, headers, payload: { name, ...body } })).statusCode).toBe(200);
  const site = { organization: id, domain: 'docs' };
  const events: SiteEvent[] = [
    {
      type: 'DeploymentRequested',
      version: 1,
      data: {
        ...{ ...site, deployment: 1, contentVersion: `cv_${'1'.repeat(32)}` },
        ...{ jobId: `se_${'1'.repeat(22)}`, cause: 'published' },
      },
    },
    { type: 'DeploymentLive', version: 1, data: { ...site, deployment: 1, sha256: 'a'.repeat(64), sizeBytes: 1 } },
  ];
  const { bus, clock } = gateway;
  await handleCommand({ log: bus.sites, clock, random: randomBase62 }, siteAggregate, {
    subject: siteLogSubject(id, 'docs'),
    decide: () => events,
    origin: { source: 'deployer', actor: { kind: 'service', id: 'deployer' }, causationId: 'c', correlationId: 'c' },
  });
  await bus.projected();
}

type Asking = { key?: string; address?: string; body?: object; route?: string; domain?: string };

const ask = (
  organization: string,
  { key = siteKey, address = '203.0.113.9', body = { query: 'x' }, route = 'search', domain = 'docs' }: Asking = {},
) =>
  gateway.app.inject({
    method: 'POST',
    url: `/v1/sites/readers/${organization}/${domain}/${route}`,
    headers: { ...bearer(key), 'x-reader-address': address },
    payload: body,
  });

test('a host of sites asks for a reader of an open site, as a client of its organization with the address of the reader', async () => {
  await openSite(acme, 'docs');
  await waitUntil(async () => (await ask(acme.id)).statusCode === 200);
  expect(seen).toMatchObject([
    {
      url: '/internal/search',
      body: '{"query":"x"}',
      caller: {
        organization: acme.id,
        organizationPlan: 'enterprise',
        domain: 'docs',
        address: '203.0.113.9',
        actor: { kind: 'service', id: 'docs-host' },
      },
    },
  ]);
  expect((await ask(acme.id, { route: 'page', body: { path: '/' } })).statusCode).toBe(200);
});

test('the key opens no site that is closed, that does not pass questions on, or that was never there', async () => {
  expect((await ask(acme.id)).json()).toMatchObject({ code: 'not_found' });
  await openSite(acme, 'docs');
  await waitUntil(async () => (await ask(acme.id)).statusCode === 200);
  expect((await ask(acme.id, { domain: 'other' })).statusCode).toBe(404);
  expect((await ask('globex')).statusCode).toBe(404);
  for (const key of [acme.adminKey, acme.assistantKey])
    expect((await ask(acme.id, { key })).json()).toMatchObject({ code: 'wrong_key_kind' });
  // The details of ranking are for authors.
  expect((await ask(acme.id, { body: { query: 'x', explain: true } })).json()).toMatchObject({
    code: 'wrong_key_kind',
  });
  await openSite(acme, 'docs', { assistant: false });
  await waitUntil(async () => (await ask(acme.id)).statusCode === 404);
  await openSite(acme, 'docs');
  await waitUntil(async () => (await ask(acme.id, { address: '203.0.113.8' })).statusCode === 200);
  await gateway.app.inject({ method: 'DELETE', url: '/v1/domains/docs/site', headers: bearer(acme.adminKey) });
  await waitUntil(async () => (await ask(acme.id)).statusCode === 404);
  // The key still opens none of the routes of an organization.
  const direct = { method: 'POST', url: '/discovery/v1/search/docs', payload: { query: 'x' } } as const;
  expect((await gateway.app.inject({ ...direct, headers: bearer(siteKey) })).json()).toMatchObject({
    code: 'invalid_key',
  });
});

test('the readers of one site use up neither the limit of another organization nor their own share there', async () => {
  const globex = await createOrganization(gateway, 'Globex');
  await openSite(acme, 'acme');
  await openSite(globex, 'globex');
  await waitUntil(async () => (await ask(acme.id, { address: '198.51.100.1' })).statusCode === 200);
  const statuses = async (organization: string, addresses: string[]) =>
    Promise.all(addresses.map(async (address) => (await ask(organization, { address })).statusCode));
  // A reader may ask three times on a site.
  expect(
    await statuses(
      acme.id,
      Array.from({ length: 4 }, () => '203.0.113.9'),
    ),
  ).toEqual([200, 200, 200, 429]);
  expect(await statuses(globex.id, ['203.0.113.9'])).toEqual([200]);
  // Acme has one of its five left, from any address.
  expect(await statuses(acme.id, ['203.0.113.1', '203.0.113.2'])).toEqual([200, 429]);
  expect(await statuses(globex.id, ['203.0.113.1'])).toEqual([200]);
});
