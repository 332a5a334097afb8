import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { ConversationState } from './thread.ts';
import { newestTurns, type Turn } from './turns.ts';

/** Text that each commit of a thread carries, so that going on costs one read. */
const CARRIED_BYTES = 64 * 1024;
/** Of a longer turn the start is carried, so that a question and its answer always fit. */
const TURN_CHARACTERS = 8_000;

export type ThreadIdentity = { organization: string; domain: string; threadId: string };

/** Who a thread belongs to, without keeping what the client said of itself. */
export function fingerprintHash(hashKey: string, organization: string, domain: string, fingerprint: string): string {
  return createHmac('sha256', hashKey)
    .update(JSON.stringify(['thread', organization, domain, fingerprint]))
    .digest('hex');
}

export const threadKeyHash = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Whether the bearer of this fingerprint, and of this key if one is shown, may go on with the thread. */
export function mayContinue(state: ConversationState, fingerprint: string, threadKey: string | undefined): boolean {
  return sameHex(state.fingerprintHash, fingerprint) && isThreadKey(state, threadKey);
}

/** Readers need not show the key; a wrong one is refused. */
export function isThreadKey(state: ConversationState, threadKey: string | undefined): boolean {
  return threadKey === undefined || sameHex(state.threadKeySha256, threadKeyHash(threadKey));
}

/** The state after one more answered question. `before` is what was said until then, the question included. */
export function threadAfter(
  previous: ConversationState | undefined,
  begin: () => Omit<ConversationState, 'lastTurns' | 'turnCount'>,
  before: readonly Turn[],
  answer: string,
): ConversationState {
  const answered: Turn[] = answer === '' ? [...before] : [...before, { role: 'assistant', text: answer }];
  const bounded = answered.map(({ role, text }) => ({ role, text: text.slice(0, TURN_CHARACTERS) }));
  return {
    ...(previous ?? begin()),
    turnCount: (previous?.turnCount ?? 0) + 1,
    lastTurns: newestTurns(bounded, CARRIED_BYTES),
  };
}

function sameHex(expected: string, shown: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(shown)];
  return a.length === b.length && timingSafeEqual(a, b);
}
