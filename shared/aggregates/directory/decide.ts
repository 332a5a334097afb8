import type { ApiKey, DirectoryEvent, DirectoryState, DomainEntry } from './directory.ts';
import { checkNewKey, checkRotation, makerOf, withLifeSince } from './key-rights.ts';
import type { EventMetadata } from '#shared/contracts/commit.ts';
import { ApiError } from '#shared/http/errors.ts';

/**
 * The decisions about an organization. Pure: each throws the `ApiError` that the caller receives. An empty list of events means that
 * nothing changes.
 */

const mostKeys = 500;
const mostDomains = 200;
/** Limit for each organization, because the read model's document of each API key contains all user token keys of the organization. */
const mostUserTokenKeys = 100;
/**
 * Limit of the state. A commit has the state and the new events, and a message of the bus holds 1 MB. A larger state would leave no room
 * for a revocation.
 */
const mostStateBytes = 400_000;

/** Creates an organization with its first admin key. Throws `in_use` if it exists already. */
export function createOrganization(
  state: DirectoryState | undefined,
  organization: string,
  body: Pick<DirectoryState, 'name' | 'plan'>,
  firstKey: ApiKey,
): DirectoryEvent[] {
  if (state !== undefined) throw new ApiError('in_use', `The organization "${organization}" exists already.`);
  return [
    { type: 'OrganizationCreated', version: 1, data: { organization, ...body } },
    { type: 'ApiKeyCreated', version: 1, data: { organization, key: firstKey } },
  ];
}

/** Changes name or plan; absent fields stay unchanged. Throws `not_found` for an unknown organization. */
export function changeOrganization(
  state: DirectoryState | undefined,
  body: { [Field in 'name' | 'plan']?: DirectoryState[Field] | undefined },
): DirectoryEvent[] {
  const { organization, name, plan } = existing(state);
  const changed = { name: body.name ?? name, plan: body.plan ?? plan };
  if (changed.name === name && changed.plan === plan) return [];
  return [{ type: 'OrganizationChanged', version: 1, data: { organization, ...changed } }];
}

/** Adds a domain. Throws `not_found` for an unknown organization, and `in_use` for a taken name or beyond the limits of domains, keys or state. */
export function addDomain(
  state: DirectoryState | undefined,
  { time }: Pick<EventMetadata, 'time'>,
  domain: DomainEntry,
): DirectoryEvent[] {
  const { organization, domains } = existing(state);
  if (domains.length >= mostDomains)
    throw new ApiError('in_use', `The organization has ${mostDomains} domains, which is the maximum.`);
  const names = new Set(domains.flatMap(({ slug, hosts }) => hosts.concat(slug)));
  const taken = [domain.slug, ...domain.hosts].find((name) => names.has(name));
  if (taken !== undefined)
    throw new ApiError('in_use', `The organization has a domain with the name "${taken}" already.`);
  const keyCount = [...domains, domain].flatMap(({ userTokenKeys }) => userTokenKeys ?? []).length;
  if (keyCount > mostUserTokenKeys)
    throw new ApiError('in_use', `The domains of an organization have at most ${mostUserTokenKeys} user token keys.`);
  return [
    ...roomFor(existing(state), domain, time),
    { type: 'DomainAdded', version: 1, data: { organization, domain } },
  ];
}

/** Adds an admin key from the operator, for an organization whose admin keys are lost or have ended. The limit of keys does not apply. */
export function grantAdminKey(
  state: DirectoryState | undefined,
  { time }: Pick<EventMetadata, 'time'>,
  key: ApiKey,
): DirectoryEvent[] {
  const { organization } = existing(state);
  return [...roomFor(existing(state), key, time), { type: 'ApiKeyCreated', version: 1, data: { organization, key } }];
}

/**
 * Adds the key `make(maker)`, where `maker` is the key that authenticated the request. `beganAt`: start of the maker's life, if that is before its
 * creation.
 */
export function createApiKey(
  state: DirectoryState | undefined,
  change: EventMetadata,
  make: (maker: ApiKey) => ApiKey,
  beganAt?: string,
): DirectoryEvent[] {
  const { organization } = existing(state);
  const maker = withLifeSince(makerOf(existing(state), change), beganAt);
  const key = make(maker);
  checkNewKey(maker, key);
  const forgotten = roomFor(existing(state), key, change.time, mostKeys);
  return [...forgotten, { type: 'ApiKeyCreated', version: 1, data: { organization, key } }];
}

