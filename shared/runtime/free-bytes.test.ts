import { expect, test } from 'vitest';
import { freeBytes } from './free-bytes.ts';

test('large bytes are freed at once', () => {
  const bytes = Buffer.alloc(1024 * 1024);
  const part = bytes.subarray(10, 20);
  freeBytes(bytes);
  expect([bytes.length, part.length]).toEqual([0, 0]);
});

test('bytes that share the memory of others are not freed', () => {
  const [own, part] = [Buffer.from('small'), Buffer.alloc(1024 * 1024).subarray(1)];
  freeBytes(own);
  freeBytes(part);
  expect([own.toString(), part.length]).toEqual(['small', 1024 * 1024 - 1]);
});
