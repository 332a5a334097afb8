import { randomBytes } from 'node:crypto';

/** Time as a port, so that decisions and deadlines can be tested without waiting. */
export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** `length` base62 digits of `bytes` read as one big-endian number: the lowest ones, padded with zeros. */
export function base62Of(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`);
  let text = '';
  while (text.length < length) {
    text = `${alphabet[Number(rest % 62n)]}${text}`;
    rest /= 62n;
  }
  return text;
}

/** Gives this many random base62 digits; a digit carries 5.95 bits. */
export type RandomDigits = (length: number) => string;

export function randomBase62(length: number): string {
  // Twice the bits that are kept, so that the remainder's bias is far below one in 2^32.
  return base62Of(randomBytes(length + 16), length);
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
