import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
} from '../../../test/support/gateway-harness.ts';

const dayMs = 86_400_000;
const office = '203.0.113.0/24';
const atOffice = '203.0.113.7';

let gateway: GatewayHarness;
/** The first key of the organization, which may do all for 90 days. */
let first: { id: string; key: string };

beforeEach(async () => {
  gateway = await gatewayHarness({ BINDERY_LIMIT_KEYS_PER_HOUR: '1000' });
  const { adminKey, adminKeyId } = await createOrganization(gateway);
  first = { id: adminKeyId, key: adminKey };
});

afterEach(() => gateway.close());

const post = (url: string, key: string, payload: object, remoteAddress = atOffice) =>
  gateway.app.inject({ method: 'POST', url, headers: bearer(key), payload, remoteAddress });
const create = (maker: { key: string }, payload: object) =>
  post('/v1/api-keys', maker.key, { kind: 'admin', ...payload });
const rotate = (maker: { key: string }, { id }: { id: string }) =>
  post(`/v1/api-keys/${id}/rotate`, maker.key, { overlapHours: 24 });
const made = async (payload: object, maker = first) => {
  const answer = await create(maker, payload);
  expect(answer.statusCode).toBe(201);
  return answer.json<{ id: string; key: string; scopes: string[]; allowedAddresses: string[]; expiresAt?: string }>();
};
const inDays = (days: number) => new Date(gateway.clock.time.getTime() + days * dayMs).toISOString();
const later = (days: number) => {
  gateway.clock.time = new Date(gateway.clock.time.getTime() + days * dayMs);
};

describe('a key that is made by another', () => {
  const makers = {
    'that only writes': { scopes: ['write'] },
    'that is bound to an office': { allowedAddresses: [office, '2001:db8::/48'] },
    'that is bound to an origin': { allowedOrigins: ['https://docs.acme.test'] },
    'that lives for a week': { expiresInDays: 7 },
  };
  test.each([
    ['that only writes', 'scopes', { scopes: ['read', 'write'] }, { scopes: ['write'] }],
    ['that only writes', 'scopes', { scopes: ['read'], kind: 'assistant' }, { kind: 'assistant' }],
    ['that is bound to an office', 'allowedAddresses', { allowedAddresses: [] }, {}],
    [
      'that is bound to an office',
      'allowedAddresses',
      { allowedAddresses: ['203.0.112.0/23'] },
      { allowedAddresses: ['203.0.113.128/25'] },
    ],
    [
      'that is bound to an office',
      'allowedAddresses',
      { allowedAddresses: ['203.0.113.1', '198.51.100.1'], kind: 'assistant' },
      { allowedAddresses: ['203.0.113.1'], kind: 'assistant' },
    ],
    [
      'that is bound to an office',
      'allowedAddresses',
      { allowedAddresses: ['2001:db8::/32'] },
      { allowedAddresses: ['2001:db8:0:1::/64'] },
    ],
    [
      'that is bound to an origin',
      'allowedOrigins',
      { allowedOrigins: ['https://evil.test'], kind: 'assistant' },
      { kind: 'assistant' },
    ],
    ['that lives for a week', 'expiresInDays', { expiresInDays: 8 }, { expiresInDays: 7 }],
  ] as const)('by one %s gets no more %s than that', async (name, field, tooMuch, enough) => {
    const maker = await made(makers[name]);
    const refused = await create(maker, tooMuch);
    expect([refused.statusCode, refused.json()]).toMatchObject([
      403,
      { code: 'exceeds_key', error: expect.stringContaining(`"${field}"`) },
    ]);
    expect((await create(maker, enough)).statusCode).toBe(201);
  });

  test('has what its maker has when nothing else is said', async () => {
    const maker = await made({ scopes: ['write'], allowedAddresses: [office], expiresInDays: 7 });
    later(1);
    expect(await made({}, maker)).toMatchObject({
      scopes: ['write'],
      allowedAddresses: [office],
      expiresAt: inDays(6),
    });
    expect(await made({})).toMatchObject({ scopes: ['read', 'write'], allowedAddresses: [], expiresAt: inDays(89) });
  });

  test('may say for whom it asks, when it is told so and an assistant key', async () => {
    const proxy = { kind: 'assistant', scopes: ['read', 'proxy'] };
    expect(await made(proxy)).toMatchObject({ scopes: ['read', 'proxy'] });
    expect(await made({ kind: 'assistant' })).toMatchObject({ scopes: ['read', 'write'] });
    const writer = await made({ scopes: ['write'] });
    expect((await create(writer, proxy)).json()).toMatchObject({ code: 'exceeds_key' });
    expect((await create(first, { ...proxy, kind: 'admin' })).json()).toMatchObject({ code: 'invalid_request' });
  });

  test('is an assistant key without an end, because exported pages contain it', async () => {
    const assistant = await made({ kind: 'assistant' });
    expect(assistant.expiresAt).toBeUndefined();
  });

  test('ends with its maker, also as an assistant key, when that was made for a short life', async () => {
    const maker = await made({ expiresInDays: 7 });
    later(1);
    expect(await made({ kind: 'assistant' }, maker)).toMatchObject({ expiresAt: inDays(6) });
    const refused = await create(maker, { kind: 'assistant', expiresInDays: 7 });
    expect(refused.json()).toMatchObject({ code: 'exceeds_key', error: expect.stringContaining('"expiresInDays"') });
    const endless = await made({ kind: 'assistant' });
    expect((await rotate(maker, endless)).json()).toMatchObject({
      code: 'exceeds_key',
      error: expect.stringContaining('"expiresAt"'),
    });
  });

  test('is not made by one that was revoked a moment ago, although a gateway still has it', async () => {
    const maker = await made({});
    const { keys } = gateway.context;
    const find = keys.find.bind(keys);
    const known = new Map<string, ReturnType<typeof find>>();
    keys.find = (sha256) => {
      const found = known.get(sha256) ?? find(sha256);
      known.set(sha256, found);
      return found;
    };
    await made({}, maker);
    await gateway.app.inject({ method: 'DELETE', url: `/v1/api-keys/${maker.id}`, headers: bearer(first.key) });
    expect((await create(maker, {})).json()).toMatchObject({ code: 'invalid_key' });
    expect((await rotate(maker, first)).json()).toMatchObject({ code: 'invalid_key' });
  });
});

