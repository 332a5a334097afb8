import { describe, expect, test } from 'vitest';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import type { ApiKey, DirectoryState } from './directory.ts';
import { type KeyOrigin, goodDescendants, noteOrigins } from './key-origins.ts';
import { checkNewKey, checkRotation, isShortLived, latestEnd, makerOf, withLifeSince } from './key-rights.ts';

const createdAt = '2026-03-01T10:00:00.000Z';
const inDays = (days: number, more = 0) => new Date(Date.parse(createdAt) + days * dayMs + more).toISOString();
const key = (name: string, more: Partial<ApiKey> = {}): ApiKey => ({
  id: `key_${name}`,
  kind: 'admin',
  name,
  sha256: '0'.repeat(64),
  scopes: ['read', 'write'],
  allowedAddresses: [],
  allowedOrigins: [],
  createdAt,
  ...more,
});
const stateOf = (...keys: ApiKey[]): DirectoryState => ({
  organization: 'acme',
  name: 'Acme',
  plan: 'free',
  createdAt,
  domains: [],
  keys,
});
/** The refusal of a new key, without its common beginning. */
const refusal = (check: () => void): string => {
  try {
    check();
  } catch (error) {
    expect(error).toMatchObject({ code: 'exceeds_key' });
    return (error as Error).message.replace('A key cannot create a key with more rights than its own: ', '');
  }
  return 'allowed';
};
const newKey = (maker: ApiKey, made: ApiKey) => refusal(() => checkNewKey(maker, made));

describe('a new key', () => {
  test('has only scopes of its maker, except that of a proxy', () => {
    const writer = key('writer', { scopes: ['write'] });
    expect(newKey(writer, key('new'))).toBe('"scopes" has "read", which key_writer lacks.');
    expect(newKey(writer, key('new', { scopes: ['write', 'proxy'] }))).toBe('allowed');
    expect(newKey(writer, key('new', { scopes: [] }))).toBe('allowed');
  });

  test('may export if its maker may read and write, or export', () => {
    const made = key('new', { scopes: ['export'] });
    expect(newKey(key('maker'), made)).toBe('allowed');
    expect(newKey(key('maker', { scopes: ['write', 'export'] }), made)).toBe('allowed');
    for (const scope of ['read', 'write'] as const)
      expect(newKey(key('maker', { scopes: [scope] }), made)).toBe('"scopes" has "export", which key_maker lacks.');
  });

  test('works only from addresses of its maker', () => {
    const office = key('office', { allowedAddresses: ['203.0.113.0/24', '2001:db8::/48'] });
    const from = (...allowedAddresses: string[]) => newKey(office, key('new', { allowedAddresses }));
    expect(from()).toBe('"allowedAddresses" is empty, and key_office may not be used from everywhere.');
    expect(from('203.0.113.128/25', '2001:db8:0:1::/64')).toBe('allowed');
    expect(from('203.0.113.1', '198.51.100.1')).toBe(
      '"allowedAddresses" allows "198.51.100.1", but key_office may not be used from there.',
    );
    expect(from('203.0.112.0/23')).toContain('allows "203.0.112.0/23"');
    expect(from('no address')).toContain('allows "no address"');
    expect(newKey(key('free'), key('new', { allowedAddresses: ['198.51.100.1'] }))).toBe('allowed');
  });

  test('works only at origins of its maker', () => {
    const site = key('site', { allowedOrigins: ['https://docs.acme.test', 'https://acme.test'] });
    const at = (...allowedOrigins: string[]) => newKey(site, key('new', { allowedOrigins }));
    expect(at()).toBe('"allowedOrigins" is empty, and key_site may not be used from every origin.');
    expect(at('https://acme.test')).toBe('allowed');
    expect(at('https://acme.test', 'https://evil.test')).toBe(
      '"allowedOrigins" allows "https://evil.test", but key_site may not be used from there.',
    );
    expect(newKey(key('free'), key('new', { allowedOrigins: ['https://acme.test'] }))).toBe('allowed');
  });

  test('ends with its maker at the latest', () => {
    const maker = key('maker', { expiresAt: inDays(90) });
    const until = (expiresAt?: string, more: Partial<ApiKey> = {}) =>
      newKey(maker, key('new', { ...more, ...(expiresAt === undefined ? {} : { expiresAt }) }));
    expect(until(inDays(90))).toBe('allowed');
    const tooLong = `"expiresInDays" sets an expiry after that of key_maker (${inDays(90)}). Give fewer days or leave it out.`;
    expect([until(inDays(90, 1)), until()]).toEqual([tooLong, tooLong]);
    expect(newKey(key('endless'), key('new'))).toBe('allowed');
  });

  test('of an assistant may outlive its maker, unless that was made for a short life', () => {
    const assistant = key('new', { kind: 'assistant' });
    const month = key('month', { expiresAt: inDays(30) });
    const visitor = key('visitor', { expiresAt: inDays(30, -1) });
    expect([isShortLived(month), isShortLived(visitor), isShortLived(key('endless'))]).toEqual([false, true, false]);
    expect([newKey(month, assistant), latestEnd(month, 'assistant')]).toEqual(['allowed', undefined]);
    expect(newKey(visitor, assistant)).toContain('sets an expiry after that of key_visitor');
    expect([latestEnd(visitor, 'assistant'), latestEnd(month, 'admin')]).toEqual([inDays(30, -1), inDays(30)]);
    expect(latestEnd(key('endless'), 'admin')).toBeUndefined();
  });

  test('of a rotated maker counts the life of the first in its chain', () => {
    const rotated = key('rotated', { createdAt: inDays(89), expiresAt: inDays(90) });
    expect(isShortLived(rotated)).toBe(true);
    expect(isShortLived(withLifeSince(rotated, createdAt))).toBe(false);
    expect(withLifeSince(rotated, createdAt)).toEqual({ ...rotated, createdAt });
    expect(withLifeSince(rotated, undefined)).toBe(rotated);
  });
});

