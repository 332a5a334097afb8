import { describe, expect, test } from 'vitest';
import {
  addDomain,
  changeOrganization,
  createApiKey,
  createOrganization,
  grantAdminKey,
  revokeApiKey,
  revokeDescendants,
  rotateApiKey,
} from './decide.ts';
import {
  type ApiKey,
  directoryAggregate,
  type DirectoryEvent,
  type DirectoryState,
  type DomainEntry,
  type UserTokenKey,
  apiKeySchema,
  userTokenKeySchema,
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
    expect(() => createOrganization(acme, 'acme', { name: 'Acme', plan: 'pro' }, first)).toThrow(
      expect.objectContaining({ code: 'in_use', message: 'The organization "acme" exists already.' }),
    );
  });

  test('keeps fields that a change does not name, and a change without effect adds no event', () => {
    expect(after(acme, changeOrganization(acme, { plan: 'pro' }))).toEqual({ ...acme, plan: 'pro' });
    expect(after(acme, changeOrganization(acme, { name: 'Other' }))).toEqual({ ...acme, name: 'Other' });
    expect(changeOrganization(acme, { name: 'Acme', plan: 'free' })).toEqual([]);
  });

  test('must exist before any change of it', () => {
    expect(() => changeOrganization(undefined, { plan: 'pro' })).toThrow(
      expect.objectContaining({ code: 'not_found', message: 'There is no such organization.' }),
    );
    expect(() => after(undefined, addDomain(acme, { time }, docs))).toThrow(
      'DomainAdded of acme comes before its creation',
    );
  });
});

