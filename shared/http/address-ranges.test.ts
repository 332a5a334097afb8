import { describe, expect, test } from 'vitest';
import { addressRange, addressRanges, covers, familyNamedWhole } from './address-ranges.ts';

const within = (list: string[], text: string): boolean => {
  const range = addressRange(text);
  if (range === undefined) throw new Error(`${text} is no address`);
  return covers(addressRanges(list), range);
};

describe('a list of addresses and networks', () => {
  test.each([
    [['192.0.2.0/24'], '192.0.2.1', true],
    [['192.0.2.9/24'], '192.0.2.1', true],
    [['192.0.2.1'], '::ffff:192.0.2.1', true],
    [['::ffff:192.0.2.0/120'], '192.0.2.7', true],
    [['192.0.2.0/24', '2001:db8::/32'], '198.51.100.1', false],
    [['2001:db8::/32'], '2001:DB8:0::9', true],
    [['2001:db8::/32'], '2001:db9::', false],
    [['10.0.0.0/9', '10.128.0.0/9'], '10.0.0.0/8', true],
    [['10.128.0.0/9', '10.0.0.0/10'], '10.0.0.0/8', false],
    [['10.0.0.0/8', '10.1.0.0/16'], '10.2.0.0/16', true],
    [['10.0.0.0/8'], '10.0.0.0/7', false],
    [['::/0'], '192.0.2.1', true],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [[], '192.0.2.1', false],
  ])('%j holds %s: %s', (list, text, held) => {
    expect(within(list, text)).toBe(held);
  });

  test.each([
    [['0.0.0.0/0'], 'IPv4'],
    [['10.1.2.3/0'], 'IPv4'],
    [['0.0.0.0/1', '128.0.0.0/1'], 'IPv4'],
    [['128.0.0.0/2', '0.0.0.0/1', '192.0.0.0/2'], 'IPv4'],
    [['::ffff:0:0/96'], 'IPv4'],
    [['::/0'], 'IPv4'],
    [['8000::/1', '2000::/4', '3000::/4'], 'IPv6'],
    [['0.0.0.0/1', '128.0.0.0/2'], undefined],
    [['10.0.0.0/8', '2001:db8::/32'], undefined],
    [[], undefined],
  ])('%j names all addresses of %s', (list, family) => {
    expect(familyNamedWhole(list)).toBe(family);
  });
});

test.each(['', 'x', '1.2.3', '1.2.3.4/33', '1.2.3.4/', '1.2.3.4/8/8', '1.2.3.4/-1', '::/129', 'fe80::1%eth0', '::1::'])(
  '"%s" is no address',
  (text) => {
    expect(addressRange(text)).toBeUndefined();
  },
);
