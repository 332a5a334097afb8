import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { ThreadState } from './thread.ts';

export type ThreadIdentity = { organization: string; domain: string; threadId: string };

/** Identifies the reader of a thread without storing the fingerprint that the client sent. */
export function fingerprintHash(hashKey: string, organization: string, domain: string, fingerprint: string): string {
  return createHmac('sha256', hashKey)
    .update(JSON.stringify(['thread', organization, domain, fingerprint]))
    .digest('hex');
}

export const threadKeyHash = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Whether the owner of this fingerprint, and of this key if one is sent, may continue the thread. */
export function mayContinue(state: ThreadState, fingerprint: string, threadKey: string | undefined): boolean {
  return sameHex(state.fingerprintHash, fingerprint) && isThreadKey(state, threadKey);
}

/** Readers need not show the key; a wrong one is refused. */
export function isThreadKey(state: ThreadState, threadKey: string | undefined): boolean {
  return threadKey === undefined || sameHex(state.threadKeySha256, threadKeyHash(threadKey));
}

function sameHex(expected: string, shown: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(shown)];
  return a.length === b.length && timingSafeEqual(a, b);
}
