import { randomBytes } from 'node:crypto';

/** Time as a port, so that decisions and deadlines can be tested without waiting. */
export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The lowest `length` base62 digits of a whole number, or of bytes read as one big-endian number, padded with zeros. */
export function base62Of(of: Uint8Array | number, length: number): string {
  if (typeof of === 'number') return base62OfNumber(of, length);
  let rest = BigInt(`0x${Buffer.from(of).toString('hex') || '0'}`);
  let text = '';
  while (text.length < length) {
    text = `${alphabet[Number(rest % 62n)]}${text}`;
    rest /= 62n;
  }
  return text;
}

function base62OfNumber(number: number, length: number): string {
  let rest = number;
  let text = '';
  while (text.length < length) {
    text = `${alphabet[rest % alphabet.length]}${text}`;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}

/** Returns this many random base62 digits. A digit carries 5.95 bits. */
export type RandomDigits = (length: number) => string;

/** Random bytes are drawn from the system in bulk, because a request costs the same for one byte as for thousands. */
const pool = { bytes: Buffer.alloc(0), next: 0 };
const poolBytes = 4_096;

/** Bytes from this value on are skipped, because they would favour some digits. */
const firstUnfair = 256 - (256 % alphabet.length);

/** Random base62 digits from the system's generator, for ids and secrets. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    if (pool.next === pool.bytes.length) Object.assign(pool, { bytes: randomBytes(poolBytes), next: 0 });
    const byte = pool.bytes[pool.next] as number;
    // Bytes that were used must not stay in memory.
    pool.bytes[pool.next] = 0;
    pool.next += 1;
    if (byte < firstUnfair) text += alphabet[byte % alphabet.length];
  }
  return text;
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
