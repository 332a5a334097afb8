import type { EventMetadata } from '#shared/contracts/commit.ts';
import { addressRanges, covers } from '#shared/http/address-ranges.ts';
import { ApiError } from '#shared/http/errors.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import type { ApiKey, DirectoryState } from './directory.ts';

/**
 * A key must not create a key with more rights than its own. This file holds all rights that are compared: scopes, addresses, origins and
 * the end. An assistant key may outlive the admin key that created it, because exported pages contain it for as long as they are read; but
 * the keys of a short-lived admin key end with it. (An assistant key creates no keys.)
 *
 * A rotated key keeps its end, because otherwise a short-lived key could renew itself forever. Another admin key may give it a new end up
 * to its own. So only the operator can prolong the access of an organization.
 */

/** A lifetime in milliseconds below which a key counts as short-lived, as for a pipeline or a visitor. */
const shortLifeMs = 30 * dayMs;

/** Latest end of a new key as an ISO time; undefined if it need not end. */
export const latestEnd = (maker: ApiKey, kind: ApiKey['kind']): string | undefined =>
  mayOutlive(maker, kind) ? undefined : maker.expiresAt;

const mayOutlive = (maker: ApiKey, kind: ApiKey['kind']): boolean => kind === 'assistant' && !isShortLived(maker);

/** True if a key was created with a short lifetime. A rotated key that kept its end looks shorter than its life: see `withLifeSince`. Pure. */
export const isShortLived = (key: ApiKey): boolean => endOf(key) - Date.parse(key.createdAt) < shortLifeMs;

/** The maker of keys, with the creation time of the first key in its chain of rotations. Pure. */
export const withLifeSince = (maker: ApiKey, beganAt: string | undefined): ApiKey =>
  beganAt === undefined ? maker : { ...maker, createdAt: beganAt };

/**
 * The key of a request, read from the log, because a gateway may not know yet that it was revoked. Throws `invalid_key` or `expired_key`. A person has
 * all rights of an admin key, because the gateway let nobody but an admin through.
 */
export function makerOf({ keys }: DirectoryState, { actor, time }: EventMetadata): ApiKey {
  if (actor.kind === 'person') return { ...personMaker, name: actor.id, createdAt: time };
  const maker = actor.kind === 'key' ? keys.find(({ id }) => id === actor.id) : undefined;
  if (maker === undefined || maker.revokedAt !== undefined) throw new ApiError('invalid_key');
  if (maker.expiresAt !== undefined && Date.parse(maker.expiresAt) <= Date.parse(time))
    throw new ApiError('expired_key');
  return maker;
}

const personMaker = {
  id: 'the person',
  kind: 'admin' as const,
  sha256: '',
  scopes: ['read', 'write'] satisfies ApiKey['scopes'],
  allowedAddresses: [],
  allowedOrigins: [],
};

/** Throws `exceeds_key` when a new key has more rights than its maker. */
export function checkNewKey(maker: ApiKey, key: ApiKey): void {
  checkRights(maker, key);
  if (!mayOutlive(maker, key.kind) && endOf(key) > endOf(maker)) {
    throw exceeds(
      'expiresInDays',
      `sets an expiry after that of ${maker.id} (${maker.expiresAt}). Give fewer days or leave it out`,
    );
  }
}

/** Throws `exceeds_key` when the rotated key has more rights than the key that rotates it. */
export function checkRotation(maker: ApiKey, old: ApiKey, key: ApiKey): void {
  checkRights(maker, old);
  if (mayOutlive(maker, old.kind) || endOf(key) <= endOf(maker)) return;
  if (key.expiresAt === old.expiresAt)
    throw exceeds(
      'expiresAt',
      `of ${old.id}, which the new key keeps, is later than the expiry of ${maker.id} (${maker.expiresAt})`,
    );
  const who = maker.id === old.id ? 'a key cannot extend its own expiry; another admin key can' : 'give fewer days';
  throw exceeds('expiresInDays', `sets an expiry after that of ${maker.id} (${maker.expiresAt}): ${who}`);
}

function checkRights(maker: ApiKey, key: ApiKey): void {
  const scope = key.scopes.find((each) => !mayGive(maker, each));
  if (scope !== undefined) throw exceeds('scopes', `has "${scope}", which ${maker.id} lacks`);
  if (maker.allowedAddresses.length > 0) {
    if (key.allowedAddresses.length === 0)
      throw exceeds('allowedAddresses', `is empty, and ${maker.id} may not be used from everywhere`);
    const allowed = addressRanges(maker.allowedAddresses);
    const outside = key.allowedAddresses.find((each) => !addressRanges([each]).some((range) => covers(allowed, range)));
    if (outside !== undefined)
      throw exceeds('allowedAddresses', `allows "${outside}", but ${maker.id} may not be used from there`);
  }
  if (maker.allowedOrigins.length > 0) {
    if (key.allowedOrigins.length === 0)
      throw exceeds('allowedOrigins', `is empty, and ${maker.id} may not be used from every origin`);
    const outside = key.allowedOrigins.find((each) => !maker.allowedOrigins.includes(each));
    if (outside !== undefined)
      throw exceeds('allowedOrigins', `allows "${outside}", but ${maker.id} may not be used from there`);
  }
}

/**
 * `proxy` grants no access and only names the reader of a request. Admin keys do not have it, but any of them may grant it. `export` is a part of `read`
 * and `write` together.
 */
const mayGive = ({ scopes }: ApiKey, scope: ApiKey['scopes'][number]): boolean =>
  scope === 'proxy' ||
  scopes.includes(scope) ||
  (scope === 'export' && scopes.includes('read') && scopes.includes('write'));

const endOf = ({ expiresAt }: ApiKey): number =>
  expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);

const exceeds = (field: string, problem: string): ApiError =>
  new ApiError('exceeds_key', `A key cannot create a key with more rights than its own: "${field}" ${problem}.`);
