import { expect, test } from 'vitest';
import type { ApiKey } from '#shared/aggregates/directory/directory.ts';
import type { KeyDocument } from '#shared/interfaces/read-models.ts';
import { type KeyNeed, keyRefusal } from './authenticate.ts';

const now = new Date('2026-03-01T10:00:00.000Z');
const admin: KeyNeed = { kinds: ['admin'], scope: 'write' };

function document(change: Partial<ApiKey>): KeyDocument {
  return {
    revision: 1,
    commitId: 'c',
    updatedAt: now.toISOString(),
    organization: 'acme',
    organizationPlan: 'pro',
    domains: [],
    key: {
      id: 'key_0000000000000000',
      kind: 'admin',
      name: '',
      sha256: '0'.repeat(64),
      scopes: ['read', 'write'],
      allowedAddresses: [],
      allowedOrigins: [],
      createdAt: '2026-01-01T00:00:00.000Z',
      ...change,
    },
  };
}

test.each([
  ['a good key', {}, admin, '192.0.2.1', undefined],
  ['a revoked key', { revokedAt: now.toISOString() }, admin, '192.0.2.1', 'invalid_key'],
  ['an expired key', { expiresAt: now.toISOString() }, admin, '192.0.2.1', 'expired_key'],
  ['a key that ends later', { expiresAt: '2026-03-01T10:00:00.001Z' }, admin, '192.0.2.1', undefined],
  [
    'a revoked and expired key',
    { revokedAt: now.toISOString(), expiresAt: now.toISOString() },
    admin,
    '::1',
    'invalid_key',
  ],
  ['the wrong kind', { kind: 'assistant' }, admin, '192.0.2.1', 'wrong_key_kind'],
  ['a key that only reads', { scopes: ['read'] }, admin, '192.0.2.1', 'missing_scope'],
  ['a key that only exports', { scopes: ['export'] }, admin, '192.0.2.1', 'missing_scope'],
  [
    'a key that only exports, at a route of exports',
    { scopes: ['export'] },
    { ...admin, forExports: true },
    '192.0.2.1',
    undefined,
  ],
  ['an address in the network', { allowedAddresses: ['192.0.2.0/24'] }, admin, '192.0.2.1', undefined],
  ['an IPv4 address on an IPv6 socket', { allowedAddresses: ['192.0.2.1'] }, admin, '::ffff:192.0.2.1', undefined],
  [
    'an address that a proxy names with its port',
    { allowedAddresses: ['192.0.2.1'] },
    admin,
    '192.0.2.1:50123',
    undefined,
  ],
  [
    'an address outside',
    { allowedAddresses: ['192.0.2.0/24', '2001:db8::/32'] },
    admin,
    '198.51.100.1',
    'address_not_allowed',
  ],
  ['an IPv6 address inside', { allowedAddresses: ['2001:db8::/32'] }, admin, '2001:db8::9', undefined],
] satisfies [string, Partial<ApiKey>, KeyNeed, string, string | undefined][])(
  '%s',
  (_name, change, need, address, refusal) => {
    expect(keyRefusal(document(change), need, { now, address })).toBe(refusal);
  },
);

test('a key that nobody knows', () => {
  expect(keyRefusal(undefined, admin, { now, address: '::1' })).toBe('invalid_key');
});
