import { directoryAggregate, type DirectoryState } from '#shared/aggregates/directory/directory.ts';
import { ConcurrentAppend } from '#shared/messaging/log/event-log.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { directoryLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
} from '../../../test/support/gateway-harness.ts';

const dayMs = 86_400_000;
const office = '203.0.113.0/24';
const atOffice = '203.0.113.7';

let gateway: GatewayHarness;
/** The first key of the organization, with all rights for 90 days. */
let first: { id: string; key: string };
let organization: string;

beforeEach(async () => {
  gateway = await gatewayHarness({ BINDERY_LIMIT_KEYS_PER_HOUR: '1000' });
  const { id, adminKey, adminKeyId } = await createOrganization(gateway);
  organization = id;
  first = { id: adminKeyId, key: adminKey };
});

afterEach(() => gateway.close());

const post = (url: string, key: string, payload: object, remoteAddress = atOffice) =>
  gateway.app.inject({ method: 'POST', url, headers: bearer(key), payload, remoteAddress });
const create = (maker: { key: string }, payload: object) =>
  post('/v1/api-keys', maker.key, { kind: 'admin', ...payload });
const rotate = (maker: { key: string }, { id }: { id: string }, more: object = {}) =>
  post(`/v1/api-keys/${id}/rotate`, maker.key, { overlapHours: 24, ...more });
const revoke = (by: { key: string }, { id }: { id: string }, query = '') =>
  gateway.app.inject({ method: 'DELETE', url: `/v1/api-keys/${id}${query}`, headers: bearer(by.key) });
/** Leaves out the assistant key that every organization of tests has. */
const goodKeys = async () => {
  const { apiKeys } = (await gateway.app.inject({ url: '/v1/api-keys', headers: bearer(first.key) })).json<{
    apiKeys: { id: string; kind: string; revokedAt?: string }[];
  }>();
  const ofTests = apiKeys.find(({ kind }) => kind === 'assistant')?.id;
  return apiKeys.filter(({ id, revokedAt }) => id !== ofTests && revokedAt === undefined).map(({ id }) => id);
};
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

  test('may only export, when it is told so and an admin key', async () => {
    expect(await made({ scopes: ['export'] })).toMatchObject({ scopes: ['export'] });
    expect((await create(first, { kind: 'assistant', scopes: ['export'] })).json()).toMatchObject({
      code: 'invalid_request',
    });
    const both = await made({ scopes: ['read', 'write', 'export'] });
    expect(await made({ kind: 'assistant' }, both)).toMatchObject({ scopes: ['read', 'write'] });
    const exporter = await made({ scopes: ['export'] });
    expect((await create(exporter, {})).json()).toMatchObject({ code: 'missing_scope' });
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
  test('keeps the end, and the rights', async () => {
    const key = await made({ scopes: ['write'], allowedAddresses: [office], expiresInDays: 7 });
    later(2);
    const renewed = await rotate(key, key);
    expect([renewed.statusCode, renewed.json()]).toMatchObject([
      201,
      { scopes: ['write'], allowedAddresses: [office], expiresAt: inDays(5) },
    ]);
    // The old key ends with the overlap now, so keys that it makes end then too.
    expect((await rotate(first, key)).json()).toMatchObject({ expiresAt: inDays(1) });
  });

  test('lets no key live on that ends soon, however often it renews itself', async () => {
    let key: { id: string; key: string } = await made({ expiresInDays: 7 });
    const end = inDays(7);
    for (let day = 1; day < 7; day += 1) {
      later(1);
      const renewed = await rotate(key, key);
      expect(renewed.json()).toMatchObject({ expiresAt: end });
      key = renewed.json();
    }
    later(1);
    expect((await rotate(key, key)).json()).toMatchObject({ code: 'expired_key' });
  });

  test('gives a new end where an admin key that lives longer says so, and to itself nobody', async () => {
    const key = await made({ expiresInDays: 7 });
    later(1);
    const byItself = await rotate(key, key, { expiresInDays: 8 });
    expect([byItself.statusCode, byItself.json()]).toMatchObject([
      403,
      { code: 'exceeds_key', error: expect.stringMatching(/"expiresInDays".*another admin key can/) },
    ]);
    expect((await rotate(first, key, { expiresInDays: 90 })).json()).toMatchObject({ code: 'exceeds_key' });
    expect((await rotate(first, key, { expiresInDays: 30 })).json()).toMatchObject({ expiresAt: inDays(30) });
    const shorter = await made({ expiresInDays: 7 });
    expect((await rotate(shorter, shorter, { expiresInDays: 2 })).json()).toMatchObject({ expiresAt: inDays(2) });
  });

  test('of a key that has ended needs a new end', async () => {
    const key = await made({ expiresInDays: 1 });
    later(2);
    expect((await rotate(first, key)).json()).toMatchObject({
      code: 'invalid_request',
      fields: [{ path: 'expiresInDays' }],
    });
    expect((await rotate(first, key, { expiresInDays: 1 })).json()).toMatchObject({ expiresAt: inDays(1) });
  });

  test('makes no key short-lived that was made for long: its assistant keys have no end', async () => {
    later(85);
    const renewed = (await rotate(first, first)).json();
    later(1);
    const assistant = await made({ kind: 'assistant' }, renewed);
    expect(assistant.expiresAt).toBeUndefined();
    expect((await rotate(renewed, assistant)).statusCode).toBe(201);
    const short = await made({ expiresInDays: 2 }, renewed);
    const again = (await rotate(short, short)).json();
    expect(await made({ kind: 'assistant' }, again)).toMatchObject({ expiresAt: inDays(2) });
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
    // The other key is unchanged, and may rotate the weaker one.
    const keys = await gateway.app.inject({ url: '/v1/api-keys', headers: bearer(first.key) });
    expect(keys.json().apiKeys).toHaveLength(3);
    expect((await rotate(first, weak)).statusCode).toBe(201);
    expect((await rotate(weak, weak)).statusCode).toBe(201);
  });
});