describe('the maker of a request', () => {
  const metadata = (id: string, time = createdAt, kind: 'key' | 'operator' = 'key') => ({ time, actor: { kind, id } });
  const keys = stateOf(key('good', { expiresAt: inDays(1) }), key('revoked', { revokedAt: createdAt }), key('endless'));

  test('is its key', () => {
    expect(makerOf(keys, metadata('key_good')).name).toBe('good');
    expect(makerOf(keys, metadata('key_endless', inDays(999))).name).toBe('endless');
    expect(makerOf(keys, metadata('key_good', inDays(1, -1))).name).toBe('good');
  });

  test.each([
    ['is unknown', metadata('key_other'), 'invalid_key'],
    ['was revoked', metadata('key_revoked'), 'invalid_key'],
    ['is no key', metadata('key_good', createdAt, 'operator'), 'invalid_key'],
    ['has ended', metadata('key_good', inDays(1)), 'expired_key'],
  ])('is refused if it %s', (_, change, code) => {
    expect(() => makerOf(keys, change)).toThrow(expect.objectContaining({ code }));
  });
});

describe('a rotated key', () => {
  const maker = key('maker', { expiresAt: inDays(90) });
  const rotation = (old: ApiKey, made: ApiKey, by = maker) => refusal(() => checkRotation(by, old, made));

  test('has an end like that of the key that rotates it, at the latest', () => {
    const old = key('old', { expiresAt: inDays(60) });
    expect(rotation(old, key('new', { expiresAt: inDays(90) }))).toBe('allowed');
    expect(rotation(old, key('new', { expiresAt: inDays(91) }))).toBe(
      `"expiresInDays" sets an expiry after that of key_maker (${inDays(90)}): give fewer days.`,
    );
    const later = key('old', { expiresAt: inDays(100) });
    expect(rotation(later, key('new', { expiresAt: inDays(100) }))).toBe(
      `"expiresAt" of key_old, which the new key keeps, is later than the expiry of key_maker (${inDays(90)}).`,
    );
  });

  test('does not prolong itself', () => {
    expect(rotation(maker, key('new', { expiresAt: inDays(91) }))).toBe(
      `"expiresInDays" sets an expiry after that of key_maker (${inDays(90)}): a key cannot extend its own expiry; another admin key can.`,
    );
    expect(rotation(maker, key('new', { expiresAt: inDays(90) }))).toBe('allowed');
  });

  test('has no more rights than the key that rotates it, and an assistant key may outlive that', () => {
    const assistant = key('old', { kind: 'assistant' });
    expect(rotation(assistant, key('new', { kind: 'assistant' }))).toBe('allowed');
    const reader = key('reader', { scopes: ['read'] });
    expect(rotation(assistant, key('new', { kind: 'assistant' }), reader)).toContain('"scopes" has "write"');
  });
});

