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
  expect(text(header, 124, 12)).toBe('00000002322');
  expect([text(header, 156, 1), text(header, 257, 8), text(header, 329, 8), text(header, 337, 8)]).toEqual([
    '0',
    'ustar',
    '0000000',
    '0000000',
  ]);
  expect(new Date(parseInt(text(header, 136, 12), 8) * 1000).toISOString()).toBe('1980-02-01T00:00:00.000Z');
  expect([text(header, 265, 32), text(header, 297, 32)]).toEqual(['', '']);
  expect(Buffer.from(header).equals(tarHeader('acme/index.html', 1234))).toBe(true);
});

test('the checksum of a header is the sum of its bytes, with blanks in its own field', () => {
  const header = Buffer.from(tarHeader('acme/index.html', 1234));
  const field = header.toString('latin1', 148, 156);
  header.fill(' ', 148, 156);
  const sum = header.reduce((all, byte) => all + byte, 0);
  expect(field).toBe(`${sum.toString(8).padStart(6, '0')}\0 `);
});

test('a path that an archive must not have is refused', () => {
  expect(() => tarHeader('../x', 1)).toThrow('the path "../x" points outside its folder: it cannot be in a bundle');
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

test('a name of 100 bytes needs no prefix, and a prefix may have one byte', () => {
  expect(tarHeader(`a/${'n'.repeat(98)}`, 0).length).toBe(512);
  const header = tarHeader(`a/${'n'.repeat(100)}`, 0);
  expect([header.length, text(header, 345, 155)]).toEqual([512, 'a']);
});

test('a path that ustar cannot hold has a PAX header, then a GNU long name, then the header of the file', () => {
  const path = `a/${'n'.repeat(150)}`;
  const header = tarHeader(path, 7);
  const [pax, record, link, name, file] = [0, 512, 1024, 1536, 2048];
  expect(header.length).toBe(5 * 512);
  expect([text(header, pax, 100), text(header, pax + 156, 1)]).toEqual(['PaxHeader', 'x']);
  expect(text(header, record, 512)).toBe(`162 path=${path}\n`);
  expect([text(header, link, 100), text(header, link + 156, 1)]).toEqual(['././@LongLink', 'L']);
  // The long name ends with a zero byte, which counts.
  expect([parseInt(text(header, link + 124, 12), 8), text(header, name, 512)]).toEqual([path.length + 1, path]);
  expect([text(header, file, 100), text(header, file + 156, 1)]).toEqual([path.slice(0, 100), '0']);
});

test('a path outside ASCII has a PAX header whose length counts its own digits', () => {
  const header = tarHeader('acme/größe.html', 0);
  expect(text(header, 512, 512)).toBe('26 path=acme/größe.html\n');
  expect(text(header, 1024, 100)).toBe('acme/größe.html');
});

test('padding fills the last block', () => {
  expect([0, 1, 511, 512, 513].map((size) => tarPadding(size).length)).toEqual([0, 511, 1, 0, 511]);
});

test.each([8 * 2 ** 30, -1, 0.5, NaN])('a size of %s, which ustar cannot represent, is refused', (size) => {
  expect(() => tarHeader('acme/x', size)).toThrow('smaller than 8 GiB');
});
