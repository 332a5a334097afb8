import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressHashOf } from '../audit/request-behind.ts';
import { type Person, signPersonToken } from '#shared/interfaces/http/person-token.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  personTokenKey,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';

let gateway: GatewayHarness;
let acme: TestOrganization;

beforeAll(async () => {
  gateway = await gatewayHarness();
  acme = await createOrganization(gateway);
});
afterAll(() => gateway.close());

const ada = (): Person => ({ name: 'ada@acme.test', role: 'admin', organization: acme.id, address: '192.0.2.7' });
const tokenOf = (person: Person) => signPersonToken(personTokenKey, person, gateway.clock.now());
const ask = async (url: string, token: string, method: 'GET' | 'POST' | 'DELETE' = 'GET', payload?: object) =>
  gateway.app.inject({ method, url, headers: bearer(token), ...(payload && { payload }) });

test('a person is named with the rights of the role, and a key with its own', async () => {
  const viewer = await ask('/v1/whoami', await tokenOf({ ...ada(), role: 'viewer' }));
  expect(viewer.json()).toMatchObject({
    caller: { kind: 'person', id: 'ada@acme.test', scopes: ['read'] },
    organization: { id: 'acme', plan: 'enterprise' },
    domains: [{ domain: 'docs', hosts: ['docs.acme.test'] }],
  });
  const key = await ask('/v1/whoami', acme.adminKey);
  expect(key.json().caller).toMatchObject({ kind: 'key', id: acme.adminKeyId, scopes: ['read', 'write'] });
});

test('what a person changes is in the audit under their name, and the keys that they make have no other key as maker', async () => {
  const made = await ask('/v1/api-keys', await tokenOf(ada()), 'POST', { kind: 'admin', name: 'from the console' });
  expect(made.statusCode).toBe(201);
  expect(made.json()).toMatchObject({ scopes: ['read', 'write'], name: 'from the console' });
  await gateway.bus.projected();
  const { entries } = (await ask('/v1/audit?limit=1', acme.adminKey)).json();
  const addressHash = addressHashOf(gateway.context.config.hashKey, acme.id, '192.0.2.7');
  expect(entries[0]).toMatchObject({ actor: { kind: 'person', id: 'ada@acme.test' }, addressHash });
  const used = await ask('/v1/whoami', made.json().key);
  expect(used.statusCode).toBe(200);
  expect((await ask(`/v1/api-keys/${made.json().id}`, await tokenOf(ada()), 'DELETE')).statusCode).toBe(200);
});

test('an operator lists organizations, and acts in each of them', async () => {
  const operator = { name: 'root', role: 'operator' } as const;
  await createOrganization(gateway, 'Globex', 'free', { domain: 'blog' });
  await gateway.bus.projected();
  const list = async (query: string) => (await ask(`/v1/organizations${query}`, await tokenOf(operator))).json();
  const first = await list('?limit=1');
  expect(first.organizations).toMatchObject([{ id: 'acme', domains: ['docs'], apiKeys: 3 }]);
  const second = await list(`?limit=1&cursor=${first.nextCursor}`);
  expect(second).toMatchObject({ organizations: [{ id: 'globex', plan: 'free', domains: ['blog'] }] });
  expect(second.nextCursor).toBeUndefined();
  const there = await ask('/v1/whoami', await tokenOf({ ...operator, organization: 'globex' }));
  expect(there.json().organization.id).toBe('globex');
  expect((await ask('/v1/whoami', await tokenOf(operator))).statusCode).toBe(401);
});

const sign = (claims: object, header: object, key = personTokenKey, seconds = 60) =>
  new SignJWT({ role: 'admin', organization: 'acme', ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'bindery-person+jwt', ...header })
    .setIssuedAt(Math.floor(gateway.clock.now().getTime() / 1_000))
    .setExpirationTime(Math.floor(gateway.clock.now().getTime() / 1_000) + seconds)
    .sign(new TextEncoder().encode(key));

const sound = { sub: 'ada@acme.test', aud: 'bindery' };

test.each([
  ['the same, and sound', () => sign(sound, {}), 200],
  ['another key', () => sign(sound, {}, 'another-key-of-tokens-of-people-in-tests'), 401],
  ['another audience', () => sign({ ...sound, aud: 'elsewhere' }, {}), 401],
  ['a token of another kind', () => sign(sound, { typ: 'JWT' }), 401],
  ['another algorithm', () => sign(sound, { alg: 'HS384' }), 401],
  ['no subject', () => sign({ aud: 'bindery' }, {}), 401],
  ['a subject of 101 letters', () => sign({ ...sound, sub: 'a'.repeat(101) }, {}), 401],
  ['a role that does not exist', () => sign({ ...sound, role: 'root' }, {}), 401],
  ['an admin of no organization', () => sign({ ...sound, organization: undefined }, {}), 401],
  ['an organization with a wrong name', () => sign({ ...sound, organization: '../acme' }, {}), 401],
  ['one that ended two minutes ago', () => sign(sound, {}, personTokenKey, -121), 401],
  ['a token without a signature', async () => `${(await sign(sound, {})).split('.').slice(0, 2).join('.')}.`, 401],
  ['words', async () => 'a.b.c', 401],
])('a token of a person: %s', async (_what, token, status) => {
  const answer = await ask('/v1/whoami', await token());
  expect([answer.statusCode, answer.json().code]).toEqual([status, status === 200 ? undefined : 'invalid_key']);
});

test.each(['fe80::1%eth0', '::ffff:192.0.2.7', 'unknown'])(
  'a person whose browser has the address %s may act',
  async (address) => {
    expect((await ask('/v1/whoami', await tokenOf({ ...ada(), address }))).statusCode).toBe(200);
  },
);

test('a long-lived token is refused a minute after it was made', async () => {
  const token = await sign(sound, {}, personTokenKey, 86_400);
  expect((await ask('/v1/whoami', token)).statusCode).toBe(200);
  gateway.clock.time = new Date(gateway.clock.time.getTime() + 121_000);
  expect((await ask('/v1/whoami', token)).statusCode).toBe(401);
});

test('without a key of tokens there are no people', async () => {
  const token = await tokenOf(ada());
  const other = await gatewayHarness({ BINDERY_PERSON_TOKEN_KEY: '' });
  const answer = await other.app.inject({ url: '/v1/whoami', headers: bearer(token) });
  expect(answer.json().error).toContain('BINDERY_PERSON_TOKEN_KEY');
  await other.close();
});