describe('the origins of keys', () => {
  type Events = Parameters<typeof noteOrigins>[1]['data']['events'];
  const organization = 'acme';
  const created = (made: ApiKey): Events[number] => ({
    type: 'ApiKeyCreated',
    version: 1,
    data: { organization, key: made },
  });
  const rotated = (oldKeyId: string, oldExpiresAt: string, made: ApiKey): Events[number] => ({
    type: 'ApiKeyRotated',
    version: 1,
    data: { organization, oldKeyId, oldExpiresAt, key: made },
  });
  const origins = (...commits: [id: string, ...Events][]) => {
    const found = new Map<string, KeyOrigin>();
    for (const [id, ...events] of commits)
      noteOrigins(found, { actor: { kind: id === 'operator' ? 'operator' : 'key', id }, data: { events } });
    return found;
  };

  test('name the maker and the start of a life, which continues in a rotation that keeps the end', () => {
    const first = key('first', { expiresAt: inDays(90) });
    const second = key('second', { expiresAt: inDays(90), createdAt: inDays(1) });
    const third = key('third', { expiresAt: inDays(95), createdAt: inDays(2) });
    const unknown = key('fourth', { createdAt: inDays(3) });
    const found = origins(
      ['operator', created(first)],
      ['key_first', rotated('key_first', inDays(2), second)],
      ['key_second', rotated('key_second', inDays(3), third), rotated('key_gone', inDays(3), unknown)],
      ['key_third', { type: 'ApiKeyRevoked', version: 1, data: { organization, keyId: 'key_first' } }],
    );
    expect(Object.fromEntries(found)).toEqual({
      key_first: { madeBy: undefined, beganAt: createdAt, expiresAt: inDays(2) },
      key_second: { madeBy: 'key_first', beganAt: createdAt, expiresAt: inDays(3) },
      key_third: { madeBy: 'key_second', beganAt: inDays(2), expiresAt: inDays(95) },
      key_fourth: { madeBy: 'key_second', beganAt: inDays(3), expiresAt: undefined },
    });
  });

  test('lead to all valid keys that a key made, also through others', () => {
    const made = [
      key('a'),
      key('b', { revokedAt: createdAt }),
      key('c'),
      key('d', { expiresAt: inDays(1) }),
      key('e', { expiresAt: inDays(1, 1) }),
      key('f'),
    ];
    const named = (...names: string[]) => made.filter(({ name }) => names.includes(name)).map(created);
    const found = origins(
      ['operator', ...named('a')],
      ['key_a', ...named('b')],
      ['key_b', ...named('c')],
      ['key_c', ...named('d', 'e')],
      ['operator', ...named('f')],
    );
    const good = goodDescendants(stateOf(...made), 'key_a', found, inDays(1));
    expect(good.map(({ name }) => name)).toEqual(['c', 'e']);
    expect(goodDescendants(stateOf(...made), 'key_f', found, inDays(1))).toEqual([]);
  });
});
