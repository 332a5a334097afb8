import type { IncomingMessage } from 'node:http';
import { addressRange, covers, proxyRanges } from '#shared/http/address-ranges.ts';
import { readForwarded } from '#shared/http/forwarded-address.ts';
import { addressGroup } from '#shared/http/rate-limit.ts';

/**
 * Reads the address of a reader, which limits apply to. Behind trusted proxies it is the last address in the header that is not a proxy's. `proxies`
 * as in the setting.
 */
export function readerAddresses(proxies: readonly string[]): (request: IncomingMessage) => string {
  const ranges = proxies.flatMap(proxyRanges);
  const isTrusted = (address: string): boolean => {
    const range = addressRange(address.replace(/%.*$/, ''));
    return range !== undefined && covers(ranges, range);
  };
  return ({ headers, socket }) => {
    const peer = socket.remoteAddress ?? '';
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined || ranges.length === 0 || !isTrusted(peer)) return addressGroup(peer);
    const through = readForwarded(String(forwarded)).addresses?.split(', ') ?? [];
    return addressGroup(through.findLast((address) => !isTrusted(address)) ?? through[0] ?? peer);
  };
}
