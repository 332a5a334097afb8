import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { readerAddresses } from './reader-address.ts';

const address = (proxies: string[], remoteAddress: string, forwarded?: string) =>
  readerAddresses(proxies)({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  } as unknown as IncomingMessage);

test.each([
  ['a reader without a proxy', [], '192.0.2.1', undefined, '192.0.2.1'],
  ['a reader who poses as another, without a proxy', [], '192.0.2.1', '203.0.113.5', '192.0.2.1'],
  ['a reader who poses as another, beside a proxy', ['10.0.0.1'], '192.0.2.1', '203.0.113.5', '192.0.2.1'],
  ['a reader behind a proxy', ['10.0.0.1'], '10.0.0.1', '192.0.2.1', '192.0.2.1'],
  ['a reader who poses as another, behind a proxy', ['10.0.0.1'], '10.0.0.1', '203.0.113.5, 192.0.2.1', '192.0.2.1'],
  ['a reader behind two proxies', ['uniquelocal'], '::ffff:10.0.0.1', '192.0.2.1, 10.0.0.9', '192.0.2.1'],
  ['a reader among the proxies', ['uniquelocal'], '10.0.0.1', '10.0.0.7, 10.0.0.9', '10.0.0.7'],
  ['a header without an address', ['10.0.0.1'], '10.0.0.1', 'unknown', '10.0.0.1'],
  ['an address of IPv6, by its network', [], '2001:db8:1:2:3::9', undefined, '2001:db8:1:2::/64'],
])('%s counts by the right address', (_, proxies, peer, forwarded, wanted) => {
  expect(address(proxies, peer, forwarded)).toBe(wanted);
});
