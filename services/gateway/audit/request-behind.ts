import { createHmac } from 'node:crypto';
import type { Actor, RequestBehind } from '#shared/contracts/commit.ts';
import { addressRange, withoutPort } from '#shared/http/address-ranges.ts';

/** The origin of a change, for the logs. */
export type RequestOrigin = { actor: Actor; requestId: string; traceparent: string; address: string };

/**
 * HMAC-SHA-256 of an address, as 64 hex digits. Different notations of an address have the same hash. Each organization has another hash, so that no
 * organization learns from its audit who its callers are elsewhere. Pure.
 */
export function addressHashOf(hashKey: string, organization: string, address: string): string {
  const [plain = ''] = withoutPort(address).split('%');
  const number = addressRange(plain)?.first.toString(16) ?? address;
  return createHmac('sha256', hashKey)
    .update(JSON.stringify(['address', organization, number]))
    .digest('hex');
}

/** Data about a request that the logs keep when it changes an organization. Pure. */
export const requestBehind = (
  { hashKey }: { hashKey: string },
  organization: string,
  { requestId, address }: RequestOrigin,
): RequestBehind => ({ id: requestId, addressHash: addressHashOf(hashKey, organization, address) });

/** Origin of a commit that a request caused. Pure. */
export const commandOrigin = (config: { hashKey: string }, organization: string, origin: RequestOrigin) => ({
  source: 'gateway',
  actor: origin.actor,
  causationId: origin.requestId,
  correlationId: origin.requestId,
  request: requestBehind(config, organization, origin),
  traceparent: origin.traceparent,
});
