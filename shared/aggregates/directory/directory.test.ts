import { describe, expect, test } from 'vitest';
import {
  addDomain,
  changeOrganization,
  createApiKey,
  createOrganization,
  revokeApiKey,
  rotateApiKey,
} from './decide.ts';
import {
  type ApiKey,
  directoryAggregate,
  type DirectoryEvent,
  type DirectoryState,
  type DomainEntry,
  type UserTokenKey,
} from './directory.ts';

const time = '2026-03-01T10:00:00.000Z';
const key = (id: string, change: Partial<ApiKey> = {}): ApiKey => ({
  id: `key_${id.padStart(16, '0')}`,
  kind: 'admin',
  name: id,
  sha256: '0'.repeat(64),
  scopes: ['read', 'write'],
  allowedAddresses: [],
  allowedOrigins: [],
  createdAt: time,
  ...change,
});
const first = key('first', { expiresAt: '2026-05-30T10:00:00.000Z' });
const byFirst = { time, actor: { kind: 'key' as const, id: first.id } };
const docs: DomainEntry = { slug: 'docs', hosts: ['docs.acme.com'], groups: 'claimed' };

function after(state: DirectoryState | undefined, events: readonly DirectoryEvent[]): DirectoryState {
  let current = state;
  for (const event of events) {
    current = directoryAggregate.evolve(current, event, { time, actor: { kind: 'operator', id: 'operator' } });
  }
  if (current === undefined) throw new Error('nothing happened');
  return current;
}

const acme = after(undefined, createOrganization(undefined, 'acme', { name: 'Acme', plan: 'free' }, first));

describe('an organization', () => {
  test('begins with its first key and without domains', () => {
    expect(acme).toEqual({
      organization: 'acme',
      name: 'Acme',
      plan: 'free',
      createdAt: time,
      domains: [],
      keys: [first],
    });
  });

  test('is created once', () => {
    expect(() => createOrganization(acme, 'acme', { name: 'Acme', plan: 'pro' }, first)).toThrow('already');
  });

  test('keeps fields that a change does not name, and a change without effect adds no event', () => {
    expect(after(acme, changeOrganization(acme, { plan: 'pro' }))).toEqual({ ...acme, plan: 'pro' });
    expect(changeOrganization(acme, { name: 'Acme', plan: 'free' })).toEqual([]);
  });

  test('must exist before any change of it', () => {
    expect(() => changeOrganization(undefined, { plan: 'pro' })).toThrow('no such organization');
    expect(() => after(undefined, addDomain(acme, docs))).toThrow('comes before its creation');
  });
});

describe('a domain', () => {
  const withDocs = after(acme, addDomain(acme, docs));

  test('is added with its hosts', () => {
    expect(withDocs.domains).toEqual([docs]);
  });

  test.each([
    ['slug', { ...docs, hosts: [] }],
    ['host name', { ...docs, slug: 'blog' }],
    ['slug that is a host name', { ...docs, slug: 'docs.acme.com', hosts: [] }],
  ])('cannot take a %s of another one', (_name, domain) => {
    expect(() => addDomain(withDocs, domain)).toThrow('already');
  });

  test('has user token keys up to 100 in all domains of an organization', () => {
    const userTokenKeys = Array.from(
      { length: 5 },
      (): UserTokenKey => ({ kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) }),
    );
    const signed = (slug: string) => ({ slug, hosts: [], groups: 'signed' as const, userTokenKeys });
    let state = acme;
    for (let count = 0; count < 20; count += 1) state = after(state, addDomain(state, signed(`docs-${count}`)));
    expect(() => addDomain(state, signed('one-more'))).toThrow('at most 100 user token keys');
    expect(after(state, addDomain(state, docs)).domains).toHaveLength(21);
  });
});

describe('an API key', () => {
  const second = key('second', { expiresAt: first.expiresAt });

  test('is created, revoked at the time of the commit, and revoked once', () => {
    const created = after(
      acme,
      createApiKey(acme, byFirst, () => second),
    );
    expect(created.keys).toEqual([first, second]);
    const revoked = after(created, revokeApiKey(created, second.id));
    expect(revoked.keys).toEqual([first, { ...second, revokedAt: time }]);
    expect(revokeApiKey(revoked, second.id)).toEqual([]);
    expect(() => revokeApiKey(acme, second.id)).toThrow('no API key');
  });

  test.each([
    ['its overlap', '2026-03-02T10:00:00.000Z', '2026-03-02T10:00:00.000Z'],
    ['its own expiry when that is earlier', '2026-06-30T10:00:00.000Z', first.expiresAt],
  ])('that is rotated ends with %s', (_name, overlapEnd, end) => {
    const rotated = after(
      acme,
      rotateApiKey(acme, byFirst, { keyId: first.id, overlapEnd }, () => second),
    );
    expect(rotated.keys).toEqual([{ ...first, expiresAt: end }, second]);
  });

  test('that was revoked cannot be rotated, nor make or rotate another', () => {
    const both = after(
      acme,
      createApiKey(acme, byFirst, () => second),
    );
    const revoked = after(both, revokeApiKey(both, second.id));
    expect(() => rotateApiKey(revoked, byFirst, { keyId: second.id, overlapEnd: time }, () => first)).toThrow(
      'or it was revoked',
    );
    const bySecond = { time, actor: { kind: 'key' as const, id: second.id } };
    expect(() => rotateApiKey(revoked, bySecond, { keyId: first.id, overlapEnd: time }, () => second)).toThrow(
      'not valid',
    );
    expect(() => createApiKey(revoked, bySecond, () => second)).toThrow('not valid');
  });

  test('is the last one of 500', () => {
    const full = { ...acme, keys: [first, ...Array.from({ length: 499 }, (_, count) => key(String(count)))] };
    expect(() => createApiKey(full, byFirst, () => second)).toThrow('500 keys');
    expect(() => rotateApiKey(full, byFirst, { keyId: first.id, overlapEnd: time }, () => second)).toThrow('500 keys');
  });
});
