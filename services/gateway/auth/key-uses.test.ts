import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keyUseKey, type KeyUse } from '#shared/interfaces/read-models.ts';
import { NewerMessage } from '#shared/runtime/failures.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../../../test/support/gateway-harness.ts';
import { type MemoryDocuments, memoryDocuments } from '../../../test/support/memory-documents.ts';
import { type KeyUses, keyUses } from './key-uses.ts';

const key = { organization: 'acme', id: 'key_0000000000000000' };
const start = Date.parse('2026-03-01T10:00:00.000Z');
const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();

let seconds: number;
let isAway: boolean;
let store: MemoryDocuments<KeyUse>;
let written: string[];
let gateways: KeyUses[];

beforeEach(() => {
  seconds = 0;
  isAway = false;
  written = [];
  gateways = [];
  store = memoryDocuments<KeyUse>(async () => {
    if (isAway) throw new Error('the bus is away');
  });
  store.onPut((_key, document) => written.push(document.lastUsedAt));
});

afterEach(async () => {
  for (const gateway of gateways) await gateway.close();
});

function open(): KeyUses {
  const gateway = keyUses(store, { now: () => new Date(start + seconds * 1_000) }, pino({ level: 'silent' }));
  gateways.push(gateway);
  return gateway;
}

const use = (gateway: KeyUses, atSeconds: number) => {
  seconds = atSeconds;
  gateway.note(key.organization, key.id);
};
const seen = async (gateway: KeyUses) => (await gateway.lastUses(key.organization, [key.id])).get(key.id);

test('a gateway stores the newest of many uses, once, and knows it before it is stored', async () => {
  const gateway = open();
  expect(await seen(gateway)).toBeUndefined();
  for (const second of [1, 2, 3]) use(gateway, second);
  expect(await seen(gateway)).toBe(at(3));
  expect(written).toEqual([]);
  await gateway.flush();
  await gateway.flush();
  expect(written).toEqual([at(3)]);
});

test('two gateways write a key once a minute between them, and lose no use', async () => {
  const [one, two] = [open(), open()];
  use(one, 0);
  await one.flush();
  use(two, 30);
  await two.flush();
  use(one, 50);
  await one.flush();
  expect(written).toEqual([at(0)]);
  use(two, 60);
  await Promise.all([one.flush(), two.flush()]);
  expect(written).toEqual([at(0), at(60)]);
  expect(await seen(one)).toBe(at(60));
});

test('two gateways that store a key at the same moment leave the later use', async () => {
  const [one, two] = [open(), open()];
  use(one, 1);
  use(two, 200);
  await Promise.all([one.flush(), two.flush()]);
  await Promise.all([one.flush(), two.flush()]);
  expect(await seen(open())).toBe(at(200));
  expect(written.toSorted()).toEqual(written);
});

test('a time never goes back, however late a gateway stores it', async () => {
  const [one, two] = [open(), open()];
  use(two, 5);
  use(one, 500);
  await one.flush();
  await two.close();
  expect(written).toEqual([at(500)]);
});

test('while the bus is away uses wait, and are stored when it is back', async () => {
  const gateway = open();
  isAway = true;
  use(gateway, 7);
  await gateway.flush();
  await expect(seen(gateway)).rejects.toMatchObject({ code: 'unavailable' });
  isAway = false;
  await gateway.flush();
  expect(written).toEqual([at(7)]);
});

test('a use that cannot be read, such as one of a newer program, keeps no other from being stored', async () => {
  const logged: string[] = [];
  const logger = pino({}, { write: (line: string) => void logged.push(line) });
  const unreadable = keyUseKey('elsewhere', 'key_1111111111111111');
  const get: typeof store.get = async (name, options) => {
    if (name === unreadable) throw new NewerMessage('The document has a field of a later version.');
    return await store.get(name, options);
  };
  const gateway = keyUses({ ...store, get }, { now: () => new Date(start) }, logger);
  gateways.push(gateway);
  gateway.note('elsewhere', 'key_1111111111111111');
  const others = Array.from({ length: 40 }, (_, at) => `key_${String(at).padStart(16, '0')}`);
  for (const id of others) gateway.note(key.organization, id);
  await gateway.flush();
  await gateway.flush();
  expect(written).toHaveLength(others.length);
  expect(logged.map((line) => JSON.parse(line).msg)).toEqual(['the last use of an API key cannot be read']);
});

test('a gateway that ends stores what waits, also within the minute', async () => {
  const [one, two] = [open(), open()];
  use(one, 0);
  await one.flush();
  use(two, 20);
  await two.flush();
  await two.close();
  expect(await seen(one)).toBe(at(20));
});

test('a gateway ends also when the bus is away', async () => {
  const gateway = open();
  use(gateway, 1);
  isAway = true;
  await gateway.close();
  expect(written).toEqual([]);
});

test('an unreadable time of one key keeps the others in the list', async () => {
  const gateway = open();
  use(gateway, 1);
  await gateway.flush();
  const broken = { key: keyUseKey(key.organization, 'key_broken'), revision: 1, problem: 'It is no JSON.' };
  const readable = store;
  const withBroken = {
    ...store,
    getMany: async (keys: readonly string[]) => [broken, ...(await readable.getMany(keys))],
  };
  const other = keyUses(withBroken, { now: () => new Date(start) }, pino({ level: 'silent' }));
  gateways.push(other);
  expect([...(await other.lastUses(key.organization, ['key_broken', key.id]))]).toEqual([[key.id, at(1)]]);
});

test('requests that a key opens count as uses, and refused ones do not', async () => {
  const gateway: GatewayHarness = await gatewayHarness();
  try {
    const acme: TestOrganization = await createOrganization(gateway);
    const asAdmin = { headers: bearer(acme.adminKey) };
    const made = await gateway.app.inject({
      method: 'POST',
      url: '/v1/api-keys',
      ...asAdmin,
      payload: { kind: 'admin', scopes: ['read'], name: 'nightly' },
    });
    const { id, key: secret } = made.json();
    const listed = async () => {
      const { apiKeys } = (await gateway.app.inject({ method: 'GET', url: '/v1/api-keys', ...asAdmin })).json();
      return apiKeys.find((each: { id: string }) => each.id === id)?.lastUsedAt;
    };
    const ask = (method: 'GET' | 'POST') =>
      gateway.app.inject({
        method,
        url: '/v1/api-keys',
        headers: bearer(secret),
        ...(method === 'POST' ? { payload: {} } : {}),
      });
    expect((await ask('POST')).json()).toMatchObject({ code: 'missing_scope' });
    expect(await listed()).toBeUndefined();
    gateway.clock.time = new Date('2026-03-01T12:34:56.789Z');
    expect((await ask('GET')).statusCode).toBe(200);
    expect(await listed()).toBe('2026-03-01T12:34:56.789Z');
  } finally {
    await gateway.close();
  }
});
