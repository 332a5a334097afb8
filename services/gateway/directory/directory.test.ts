import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
} from '../../../test/support/gateway-harness.ts';

let gateway: GatewayHarness;

beforeEach(async () => {
  gateway = await gatewayHarness();
});

afterEach(() => gateway.close());

const post = (url: string, key: string, payload: object = {}) =>
  gateway.app.inject({ method: 'POST', url, headers: bearer(key), payload });
const get = (url: string, key: string) => gateway.app.inject({ method: 'GET', url, headers: bearer(key) });

test('a new organization gets its first admin key, which works at once', async () => {
  const created = await post('/v1/organizations', operatorToken, { name: 'Ärger & Söhne', plan: 'pro' });
  expect(created.statusCode).toBe(201);
  expect(created.json()).toEqual({
    organization: { id: 'arger-sohne', name: 'Ärger & Söhne', plan: 'pro' },
    adminKey: {
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^svc_[0-9A-Za-z]{36}$/),
      expiresAt: '2026-05-30T10:00:00.000Z',
    },
    platformUrl: 'http://127.0.0.1:8080',
  });
  const keys = await get('/v1/api-keys', created.json().adminKey.key);
  expect(keys.json().apiKeys).toHaveLength(1);
  expect(keys.body).not.toContain('sha256');
  const last = await gateway.bus.directory.last('directory.arger-sohne.log');
  expect(JSON.stringify(last)).not.toContain(created.json().adminKey.key);
});

test('an organization without a usable key gets another one from the operator, which is told who made it', async () => {
  const { id, adminKey, adminKeyId } = await createOrganization(gateway);
  await gateway.app.inject({ method: 'DELETE', url: `/v1/api-keys/${adminKeyId}`, headers: bearer(adminKey) });
  expect((await get('/v1/api-keys', adminKey)).json()).toMatchObject({ code: 'invalid_key' });
  const granted = await post(`/v1/organizations/${id}/api-keys`, operatorToken, { name: 'after a loss' });
  expect(granted.statusCode).toBe(201);
  expect(granted.json()).toMatchObject({
    kind: 'admin',
    name: 'after a loss',
    scopes: ['read', 'write'],
    key: expect.stringMatching(/^svc_[0-9A-Za-z]{36}$/),
    expiresAt: expect.any(String),
  });
  const listed = await get('/v1/api-keys', granted.json().key);
  expect(listed.json().apiKeys).toContainEqual(expect.objectContaining({ id: granted.json().id }));
  const last = await gateway.bus.directory.last(`directory.${id}.log`);
  expect(JSON.stringify(last)).toContain('operator');
  expect(JSON.stringify(last)).not.toContain(granted.json().key);
});

test('the operator reads an organization with its domains and keys, without hashes', async () => {
  const { id, adminKey, adminKeyId } = await createOrganization(gateway);
  await post(`/v1/organizations/${id}/domains`, operatorToken, { domain: 'blog', groups: 'signed' });
  await gateway.bus.projected();
  const read = await get(`/v1/organizations/${id}`, operatorToken);
  expect(read.json()).toMatchObject({
    ...{ id, name: 'Acme', plan: 'enterprise', createdAt: expect.any(String) },
    domains: [
      { domain: 'blog', hosts: [], groups: 'signed' },
      { domain: 'docs', hosts: ['docs.acme.test'], groups: 'claimed' },
    ],
  });
  expect(read.json().apiKeys).toEqual((await get('/v1/api-keys', adminKey)).json().apiKeys);
  expect(read.json().apiKeys).toContainEqual(expect.objectContaining({ id: adminKeyId }));
  expect(read.body).not.toContain('sha256');
  expect((await get(`/v1/organizations/${id}`, adminKey)).json()).toMatchObject({ code: 'wrong_key_kind' });
  expect((await get('/v1/organizations/initech', operatorToken)).statusCode).toBe(404);
});

test('an organization that there is not is named', async () => {
  const wrong = await post('/v1/organizations/initech/api-keys', operatorToken);
  expect([wrong.statusCode, wrong.json()]).toMatchObject([404, { error: 'There is no organization "initech".' }]);
});

test('a second organization of the same name gets an id of its own', async () => {
  const first = await post('/v1/organizations', operatorToken, { name: 'Acme' });
  const second = await post('/v1/organizations', operatorToken, { name: 'Acme' });
  expect(first.json().organization.id).toBe('acme');
  expect(second.json().organization.id).toMatch(/^acme-[0-9a-z]{6}$/);
});