describe('the revocation of a key', () => {
  const idsOf = (keys: { id: string }[]) => keys.map(({ id }) => id);

  test('lists what it made, over all generations, and leaves it', async () => {
    const stolen = await made({});
    const other = await made({});
    const child = await made({ kind: 'assistant' }, stolen);
    const renewed = (await rotate(stolen, stolen)).json();
    const grandchild = await made({}, renewed);
    const ended = await made({ expiresInDays: 1 }, renewed);
    later(2);
    const answer = await revoke(first, stolen);
    expect([answer.statusCode, answer.json()]).toMatchObject([200, { id: stolen.id, revokedAt: inDays(0) }]);
    expect(idsOf(answer.json().descendants)).toEqual([child.id, renewed.id, grandchild.id]);
    expect(JSON.stringify(answer.json())).not.toMatch(/sha256|revokedAt.*revokedAt/);
    expect(await goodKeys()).toEqual([first.id, other.id, child.id, renewed.id, grandchild.id, ended.id]);

    const again = await revoke(first, stolen, '?descendants=revoke');
    expect(idsOf(again.json().descendants)).toEqual([child.id, renewed.id, grandchild.id]);
    expect(again.json().descendants).toMatchObject([1, 2, 3].map(() => ({ revokedAt: inDays(0) })));
    expect(await goodKeys()).toEqual([first.id, other.id, ended.id]);
    expect((await create(grandchild, {})).json()).toMatchObject({ code: 'invalid_key' });
    expect((await revoke(first, stolen, '?descendants=revoke')).json()).toMatchObject({ descendants: [] });
  });

  test('leaves what somebody else made of it: its holder never saw that secret', async () => {
    const leaked = await made({});
    const replacement = (await rotate(first, leaked)).json();
    expect((await revoke(first, leaked, '?descendants=revoke')).json()).toMatchObject({ descendants: [] });
    expect(await goodKeys()).toEqual([first.id, replacement.id]);
  });

  test('by one of those that it made ends that one, too, and is answered', async () => {
    const maker = await made({});
    const child = await made({}, maker);
    const answer = await revoke(child, maker, '?descendants=revoke');
    expect([answer.statusCode, idsOf(answer.json().descendants)]).toEqual([200, [child.id]]);
    expect(await goodKeys()).toEqual([first.id]);
  });

  test('leaves nothing behind, however fast its keys make others meanwhile', async () => {
    const stolen = await made({});
    const stormOf = async (maker: { id: string; key: string }): Promise<void> => {
      const answers = await Promise.all([
        create(maker, {}),
        rotate(maker, maker),
        create(maker, { kind: 'assistant' }),
      ]);
      const next = answers.filter(({ statusCode }) => statusCode === 201).map((answer) => answer.json());
      await Promise.all(
        next
          .filter(({ kind }) => kind === 'admin')
          .slice(0, 1)
          .map(stormOf),
      );
    };
    const storm = stormOf(stolen);
    const answer = await revoke(first, stolen, '?descendants=revoke');
    expect(answer.statusCode).toBe(200);
    await storm;
    expect(await goodKeys()).toEqual([first.id]);
  });

  test('comes through, however often others are faster', async () => {
    const stolen = await made({});
    const child = await made({}, stolen);
    const { directory } = gateway.bus;
    const append = directory.append.bind(directory);
    let conflicts = 30;
    directory.append = async (commit, after) => {
      if (conflicts-- > 0) throw new ConcurrentAppend(commit.subject);
      return append(commit, after);
    };
    const answer = await revoke(first, stolen, '?descendants=revoke');
    expect([answer.statusCode, idsOf(answer.json().descendants)]).toEqual([200, [child.id]]);
    expect(await goodKeys()).toEqual([first.id]);
  });

  test('says what is wrong with its query', async () => {
    const answer = await revoke(first, first, '?descendants=all');
    expect(answer.json()).toMatchObject({ code: 'invalid_request', fields: [{ path: 'descendants' }] });
    expect(await goodKeys()).toEqual([first.id]);
  });
});

