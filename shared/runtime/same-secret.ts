import { timingSafeEqual } from 'node:crypto';

/** Compares a shown secret with the expected one. The time that it takes does not reveal where they differ. */
export function isSameSecret(shown: string, expected: string): boolean {
  const [one, other] = [Buffer.from(shown), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
