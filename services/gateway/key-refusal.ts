import { BlockList, isIP } from 'node:net';
import type { ApiKeyKind } from '#shared/api-key/api-key.ts';
import type { KeyDocument } from '#shared/contracts/read-model-documents.ts';
import type { ErrorCode } from '#shared/errors/error-table.ts';

/** What a route asks of a key. */
export type KeyNeed = { kinds: readonly ApiKeyKind[]; scope: 'read' | 'write' };

/** Why a key does not open a route, or undefined when it does: the one place that decides. Pure. */
export function keyRefusal(
  document: KeyDocument | undefined,
  need: KeyNeed,
  use: { now: Date; address: string },
): ErrorCode | undefined {
  if (document === undefined) return 'invalid_key';
  const { key } = document;
  const isOver = (end: string | undefined) => end !== undefined && Date.parse(end) <= use.now.getTime();
  if (isOver(key.revokedAt)) return 'invalid_key';
  if (isOver(key.expiresAt)) return 'expired_key';
  if (!need.kinds.includes(key.kind)) return 'wrong_key_kind';
  if (!key.scopes.includes(need.scope)) return 'missing_scope';
  if (key.allowedAddresses.length > 0 && !isAllowed(key.allowedAddresses, use.address)) return 'address_not_allowed';
  return undefined;
}

function isAllowed(allowed: readonly string[], caller: string): boolean {
  // A dual-stack socket shows IPv4 callers as ::ffff:1.2.3.4.
  const address = caller.replace(/^::ffff:(?=[0-9.]+$)/i, '');
  if (isIP(address) === 0) return false;
  const list = new BlockList();
  for (const entry of allowed) {
    const [network = '', prefix] = entry.split('/');
    const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(network, family);
    else list.addSubnet(network, Number(prefix), family);
  }
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
