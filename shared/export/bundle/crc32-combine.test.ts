import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { crc32Combine } from './crc32-combine.ts';

test('combining the CRCs of two parts gives the CRC of the whole, for any cut', () => {
  for (let round = 0; round < 300; round++) {
    const whole = randomBytes(Math.floor(Math.random() * 5000));
    const cut = Math.floor(Math.random() * (whole.length + 1));
    const [first, second] = [whole.subarray(0, cut), whole.subarray(cut)];
    expect(crc32Combine(crc32(first), crc32(second), second.length), `cut ${whole.toString('hex')} at ${cut}`).toBe(
      crc32(whole),
    );
  }
});

test('many parts fold from the left, empty ones change nothing', () => {
  const parts = [Buffer.from(''), Buffer.from('a'), Buffer.alloc(0), randomBytes(70_000), Buffer.from('')];
  const folded = parts.reduce((crc, part) => crc32Combine(crc, crc32(part), part.length), 0);
  expect(folded).toBe(crc32(Buffer.concat(parts)));
});

test('lengths above 4 GiB are not truncated to 32 bits', () => {
  // Applying x^(8n) twice for half the length must equal applying it once for the whole.
  const half = 3 * 2 ** 31;
  const zeros = crc32(Buffer.alloc(0));
  const start = crc32(Buffer.from('bindery'));
  expect(crc32Combine(start, zeros, 2 * half)).toBe(crc32Combine(crc32Combine(start, zeros, half), zeros, half));
  expect(crc32Combine(start, zeros, 2 ** 32 + 5)).not.toBe(crc32Combine(start, zeros, 5));
});

test('a length that is not a number of bytes is refused', () => {
  expect(() => crc32Combine(1, 2, -1)).toThrow('whole number of bytes');
  expect(() => crc32Combine(1, 2, 0.5)).toThrow(RangeError);
});