/** Replaces a key by `renew(old)`. The old one stays valid until `overlapEnd`, or until its own earlier end. `beganAt`: see `createApiKey`. */
export function rotateApiKey(
  state: DirectoryState | undefined,
  change: EventMetadata,
  { keyId, overlapEnd }: { keyId: string; overlapEnd: string },
  renew: (old: ApiKey) => ApiKey,
  beganAt?: string,
): DirectoryEvent[] {
  const { organization, keys } = existing(state);
  const maker = withLifeSince(makerOf(existing(state), change), beganAt);
  const old = keys.find((key) => key.id === keyId && key.revokedAt === undefined);
  if (old === undefined)
    throw new ApiError('not_found', `There is no API key "${keyId}" in this organization, or it was revoked.`);
  const key = renew(old);
  checkRotation(maker, old, key);
  if (key.expiresAt !== undefined && Date.parse(key.expiresAt) <= Date.parse(change.time)) throw endedBefore(old);
  const oldExpiresAt = old.expiresAt !== undefined && old.expiresAt < overlapEnd ? old.expiresAt : overlapEnd;
  const forgotten = roomFor(existing(state), key, change.time, mostKeys);
  return [
    ...forgotten,
    { type: 'ApiKeyRotated', version: 1, data: { organization, oldKeyId: old.id, oldExpiresAt, key } },
  ];
}

const endedBefore = ({ id, expiresAt }: ApiKey): ApiError =>
  new ApiError(
    'invalid_request',
    `The API key ${id} ended at ${expiresAt}, and a rotated key keeps its end. Set "expiresInDays", or create a new key.`,
    { fields: [{ path: 'expiresInDays', message: 'is missing: the key has ended' }] },
  );

/** Revokes the `descendants` of a key that are still valid. The key must be revoked before, so that it creates no more meanwhile. */
export function revokeDescendants(state: DirectoryState | undefined, descendants: readonly ApiKey[]): DirectoryEvent[] {
  const { organization } = existing(state);
  return descendants.map(({ id }) => ({ type: 'ApiKeyRevoked', version: 1, data: { organization, keyId: id } }));
}

/** Revokes a key; no event if it is revoked already. Throws `not_found` for an unknown key. */
export function revokeApiKey(state: DirectoryState | undefined, keyId: string): DirectoryEvent[] {
  const { organization, keys } = existing(state);
  const key = keys.find(({ id }) => id === keyId);
  if (key === undefined) throw new ApiError('not_found', `There is no API key "${keyId}" in this organization.`);
  if (key.revokedAt !== undefined) return [];
  return [{ type: 'ApiKeyRevoked', version: 1, data: { organization, keyId } }];
}

/**
 * The event that makes room for a key or domain, if it needs room: keys that have ended are forgotten, the one that ended first before the others. Throws
 * `in_use` if the valid keys leave no room. `mostKeys`: limit of keys with the added one.
 */
function roomFor(
  state: DirectoryState,
  added: ApiKey | DomainEntry,
  time: string,
  mostKeys = Infinity,
): DirectoryEvent[] {
  const { organization, keys } = state;
  const bytesOf = (part: unknown) => Buffer.byteLength(JSON.stringify(part));
  let bytes = bytesOf(state) + bytesOf(added);
  const isFull = () => bytes > mostStateBytes || keys.length - forgotten.length >= mostKeys;
  const forgotten: { id: string; sha256: string; endedAt: string }[] = [];
  for (const { key, endedAt } of isFull() ? endedKeys(keys, time) : []) {
    if (!isFull()) break;
    forgotten.push({ id: key.id, sha256: key.sha256, endedAt });
    bytes -= bytesOf(key) + 1;
  }
  if (keys.length - forgotten.length >= mostKeys)
    throw new ApiError(
      'in_use',
      `The organization has ${mostKeys} valid keys, which is the maximum. Use an existing key, or revoke one.`,
    );
  if (bytes > mostStateBytes)
    throw new ApiError(
      'in_use',
      `The keys and domains of the organization would take more than ${mostStateBytes / 1_000} KB, which is the maximum. Name fewer addresses, origins or hosts.`,
    );
  return forgotten.length === 0
    ? []
    : [{ type: 'ApiKeysForgotten', version: 1, data: { organization, keys: forgotten } }];
}

/** Keys that are revoked or expired at a time, ordered by their ends. */
function endedKeys(keys: readonly ApiKey[], time: string): { key: ApiKey; endedAt: string }[] {
  return keys
    .flatMap((key) => {
      const [endedAt] = [key.revokedAt, key.expiresAt].flatMap((end) => end ?? []).toSorted();
      return endedAt !== undefined && Date.parse(endedAt) <= Date.parse(time) ? [{ key, endedAt }] : [];
    })
    .toSorted((a, b) => Date.parse(a.endedAt) - Date.parse(b.endedAt));
}

function existing(state: DirectoryState | undefined): DirectoryState {
  if (state === undefined) throw new ApiError('not_found', 'There is no such organization.');
  return state;
}
