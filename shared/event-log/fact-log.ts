import type { Fact } from '#shared/contracts/export-facts.ts';

/**
 * Facts that workers report without deciding. Not guarded: order and repetition do not matter to who folds them.
 * `record` answers when the fact is stored; it retries over reconnects until its deadline, then rejects.
 */
export type FactLog = { record(fact: Fact): Promise<void> };