describe('rotation', () => {
  test('keeps the length of life, and the rights', async () => {
    const key = await made({ scopes: ['write'], allowedAddresses: [office], expiresInDays: 7 });
    later(2);
    const renewed = await rotate(key, key);
    expect([renewed.statusCode, renewed.json()]).toMatchObject([
      201,
      { scopes: ['write'], allowedAddresses: [office], expiresAt: inDays(7) },
    ]);
    // The old one ends with the overlap now, so what is made of it lives no longer than that.
    expect((await rotate(first, key)).json()).toMatchObject({ expiresAt: inDays(3) });
  });

  test('of an assistant key without an end is one without an end', async () => {
    const assistant = await made({ kind: 'assistant' });
    expect((await rotate(first, assistant)).json()).not.toHaveProperty('expiresAt');
  });

  test.each([
    ['only writes', { scopes: ['write'] }, 'scopes'],
    ['is bound to an office', { allowedAddresses: [office] }, 'allowedAddresses'],
    ['is bound to an origin', { allowedOrigins: ['https://docs.acme.test'] }, 'allowedOrigins'],
    ['lives for a day', { expiresInDays: 1 }, 'expiresAt'],
  ])('of a key that may do more is refused to one that %s', async (_name, rights, field) => {
    const weak = await made(rights);
    const refused = await rotate(weak, first);
    expect([refused.statusCode, refused.json()]).toMatchObject([
      403,
      { code: 'exceeds_key', error: expect.stringContaining(`"${field}"`) },
    ]);
    // Nothing happened to the other key, and it may rotate the weak one.
    const keys = await gateway.app.inject({ url: '/v1/api-keys', headers: bearer(first.key) });
    expect(keys.json().apiKeys).toHaveLength(3);
    expect((await rotate(first, weak)).statusCode).toBe(201);
    expect((await rotate(weak, weak)).statusCode).toBe(201);
  });
});

test.each([
  [['0.0.0.0/0'], 'IPv4'],
  [['10.0.0.0/8', '::/0'], 'IPv4'],
  [['0.0.0.0/1', '128.0.0.0/1'], 'IPv4'],
  [['2000::/3'], 'IPv6'],
])('a list of addresses that is none is refused: %j', async (allowedAddresses, family) => {
  const refused = await create(first, { allowedAddresses });
  expect(refused.json()).toMatchObject({
    code: 'invalid_request',
    fields: [{ path: 'allowedAddresses', message: expect.stringContaining(`every ${family} address`) }],
  });
});

test('nobody can make so many and so long keys that none could be revoked any more', async () => {
  const long = (at: number) => `https://${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(50)}.t${at}`;
  const restrictions = {
    allowedOrigins: Array.from({ length: 100 }, (_, at) => long(at)),
    allowedAddresses: Array.from({ length: 100 }, (_, at) => `2001:db8:${at}:ffff:ffff:ffff:ffff:ffff/128`),
  };
  const tooLong = await create(first, { allowedOrigins: [`https://${'a'.repeat(10_000)}.test`] });
  expect(tooLong.json()).toMatchObject({ code: 'invalid_request', fields: [{ path: 'allowedOrigins.0' }] });

  let made = 0;
  let answer = await create(first, { kind: 'assistant', ...restrictions });
  for (; answer.statusCode === 201 && made < 40; made += 1) {
    answer = await create(first, { kind: 'assistant', ...restrictions });
  }
  expect([made < 40, answer.json()]).toMatchObject([true, { code: 'in_use', error: expect.stringContaining('KB') }]);
  const revoked = await gateway.app.inject({
    method: 'DELETE',
    url: `/v1/api-keys/${first.id}`,
    headers: bearer(first.key),
  });
  expect(revoked.statusCode).toBe(204);
  // A message of the bus holds 1 MB.
  const last = await gateway.bus.directory.last('directory.acme.log');
  expect(JSON.stringify(last?.commit).length).toBeLessThan(900_000);
});
