import { addressRange, addressRanges, covers, isLinkLocal } from '#shared/http/address-ranges.ts';

/** True for an address that commands do not ask. Link-local addresses have no pages for readers, so they are refused also with `allowPrivate`. */
export const isRefused = (address: string, allowPrivate: boolean): boolean =>
  allowPrivate ? isLinkLocal(address) : isPrivate(address);

/** Ranges that are not reachable from the whole Internet. Only `2000::/3` of IPv6 is assigned, and parts of it stand for IPv4 addresses. */
const privateIpv4 = addressRanges(
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 198.18.0.0/15 224.0.0.0/3'.split(
    ' ',
  ),
);
const allIpv4 = addressRanges(['0.0.0.0/0']);
const publicIpv6 = addressRanges(['2000::/3']);
const privateIpv6 = addressRanges(['2001::/32', '2001:db8::/32', '2002::/16']);

/** True for addresses of this machine, of private networks, and for those that are not routed on the Internet. Pure. */
export function isPrivate(address: string): boolean {
  const range = addressRange(address.split('%')[0] ?? '');
  if (range === undefined) return true;
  if (covers(allIpv4, range)) return covers(privateIpv4, range);
  return !covers(publicIpv6, range) || covers(privateIpv6, range);
}
