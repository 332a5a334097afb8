import { expect, test } from 'vitest';
import { z } from 'zod';
import { readSummedObject, summedObject } from './summed-object.ts';

const facts = z.object({ sizes: z.array(z.int()) });
const bytes = Buffer.from([0, 10, 255, 10]);
const stored = summedObject('parts/one', { sizes: [1, 3] }, [bytes.subarray(0, 1), bytes.subarray(1)]);

test('an object has a line with its checksum, a line with its facts, and its bytes', () => {
  expect(stored.toString('latin1')).toMatch(/^[0-9a-f]{8}\n\{"sizes":\[1,3\]\}\n\x00\n\xff\n$/);
  expect(readSummedObject('parts/one', stored, facts)).toEqual({ facts: { sizes: [1, 3] }, bytes });
});

test('an object with another byte, of another key, cut or with other facts is not read', () => {
  for (let at = 0; at < stored.length; at += 1) {
    const damaged = Buffer.from(stored);
    damaged.writeUInt8((damaged[at] ?? 0) ^ 1, at);
    expect(readSummedObject('parts/one', damaged, facts)).toBeUndefined();
    expect(readSummedObject('parts/one', stored.subarray(0, at), facts)).toBeUndefined();
  }
  expect(readSummedObject('parts/two', stored, facts)).toBeUndefined();
  expect(readSummedObject('parts/one', stored, z.object({ version: z.literal(1) }))).toBeUndefined();
});
