import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/**
 * Hashes of passwords as text: `scrypt:<log2 of N>:<r>:<p>:<salt>:<hash>`, salt and hash in base64url. The costs are in the text, so that they can be
 * raised for new passwords, and within bounds, so that a text from elsewhere cannot ask for much time or memory: at most 128 MB.
 */
export const passwordHash = z
  .string()
  .regex(/^scrypt:1[4-7]:8:[1-3]:[\w-]{22}:[\w-]{43}$/, 'must be the hash of a password as the platform makes it');

/** Minimum length of a password in characters. Attempts are limited per address, and an attacker may have many addresses. */
export const shortestPassword = 12;
export const longestPassword = 200;

/** One check takes about 0.1 s of one core and 32 MB. */
const costs = { log2N: 15, r: 8, p: 1 };
const saltBytes = 16;
const hashBytes = 32;

/** The hash of a new password, with a salt of its own. It is computed in a thread of Node. */
export async function hashOfPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const { log2N, r, p } = costs;
  const hash = await derived(password, salt, costs);
  return ['scrypt', log2N, r, p, salt.toString('base64url'), hash.toString('base64url')].join(':');
}

/** True if a password has this hash. Rejects for a text that is no hash. */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [, log2N, r, p, salt = '', wanted = ''] = passwordHash.parse(hash).split(':');
  const found = await derived(password, Buffer.from(salt, 'base64url'), {
    log2N: Number(log2N),
    r: Number(r),
    p: Number(p),
  });
  return timingSafeEqual(found, Buffer.from(wanted, 'base64url'));
}

/** Memory that scrypt may take beyond its table. */
const roomBytes = 1024 * 1024;

function derived(password: string, salt: Buffer, { log2N, r, p }: typeof costs): Promise<Buffer> {
  const N = 2 ** log2N;
  return new Promise((resolve, reject) => {
    // Normalized, because one letter can be written as one or as two code points.
    scrypt(password.normalize('NFC'), salt, hashBytes, { N, r, p, maxmem: 128 * N * r + roomBytes }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
