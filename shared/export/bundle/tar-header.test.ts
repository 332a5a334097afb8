import { expect, test } from 'vitest';
import { tarHeader, tarPadding } from './tar-header.ts';

const text = (header: Uint8Array, from: number, length: number) =>
  Buffer.from(header)
    .subarray(from, from + length)
    .toString()
    .replace(/\0.*$/s, '');

test('a header is one block without time, place and user', () => {
  const header = tarHeader('acme/index.html', 1234);
  expect(header.length).toBe(512);
  expect([text(header, 0, 100), text(header, 100, 8), text(header, 108, 8), text(header, 116, 8)]).toEqual([
    'acme/index.html',
    '0000644',
    '0000000',
    '0000000',
  ]);
  expect(parseInt(text(header, 124, 12), 8)).toBe(1234);
  expect(new Date(parseInt(text(header, 136, 12), 8) * 1000).toISOString()).toBe('1980-02-01T00:00:00.000Z');
  expect([text(header, 265, 32), text(header, 297, 32)]).toEqual(['', '']);
  expect(Buffer.from(header).equals(tarHeader('acme/index.html', 1234))).toBe(true);
});

test('long paths are split at a slash into the two fields of ustar', () => {
  const folder = 'f'.repeat(120);
  const header = tarHeader(`${folder}/page.html`, 0);
  expect(header.length).toBe(512);
  expect([text(header, 345, 155), text(header, 0, 100)]).toEqual([folder, 'page.html']);
  const longest = `${'p'.repeat(155)}/${'n'.repeat(100)}`;
  expect(tarHeader(longest, 0).length).toBe(512);
  expect(tarHeader(`p${longest.slice(0, -1)}`, 0).length).toBeGreaterThan(512);
});

test('a path outside ASCII has a PAX header whose length counts its own digits', () => {
  const header = tarHeader('acme/größe.html', 0);
  expect(text(header, 512, 512)).toBe('26 path=acme/größe.html\n');
  expect(text(header, 1024, 100)).toBe('acme/größe.html');
});

test('padding fills the last block', () => {
  expect([0, 1, 511, 512, 513].map((size) => tarPadding(size).length)).toEqual([0, 511, 1, 0, 511]);
});

test('sizes that ustar cannot represent are refused', () => {
  expect(() => tarHeader('acme/x', 8 * 2 ** 30)).toThrow('smaller than 8 GiB');
});