describe('a domain', () => {
  const withDocs = after(acme, addDomain(acme, { time }, docs));

  test('is added with its hosts', () => {
    expect(withDocs.domains).toEqual([docs]);
  });

  test.each([
    ['slug', { ...docs, hosts: [] }],
    ['host name', { ...docs, slug: 'blog' }],
    ['slug that is a host name', { ...docs, slug: 'docs.acme.com', hosts: [] }],
  ])('cannot take a %s of another one', (_name, domain) => {
    const name = domain.slug === docs.slug ? 'docs' : 'docs.acme.com';
    expect(() => addDomain(withDocs, { time }, domain)).toThrow(
      expect.objectContaining({
        code: 'in_use',
        message: `The organization has a domain with the name "${name}" already.`,
      }),
    );
  });

  test('is the last one of 200', () => {
    const domains = Array.from({ length: 200 }, (_, count) => ({ ...docs, slug: `docs-${count}`, hosts: [] }));
    expect(addDomain({ ...acme, domains: domains.slice(1) }, { time }, docs)).toHaveLength(1);
    expect(() => addDomain({ ...acme, domains }, { time }, docs)).toThrow(
      expect.objectContaining({
        code: 'in_use',
        message: 'The organization has 200 domains, which is the maximum.',
      }),
    );
  });

  test('has public keys and no private part of one', () => {
    const x = 'A'.repeat(43);
    const okp = {
      kty: 'OKP',
      crv: 'Ed25519',
      x,
      alg: 'EdDSA',
      kid: 'k'.repeat(200),
      use: 'sig',
      key_ops: ['verify'],
      ext: true,
    };
    const ec = { kty: 'EC', crv: 'P-256', x, y: x, alg: 'ES256' };
    const rsa = { kty: 'RSA', n: 'A'.repeat(342), e: 'AQAB', alg: 'RS256' };
    const isKey = (key: object) => userTokenKeySchema.safeParse(key).success;
    for (const good of [okp, ec, rsa, { ...rsa, n: 'A'.repeat(683), e: 'A-_z0a9Z' }]) expect(isKey(good)).toBe(true);
    for (const wrong of [
      ...[okp, ec, rsa].map((key) => ({ ...key, d: x })),
      ...[okp, ec, rsa].map((key) => ({ ...key, alg: 'HS256' })),
      ...[{ kid: '' }, { kid: 'k'.repeat(201) }, { use: 'enc' }, { key_ops: ['sign'] }].map((more) => ({
        ...okp,
        ...more,
      })),
      ...[`${x}A`, x.slice(1), `${x.slice(1)}+`].map((x) => ({ ...okp, x })),
      { ...okp, crv: 'X25519' },
      { ...ec, crv: 'P-384' },
      { ...ec, y: `${x}A` },
      { ...rsa, n: 'A'.repeat(341) },
      { ...rsa, n: 'A'.repeat(684) },
      { ...rsa, e: '' },
      { ...rsa, e: 'A'.repeat(9) },
    ])
      expect({ wrong, isKey: isKey(wrong) }).toEqual({ wrong, isKey: false });
    const [issue] = userTokenKeySchema.safeParse({ ...okp, x: '' }).error?.issues ?? [];
    expect(issue?.message).toBe('must be base64url of the right length');
  });

  test('has user token keys up to 100 in all domains of an organization', () => {
    const userTokenKeys = Array.from(
      { length: 5 },
      (): UserTokenKey => ({ kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) }),
    );
    const signed = (slug: string) => ({ slug, hosts: [], groups: 'signed' as const, userTokenKeys });
    let state = acme;
    for (let count = 0; count < 20; count += 1)
      state = after(state, addDomain(state, { time }, signed(`docs-${count}`)));
    expect(() => addDomain(state, { time }, signed('one-more'))).toThrow(
      expect.objectContaining({
        code: 'in_use',
        message: 'The domains of an organization have at most 100 user token keys.',
      }),
    );
    expect(after(state, addDomain(state, { time }, docs)).domains).toHaveLength(21);
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
    expect(() => revokeApiKey(acme, second.id)).toThrow(
      expect.objectContaining({
        code: 'not_found',
        message: `There is no API key "${second.id}" in this organization.`,
      }),
    );
  });

  test('has no more rights than the key that makes or rotates it', () => {
    const writer = key('writer', { scopes: ['write'], expiresAt: first.expiresAt });
    const both = { ...acme, keys: [first, writer] };
    const byWriter = { time, actor: { kind: 'key' as const, id: writer.id } };
    const exceeds = expect.objectContaining({ code: 'exceeds_key' });
    expect(() => createApiKey(both, byWriter, () => second)).toThrow(exceeds);
    expect(() => rotateApiKey(both, byWriter, { keyId: first.id, overlapEnd: time }, () => second)).toThrow(exceeds);
  });

  test('has an id of 16 characters, and a name of 100 at most', () => {
    const isKey = (change: Partial<ApiKey>) => apiKeySchema.safeParse(key('a', change)).success;
    expect([isKey({ id: 'key_0123456789abcdeF' }), isKey({ name: 'n'.repeat(100) })]).toEqual([true, true]);
    for (const id of ['key_0123456789abcde', 'key_0123456789abcdef0', 'xkey_0123456789abcdef', 'key_0123456789abcde-'])
      expect(isKey({ id })).toBe(false);
    expect(isKey({ name: 'n'.repeat(101) })).toBe(false);
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

  test('that is not there cannot be rotated, nor one whose end is past and stays', () => {
    const to = (renewed: ApiKey, keyId = first.id, time = byFirst.time) =>
      rotateApiKey(acme, { ...byFirst, time }, { keyId, overlapEnd: time }, () => renewed);
    expect(() => to(second, 'key_none')).toThrow(
      expect.objectContaining({
        code: 'not_found',
        message: 'There is no API key "key_none" in this organization, or it was revoked.',
      }),
    );
    const ended = key('ended', { expiresAt: time });
    const withEnded = { ...acme, keys: [first, ended] };
    const renew = (expiresAt: string) =>
      rotateApiKey(withEnded, byFirst, { keyId: ended.id, overlapEnd: time }, (old) => ({ ...old, expiresAt }));
    expect(() => renew(time)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: `The API key ${ended.id} ended at ${time}, and a rotated key keeps its end. Set "expiresInDays", or create a new key.`,
        fields: [{ path: 'expiresInDays', message: 'is missing: the key has ended' }],
      }),
    );
    expect(renew('2026-03-01T10:00:00.001Z')).toHaveLength(1);
  });

  test('without an end gets one when it is rotated', () => {
    const endless = { ...acme, keys: [first, key('endless')] };
    const events = rotateApiKey(endless, byFirst, { keyId: key('endless').id, overlapEnd: time }, () => second);
    expect(after(endless, events).keys).toEqual([first, { ...key('endless'), expiresAt: time }, second]);
  });

  test('is revoked with those that it made', () => {
    const both = { ...acme, keys: [first, second, key('third')] };
    expect(after(both, revokeDescendants(both, [second, key('third')])).keys).toEqual([
      first,
      { ...second, revokedAt: time },
      { ...key('third'), revokedAt: time },
    ]);
    expect(() => revokeDescendants(undefined, [])).toThrow('no such organization');
  });

  test('from the operator is not counted, but needs room', () => {
    const full = { ...acme, keys: Array.from({ length: 500 }, (_, count) => key(String(count))) };
    expect(after(full, grantAdminKey(full, { time }, second)).keys).toEqual([...full.keys, second]);
    expect(() => grantAdminKey(undefined, { time }, second)).toThrow('no such organization');
  });

  test('and a domain have room in a state of 400 KB', () => {
    const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
    const large = (bytes: number): DirectoryState => {
      const empty = { ...acme, name: '' };
      return { ...empty, name: 'é'.repeat(bytes).slice(0, (bytes - bytesOf(empty)) >> 1) };
    };
    const fits = large(400_000 - bytesOf(second));
    expect(400_000 - bytesOf(fits) - bytesOf(second)).toBeLessThan(2);
    expect(grantAdminKey(fits, { time }, second)).toHaveLength(1);
    const tooLarge = { ...fits, name: `${fits.name}éé` };
    const tooMuch = expect.objectContaining({
      code: 'in_use',
      message:
        'The keys and domains of the organization would take more than 400 KB, which is the maximum. Name fewer addresses, origins or hosts.',
    });
    expect(() => grantAdminKey(tooLarge, { time }, second)).toThrow(tooMuch);
    expect(() => createApiKey(tooLarge, byFirst, () => second)).toThrow(tooMuch);
    expect(() => rotateApiKey(tooLarge, byFirst, { keyId: first.id, overlapEnd: time }, () => second)).toThrow(tooMuch);
    expect(() => addDomain(tooLarge, { time }, { ...docs, hosts: ['h'.repeat(500)] })).toThrow(tooMuch);
  });

  test('is the last one of 500', () => {
    const full = { ...acme, keys: [first, ...Array.from({ length: 499 }, (_, count) => key(String(count)))] };
    const tooMany = expect.objectContaining({ code: 'in_use', message: expect.stringContaining('has 500 valid keys') });
    expect(() => createApiKey(full, byFirst, () => second)).toThrow(tooMany);
    expect(() => rotateApiKey(full, byFirst, { keyId: first.id, overlapEnd: time }, () => second)).toThrow(tooMany);
  });

  test('that is rotated every week for twelve years finds room, and only ended keys make it', () => {
    const weekMs = 7 * 86_400_000;
    let state = acme;
    let current = key('endless');
    state = after(state, grantAdminKey(state, { time }, current));
    let forgotten = 0;
    for (let week = 1; week <= 624; week += 1) {
      const now = new Date(Date.parse(time) + week * weekMs);
      const change = { time: now.toISOString(), actor: { kind: 'key' as const, id: current.id } };
      const next = key(String(week), { createdAt: change.time });
      const overlapEnd = new Date(now.getTime() + 86_400_000).toISOString();
      const events = rotateApiKey(state, change, { keyId: current.id, overlapEnd }, () => next);
      const before = new Map(state.keys.map((each) => [each.id, each]));
      for (const event of events) {
        for (const { id, sha256, endedAt } of event.type === 'ApiKeysForgotten' ? event.data.keys : []) {
          expect(before.get(id)).toMatchObject({ sha256, expiresAt: endedAt });
          expect(Date.parse(endedAt)).toBeLessThanOrEqual(now.getTime());
          forgotten += 1;
        }
        state = directoryAggregate.evolve(state, event, change);
      }
      current = next;
    }
    expect([state.keys.length, forgotten]).toEqual([500, 126]);
    expect(state.keys.at(-1)).toEqual(current);
  });

  test('that needs room takes that of the keys that ended first, be it by revocation or expiry', () => {
    const at = (day: number) => `2026-02-${String(day).padStart(2, '0')}T10:00:00.000Z`;
    const ended = [
      key('late', { revokedAt: at(20) }),
      key('early', { expiresAt: at(10), revokedAt: at(28) }),
      key('middle', { revokedAt: at(15), expiresAt: '2027-01-01T10:00:00.000Z' }),
    ];
    const valid = [first, ...Array.from({ length: 496 }, (_, count) => key(String(count)))];
    const forgottenIn = (events: readonly DirectoryEvent[]) =>
      events.flatMap((event) => (event.type === 'ApiKeysForgotten' ? event.data.keys : []));
    const create = (state: DirectoryState) => createApiKey(state, byFirst, () => second);
    const full = { ...acme, keys: [...ended, ...valid] };
    expect(forgottenIn(create(full))).toEqual([{ id: key('early').id, sha256: '0'.repeat(64), endedAt: at(10) }]);
    expect(after(full, create(full)).keys).toEqual([ended[0], ended[2], ...valid, second]);
    expect(forgottenIn(create({ ...full, keys: [...ended.slice(1), ...valid] }))).toEqual([]);
    const over = { ...full, keys: [...ended, ...valid, key('granted')] };
    expect(forgottenIn(create(over)).map(({ id }) => id)).toEqual([key('early').id, key('middle').id]);
    const noneEnded = { ...acme, keys: [...valid, ...ended.map(({ id }) => key(id.slice(4)))] };
    expect(() => create(noneEnded)).toThrow(expect.objectContaining({ code: 'in_use' }));
  });

  test('that has ended makes room for a domain, too', () => {
    const wide = (id: string, change: Partial<ApiKey>) =>
      key(id, {
        allowedOrigins: Array.from({ length: 500 }, (_, at) => `https://${at}.${'o'.repeat(180)}.test`),
        ...change,
      });
    const state = {
      ...acme,
      keys: [first, wide('valid', {}), wide('a', { revokedAt: time }), wide('b', { revokedAt: time })],
    };
    const large = { ...docs, hosts: Array.from({ length: 500 }, (_, at) => `${at}.${'h'.repeat(240)}.test`) };
    const events = addDomain(state, { time }, large);
    expect(events.map(({ type }) => type)).toEqual(['ApiKeysForgotten', 'DomainAdded']);
    expect(after(state, events).keys.map(({ id }) => id)).toEqual([first.id, key('valid').id, key('b').id]);
    const allValid = { ...state, keys: state.keys.map(({ revokedAt: _, ...each }) => each) };
    expect(() => addDomain(allValid, { time }, large)).toThrow(expect.objectContaining({ code: 'in_use' }));
  });
});
