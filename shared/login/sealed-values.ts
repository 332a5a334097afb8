import { createHash, hkdfSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { EncryptJWT, jwtDecrypt } from 'jose';
import { LRUCache } from 'lru-cache';

/** A cache of opened values until they expire, because a page requests a dozen files. Sealers may share one. */
export const openedValues = (max = 10_000): LRUCache<string, Record<string, string>> => new LRUCache({ max });

/**
 * Encrypts values that a browser stores for us (JWE, A256GCM), each with an expiry. A value that is sealed for one purpose opens for no other.
 */
export function sealer<T extends Record<string, string>>(secret: string, purpose: string, opened = openedValues()) {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', `bindery ${purpose}`, 32));
  const prefix = `${createHash('sha256').update(key).digest('base64url')} `;

  return {
    seal: (value: T, seconds: number): Promise<string> =>
      new EncryptJWT(value)
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setExpirationTime(new Date(Date.now() + seconds * 1_000))
        .encrypt(key),
    /** The value, if it is in the cache and has not expired. */
    known: (sealed: string | undefined): T | undefined =>
      sealed === undefined ? undefined : (opened.get(prefix + sealed) as T | undefined),
    /** The value of a request's cookie. */
    async shown(request: Pick<IncomingMessage, 'headers'>, cookie: string): Promise<T | undefined> {
      return await this.open(cookieIn(request, cookie) ?? '');
    },
    /** Undefined if the value was not sealed here for this purpose, or has expired. */
    async open(sealed: string): Promise<T | undefined> {
      try {
        const { payload } = await jwtDecrypt(sealed, key, {
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
          requiredClaims: ['exp'],
        });
        const { exp = 0, ...value } = payload;
        opened.set(prefix + sealed, value as T, { ttl: Math.max(1, exp * 1_000 - Date.now()) });
        return value as T;
      } catch {
        return undefined;
      }
    },
  };
}

export type Sealer<T extends Record<string, string>> = ReturnType<typeof sealer<T>>;

/** The value of a request's cookie; undefined if there is none, or more than one of the name. */
export function cookieIn({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | undefined {
  const values = (headers.cookie ?? '').split(';').flatMap((part) => {
    const [found = '', ...value] = part.trim().split('=');
    return found === name ? [value.join('=')] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}
