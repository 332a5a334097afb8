import { isIPv6 } from 'node:net';

/** What counts as one address: an IPv4 address, or the /64 of an IPv6 address, which is what one connection is given. Pure. */
export function addressGroup(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [front = '', back = ''] = address.split('%')[0]?.split('::') ?? [];
  const head = front === '' ? [] : front.split(':');
  const tail = back === '' ? [] : back.split(':');
  const missing = Math.max(0, 8 - head.length - tail.length);
  const groups = address.includes('::') ? [...head, ...Array<string>(missing).fill('0'), ...tail] : head;
  return `${groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