test('plan and name change, also for keys that are in use', async () => {
  const { id, adminKey } = await createOrganization(gateway, 'Acme', 'free');
  const refused = await post('/v1/static-export/jobs', adminKey, { domain: 'docs' });
  expect(refused.json()).toMatchObject({ code: 'plan_required' });
  const changed = await gateway.app.inject({
    method: 'PATCH',
    url: `/v1/organizations/${id}`,
    headers: bearer(operatorToken),
    payload: { plan: 'enterprise' },
  });
  expect(changed.json()).toEqual({ id, name: 'Acme', plan: 'enterprise' });
  const started = await post('/v1/static-export/jobs', adminKey, { domain: 'docs' });
  expect(started.json()).toMatchObject({ code: 'not_found', error: expect.stringContaining('Nothing is published') });
});

test('a domain is known by slug and host, and taken names are refused', async () => {
  const { id, adminKey } = await createOrganization(gateway);
  expect((await get('/v1/domains/docs/content', adminKey)).json()).toEqual({ domain: 'docs', versions: [] });
  expect((await get('/v1/domains/Docs.acme.test/content', adminKey)).json()).toEqual({ domain: 'docs', versions: [] });
  expect((await get('/v1/domains/other/content', adminKey)).statusCode).toBe(404);
  const again = await post(`/v1/organizations/${id}/domains`, operatorToken, {
    domain: 'new',
    hosts: ['docs.acme.test'],
  });
  expect(again.statusCode).toBe(409);
  expect(again.json()).toMatchObject({ code: 'in_use', error: expect.stringContaining('docs.acme.test') });
});

test('a rotated key goes on until the overlap ends, and the new one works', async () => {
  const { adminKey, adminKeyId } = await createOrganization(gateway);
  const rotated = await post(`/v1/api-keys/${adminKeyId}/rotate`, adminKey, { overlapHours: 1 });
  expect(rotated.statusCode).toBe(201);
  const newKey = rotated.json().key;
  expect((await get('/v1/api-keys', adminKey)).statusCode).toBe(200);
  gateway.clock.time = new Date(gateway.clock.time.getTime() + 3_600_000);
  expect((await get('/v1/api-keys', adminKey)).json()).toMatchObject({ code: 'expired_key' });
  expect((await get('/v1/api-keys', newKey)).statusCode).toBe(200);
});

test('a revoked key is refused at once, although it was kept', async () => {
  const { adminKey, assistantKey } = await createOrganization(gateway);
  const keys = (await get('/v1/api-keys', adminKey)).json().apiKeys;
  const { id } = keys.find((key: { kind: string }) => key.kind === 'assistant');
  const use = () =>
    gateway.app.inject({
      method: 'GET',
      url: '/discovery/v2/assistant/docs/message/x/stream',
      headers: bearer(assistantKey),
    });
  expect((await use()).statusCode).toBe(204);
  const revoke = () => gateway.app.inject({ method: 'DELETE', url: `/v1/api-keys/${id}`, headers: bearer(adminKey) });
  expect((await revoke()).statusCode).toBe(200);
  expect((await use()).json()).toMatchObject({ code: 'invalid_key' });
  expect((await revoke()).statusCode).toBe(200);
});

test('without the bus a key is good for a second', async () => {
  const { adminKey } = await createOrganization(gateway);
  await get('/v1/api-keys', adminKey);
  gateway.bus.away = true;
  // The key is accepted; the job does not exist.
  expect((await get('/v1/static-export/jobs/nonsense', adminKey)).statusCode).toBe(404);
  gateway.clock.time = new Date(gateway.clock.time.getTime() + 1_000);
  const answer = await get('/v1/static-export/jobs/nonsense', adminKey);
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBeDefined();
  gateway.bus.away = false;
});

test('the eleventh new key in an hour is refused, with how long to wait', async () => {
  const { adminKey } = await createOrganization(gateway);
  const create = () => post('/v1/api-keys', adminKey, { kind: 'assistant' });
  // One key was made with the organization.
  for (let count = 1; count < 10; count += 1) expect((await create()).statusCode).toBe(201);
  const refused = await create();
  expect(refused.statusCode).toBe(429);
  expect(refused.json().code).toBe('rate_limited');
  expect(refused.headers).toMatchObject({
    'retry-after': expect.stringMatching(/^[0-9]+$/),
    'ratelimit-policy': '"keys";q=10;w=3600',
    ratelimit: expect.stringMatching(/^"keys";r=0;t=[0-9]+$/),
  });
});

test('one key that revokes too many keys does not use up the limit of the others', async () => {
  await gateway.close();
  gateway = await gatewayHarness({ BINDERY_LIMIT_CHANGES_PER_HOUR: '2' });
  const { adminKey } = await createOrganization(gateway);
  const stolen = (await post('/v1/api-keys', adminKey, { kind: 'admin' })).json();
  const revoke = (id: string, key: string) =>
    gateway.app.inject({ method: 'DELETE', url: `/v1/api-keys/${id}`, headers: bearer(key) });
  for (const status of [404, 404, 429])
    expect((await revoke(`key_${'0'.repeat(16)}`, stolen.key)).statusCode).toBe(status);
  expect((await revoke(stolen.id, adminKey)).statusCode).toBe(200);
});
