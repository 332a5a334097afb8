import type { LetterDecision } from '#shared/contracts/dead-letters.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { DeadLetterSettled, LettersDecided } from '#shared/interfaces/http/installation.ts';
import {
  DecidedOtherwise,
  type LetterStores,
  NoSuchLetter,
  NotSettled,
  settleLetter,
} from '#shared/messaging/queue/settle-letter.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { messageOf, Poison } from '#shared/runtime/failures.ts';
import { toDecision } from './read-letters.ts';

/** A service that runs carries a decision out within this time. A page waits no longer. */
const settledWithinMs = 1_200;

/**
 * Stores a decision and waits for a moment until the service of the letter has carried it out. Repeating it changes nothing. Throws `not_found`, and
 * `in_use` if another decision is in progress or the letter cannot be read.
 */
export async function decideLetter(
  stores: LetterStores,
  id: string,
  decision: LetterDecision,
  withinMs = settledWithinMs,
): Promise<DeadLetterSettled> {
  try {
    const settled = await settleLetter(stores, id, decision, withinMs);
    const { outcome, reason, already } = settled;
    return {
      ...{ id, outcome, already },
      ...(settled.decision !== undefined && { decision: toDecision(settled.decision) }),
      ...(reason !== undefined && { reason }),
    };
  } catch (error) {
    if (error instanceof NotSettled)
      return { id, outcome: 'pending', decision: toDecision(error.decision), reason: error.message, already: false };
    if (error instanceof NoSuchLetter) throw new ApiError('not_found', `There is no dead letter "${id}".`);
    if (error instanceof DecidedOtherwise) throw new ApiError('in_use', error.message);
    if (error instanceof Poison) throw new ApiError('in_use', `The letter cannot be changed: ${messageOf(error)}`);
    throw error;
  }
}

const decidedAtOnce = 10;

/** Stores a decision about each of several letters, and waits for all of them together no longer than for one. A letter that cannot be decided about stays. */
export async function decideLetters(
  stores: LetterStores,
  ids: readonly string[],
  decisionOf: () => LetterDecision,
): Promise<LettersDecided> {
  const until = performance.now() + settledWithinMs;
  const decided: LettersDecided = { settled: [], refused: [] };
  await inParallel([...new Set(ids)], decidedAtOnce, async (id) => {
    try {
      const leftMs = Math.max(1, Math.round(until - performance.now()));
      decided.settled.push(await decideLetter(stores, id, decisionOf(), leftMs));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      decided.refused.push({ id, reason: error.message });
    }
  });
  return decided;
}
