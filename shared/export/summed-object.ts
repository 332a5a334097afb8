import { crc32 } from 'node:zlib';
import type { z } from 'zod';
import { jsonIn } from '#shared/runtime/canonical-json.ts';

/*
 * Objects that are kept to save work, and made again when they are damaged. They have two lines and bytes: a checksum over the key and the rest, facts
 * as JSON, and the bytes.
 */

/** The bytes of such an object. Pure. */
export function summedObject(key: string, facts: object, bytes: readonly Uint8Array[]): Buffer {
  const rest = Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), ...bytes]);
  return Buffer.concat([Buffer.from(sumLine(key, rest)), rest]);
}

/** The facts and bytes of an object; undefined if it is damaged or that of another key. The bytes share the memory of `stored`. Pure. */
export function readSummedObject<T>(
  key: string,
  stored: Uint8Array,
  facts: z.ZodType<T>,
): { facts: T; bytes: Buffer } | undefined {
  const all = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  const rest = all.subarray(sumDigits + 1);
  if (all.subarray(0, sumDigits + 1).toString('latin1') !== sumLine(key, rest)) return undefined;
  const end = rest.indexOf('\n');
  const read = facts.safeParse(jsonIn(rest.subarray(0, Math.max(0, end)).toString()));
  return read.success ? { facts: read.data, bytes: rest.subarray(end + 1) } : undefined;
}

const sumDigits = 8;
const sumLine = (key: string, rest: Uint8Array): string =>
  `${crc32(rest, crc32(key)).toString(16).padStart(sumDigits, '0')}\n`;
