import { createHmac, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { LRUCache } from 'lru-cache';
import { isPassword } from '#shared/http/password-hash.ts';
import { memoryRateLimiter } from '#shared/http/rate-limit-memory.ts';
import type { RateLimit, RateLimiter } from '#shared/http/rate-limit.ts';
import { takeTurns } from '#shared/runtime/take-turns.ts';
import type { Proof } from './basic-gate.ts';
import { readerShares } from './reader-shares.ts';

/** Wrong passwords of one address at one site. */
const wrongPasswords: RateLimit = { name: 'wrong-passwords', requests: 20, windowSeconds: 600 };
/** Limits of checks that run or wait. Each takes a core for about 0.1 s, and sites take turns, so a check waits for one of each other site at most. */
const checksOfAddresses = { mostOfAll: 1_000, mostOfOne: 2 };
const checksOfSites = { mostOfAll: 1_000, mostOfOne: 16 };
/** Size of the cache of correct credentials. Programs send them with each request. */
const mostProven = 10_000;
const provenForMs = 600_000;
/** Hash that is checked for an unknown name. Even a password that matches it is refused. */
const ofNobody = `scrypt:15:8:1:${'A'.repeat(22)}:${'A'.repeat(43)}`;

/** A name and a password as a reader sent them to a site, and the hash that the password should have; undefined for an unknown name. */
export type Credentials = { site: string; address: string; name: string; password: string; hash: string | undefined };

/**
 * Checks passwords of readers of many sites against hashes that take time, in threads of Node. Half of the cores at most are used, the queue is
 * bounded for each address and site, sites take turns, and an address that sent too many wrong passwords to a site waits, so that a flood of guesses leaves other readers alone.
 */
export function passwordChecks(
  check: typeof isPassword = isPassword,
  limiter: RateLimiter = memoryRateLimiter(),
  atOnce = Math.max(1, Math.floor(availableParallelism() / 2)),
) {
  const proven = new LRUCache<string, true>({ max: mostProven, ttl: provenForMs });
  const secret = randomBytes(32);
  /** Checks that run or wait. A browser may send the same credentials with several requests at once. */
  const underWay = new Map<string, Promise<Proof>>();
  const ofAddresses = readerShares(checksOfAddresses);
  const ofSites = readerShares(checksOfSites);
  const inTurn = takeTurns(atOnce);

  async function prove({ site, address, password, hash }: Credentials, id: string): Promise<Proof> {
    const counted = `${site} ${address}`;
    const { allowed, resetSeconds: seconds } = await limiter.spend(wrongPasswords, counted, 0);
    if (!allowed) return { kind: 'limited', seconds };
    if (ofAddresses.take(address, 1) !== undefined) return { kind: 'busy' };
    try {
      if (ofSites.take(site, 1) !== undefined) return { kind: 'busy' };
      try {
        const isRight = await inTurn(site, () => check(password, hash ?? ofNobody));
        if (isRight && hash !== undefined) {
          proven.set(id, true);
          return { kind: 'right' };
        }
        await limiter.spend(wrongPasswords, counted, 1);
        return { kind: 'wrong' };
      } finally {
        ofSites.giveBack(site, 1);
      }
    } finally {
      ofAddresses.giveBack(address, 1);
    }
  }

  return {
    prove(credentials: Credentials): Proof | Promise<Proof> {
      const { site, address, name, password, hash = '' } = credentials;
      const id = createHmac('sha256', secret)
        .update(JSON.stringify([site, name, hash, password]))
        .digest('base64');
      if (proven.get(id) === true) return { kind: 'right' };
      const key = `${address} ${id}`;
      const known = underWay.get(key);
      if (known !== undefined) return known;
      const proof = prove(credentials, id).finally(() => underWay.delete(key));
      underWay.set(key, proof);
      return proof;
    },
  };
}

export type PasswordChecks = ReturnType<typeof passwordChecks>;
