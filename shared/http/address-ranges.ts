import { isIP } from 'node:net';

/**
 * Addresses from `first` to `last`, as numbers of 128 bits. IPv4 addresses are included as `::ffff:a.b.c.d`, the form in which dual-stack sockets
 * show them.
 */
export type AddressRange = { first: bigint; last: bigint };

const mappedIpv4 = 0xffffn << 32n;

/** The range of an address (`192.0.2.7`) or a network (`10.0.0.0/8`); undefined for any other text. Pure. */
export function addressRange(text: string): AddressRange | undefined {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  // Refuses zones, which select an interface of one machine and have no meaning in a list.
  if (family === 0 || rest.length > 0 || address.includes('%')) return undefined;
  const longest = family === 4 ? 32 : 128;
  if (prefix !== undefined && (!/^[0-9]{1,3}$/.test(prefix) || Number(prefix) > longest)) return undefined;
  const hostBits = BigInt(longest - Number(prefix ?? longest));
  const number = family === 4 ? mappedIpv4 | ipv4Number(address) : ipv6Number(address);
  const first = (number >> hostBits) << hostBits;
  return { first, last: first | ((1n << hostBits) - 1n) };
}

/** True if a range has only IPv4 addresses. Pure. */
export const isIpv4 = ({ first, last }: AddressRange): boolean => first >> 32n === 0xffffn && last >> 32n === 0xffffn;

/** A client's address without the port that some proxies append: `192.0.2.7:50123`, `[2001:db8::9]:50123`. Pure. */
export const withoutPort = (address: string): string =>
  /^\[(.*)\](?::[0-9]+)?$/.exec(address)?.[1] ?? /^([0-9.]+):[0-9]+$/.exec(address)?.[1] ?? address;

/** The ranges of a list of addresses and networks; other entries are ignored. Pure. */
export const addressRanges = (list: readonly string[]): AddressRange[] =>
  list.flatMap((text) => addressRange(text) ?? []);

const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** The ranges of one entry in a list of trusted proxies, which may also be a name for private networks. Empty if the entry is invalid. Pure. */
export const proxyRanges = (text: string): AddressRange[] => addressRanges(namedRanges[text] ?? [text]);

/** True if all addresses of `range` are in the union of `ranges`. Pure. */
export function covers(ranges: readonly AddressRange[], range: AddressRange): boolean {
  let from = range.first;
  for (const { first, last } of ranges.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    if (first > from) return false;
    if (last >= range.last) return true;
    if (last >= from) from = last + 1n;
  }
  return false;
}

/** All public addresses of each family: of IPv6, only these are assigned. */
const everywhere = { IPv4: '0.0.0.0/0', IPv6: '2000::/3' } as const;

/** The family whose addresses a list covers completely, in one entry or several; undefined if none. Pure. */
export function familyNamedWhole(list: readonly string[]): keyof typeof everywhere | undefined {
  const ranges = addressRanges(list);
  return (['IPv4', 'IPv6'] as const).find((family) =>
    addressRanges([everywhere[family]]).some((all) => covers(ranges, all)),
  );
}

const ipv4Number = (address: string): bigint =>
  address.split('.').reduce((number, part) => (number << 8n) | BigInt(part), 0n);

function ipv6Number(address: string): bigint {
  // The last 32 bits may be written as an IPv4 address.
  const plain = address.replace(/[0-9.]+$/, (end) => {
    if (!end.includes('.')) return end;
    const number = ipv4Number(end);
    return `${(number >> 16n).toString(16)}:${(number & 0xffffn).toString(16)}`;
  });
  const [front = '', back] = plain.split('::');
  const head = front === '' ? [] : front.split(':');
  const tail = back === undefined || back === '' ? [] : back.split(':');
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return groups.reduce((number, group) => (number << 16n) | BigInt(`0x${group}`), 0n);
}

const linkLocal = [...proxyRanges('linklocal'), ...proxyRanges('fd00:ec2::254')];

/** True for link-local addresses. They belong to the machine: in clouds they answer with its credentials. Pure. */
export function isLinkLocal(address: string): boolean {
  const range = addressRange(address.split('%')[0] ?? '');
  return range !== undefined && covers(linkLocal, range);
}