test('the operator gives an organization a key that lives as long as it says', async () => {
  const grant = await gateway.app.inject({
    method: 'POST',
    url: '/v1/organizations/acme/api-keys',
    headers: bearer(operatorToken),
    payload: { expiresInDays: 400 },
  });
  expect(grant.json()).toMatchObject({ expiresAt: inDays(400) });
  expect((await rotate(grant.json(), first, { expiresInDays: 365 })).json()).toMatchObject({ expiresAt: inDays(365) });
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

test('the number and size of keys are limited, so that every key can be revoked', async () => {
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
  expect(revoked.statusCode).toBe(200);
  // A message of the bus holds 1 MB.
  const last = await gateway.bus.directory.last('directory.acme.log');
  expect(JSON.stringify(last?.commit).length).toBeLessThan(900_000);
});

test('an organization that has used up its keys gets new ones in place of ended ones, which stay refused', async () => {
  const revoked = await made({ name: 'old' });
  await revoke(first, revoked);
  const { bus, clock, random } = gateway.context;
  const time = clock.now().toISOString();
  const actor = { kind: 'operator' as const, id: 'operator' };
  const origin = { source: 'test', actor, causationId: 'test', correlationId: 'test' };
  const subject = directoryLogSubject(organization);
  const fill = (state: DirectoryState | undefined) =>
    Array.from({ length: 500 - (state?.keys.length ?? 0) }, (_, at) => ({
      type: 'ApiKeyCreated' as const,
      version: 1 as const,
      data: {
        organization,
        key: {
          ...{
            id: `key_${String(at).padStart(16, '0')}`,
            kind: 'admin' as const,
            name: 'filled',
            sha256: sha256Of(String(at)),
          },
          ...{ scopes: ['read' as const], allowedAddresses: [], allowedOrigins: [], createdAt: time },
        },
      },
    }));
  await handleCommand({ log: bus.directory, clock, random }, directoryAggregate, { subject, decide: fill, origin });
  await made({ name: 'new' });
  const { apiKeys } = (await gateway.app.inject({ url: '/v1/api-keys', headers: bearer(first.key) })).json<{
    apiKeys: { id: string }[];
  }>();
  expect(apiKeys).toHaveLength(500);
  expect(apiKeys.map(({ id }) => id)).not.toContain(revoked.id);
  later(1);
  expect((await gateway.app.inject({ url: '/v1/api-keys', headers: bearer(revoked.key) })).json()).toMatchObject({
    code: 'invalid_key',
  });
  expect((await revoke(first, revoked)).statusCode).toBe(404);
  const full = await create(first, { name: 'one more' });
  expect([full.statusCode, full.json().code]).toEqual([409, 'in_use']);
});
