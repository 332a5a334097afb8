import type { EventMetadata } from '#shared/contracts/commit.ts';
import { addressRanges, covers } from '#shared/http/address-ranges.ts';
import { ApiError } from '#shared/http/errors.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import type { ApiKey, DirectoryState } from './directory.ts';

/**
 * No key makes one that may do more than itself. What the rights of two keys are compared by is all here: scopes, addresses, origins and
 * the end. An assistant key may outlive the admin key that made it, because exported pages contain it for as long as they are read;
 * but an admin key of a short life leaves nothing behind. (An assistant key makes no keys.)
 *
 * A rotated key keeps its end, or a key that ends soon would renew itself for ever. Another admin key may give it a new one, which
 * reaches no further than its own; so the operator alone prolongs what an organization has.
 */

/** A key that was made for less, in milliseconds, was made to end soon: in a pipeline, for a visitor. */
const shortLifeMs = 30 * dayMs;

/** When a new key ends at the latest, as an ISO time; undefined: never. */
export const latestEnd = (maker: ApiKey, kind: ApiKey['kind']): string | undefined =>
  mayOutlive(maker, kind) ? undefined : maker.expiresAt;

const mayOutlive = (maker: ApiKey, kind: ApiKey['kind']): boolean => kind === 'assistant' && !isShortLived(maker);

/** Whether a key was made to end soon. One that was rotated and kept its end looks shorter than its life: see `withLifeSince`. Pure. */
export const isShortLived = (key: ApiKey): boolean => endOf(key) - Date.parse(key.createdAt) < shortLifeMs;

/** The key that makes others, with the time at which the life of the first began that was rotated to it. Pure. */
export const withLifeSince = (maker: ApiKey, beganAt: string | undefined): ApiKey =>
  beganAt === undefined ? maker : { ...maker, createdAt: beganAt };

/** The key that a change is from, as the log has it: a gateway may not know yet that it was revoked. Throws `invalid_key` or `expired_key`. */
export function makerOf({ keys }: DirectoryState, { actor, time }: EventMetadata): ApiKey {
  const maker = actor.kind === 'key' ? keys.find(({ id }) => id === actor.id) : undefined;
  if (maker === undefined || maker.revokedAt !== undefined) throw new ApiError('invalid_key');
  if (maker.expiresAt !== undefined && Date.parse(maker.expiresAt) <= Date.parse(time))
    throw new ApiError('expired_key');
  return maker;
}

/** Throws `exceeds_key` when a new key may do more than its maker. */
export function checkNewKey(maker: ApiKey, key: ApiKey): void {
  checkRights(maker, key);
  if (!mayOutlive(maker, key.kind) && endOf(key) > endOf(maker)) {
    throw exceeds(
      'expiresInDays',
      `reaches beyond the end of ${maker.id} (${maker.expiresAt}). Give fewer days or leave it out`,
    );
  }
}

/** Throws `exceeds_key` when what a key is rotated to may do more than who rotates it. */
export function checkRotation(maker: ApiKey, old: ApiKey, key: ApiKey): void {
  checkRights(maker, old);
  if (mayOutlive(maker, old.kind) || endOf(key) <= endOf(maker)) return;
  const end = maker.expiresAt ?? 'never';
  if (key.expiresAt === old.expiresAt)
    throw exceeds('expiresAt', `of ${old.id}, which the new key keeps, is after the end of ${maker.id} (${end})`);
  const who = maker.id === old.id ? 'no key gives itself a later one; another admin key can' : 'give fewer days';
  throw exceeds('expiresInDays', `reaches beyond the end of ${maker.id} (${end}): ${who}`);
}

function checkRights(maker: ApiKey, key: ApiKey): void {
  const scope = key.scopes.find((each) => !mayGive(maker, each));
  if (scope !== undefined) throw exceeds('scopes', `has "${scope}", which ${maker.id} lacks`);
  if (maker.allowedAddresses.length > 0) {
    if (key.allowedAddresses.length === 0)
      throw exceeds('allowedAddresses', `is empty, and ${maker.id} may not be used from everywhere`);
    const allowed = addressRanges(maker.allowedAddresses);
    const outside = key.allowedAddresses.find(
      (each) => !addressRanges([each]).every((range) => covers(allowed, range)),
    );
    if (outside !== undefined)
      throw exceeds('allowedAddresses', `has "${outside}", from where ${maker.id} may not be used`);
  }
  if (maker.allowedOrigins.length > 0) {
    if (key.allowedOrigins.length === 0)
      throw exceeds('allowedOrigins', `is empty, and ${maker.id} may not be used from every origin`);
    const outside = key.allowedOrigins.find((each) => !maker.allowedOrigins.includes(each));
    if (outside !== undefined)
      throw exceeds('allowedOrigins', `has "${outside}", from where ${maker.id} may not be used`);
  }
}

/** `proxy` opens nothing, it says for whom a request counts: no admin key has it, and each that makes keys may give it. */
const mayGive = ({ scopes }: ApiKey, scope: ApiKey['scopes'][number]): boolean =>
  scope === 'proxy' || scopes.includes(scope);

const endOf = ({ expiresAt }: ApiKey): number =>
  expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);

const exceeds = (field: string, problem: string): ApiError =>
  new ApiError('exceeds_key', `A key cannot make one that may do more than itself: "${field}" ${problem}.`);
