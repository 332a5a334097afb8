import { setTimeout as delay } from 'node:timers/promises';
import type { ThreadCommit, ThreadEvent } from '#shared/aggregates/thread/thread.ts';
import { conversationsKeptDays } from '#shared/contracts/insights.ts';
import type { ConversationSizes } from '#shared/interfaces/read-models.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { EventLog } from '#shared/messaging/log/event-log.ts';
import { madeAnew } from '#shared/messaging/made-anew.ts';
import type { DocumentStore } from '#shared/messaging/read-models.ts';
import { threadSubject } from '#shared/messaging/subjects/subject-names.ts';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import { type Clock, dayMs } from '#shared/runtime/time-and-ids.ts';

/** The log of threads, limited to a storage budget for each organization. */
export type BudgetedThreads = EventLog<ThreadCommit> & {
  /** Throws `rate_limited` when the organization's conversations of the current day use up its budget. */
  checkBudget(organization: string): Promise<void>;
};

type Budget = {
  /** Storage budget for the conversations of one organization, in bytes. */
  budgetBytes: number;
  clock: Clock;
  /** Called with the error when a commit could not be counted. The commit is stored nevertheless. */
  onUncounted?: (error: unknown) => void;
};

/** Size of a stored commit and its sequence in the log. */
type Added = { bytes: number; sequence: number };

const mostAttempts = 20;
const conflictPause: RetryPolicy = { firstPauseMs: 2, longestPauseMs: 200 };

/**
 * Keeps one organization from filling the stream for all. Stored bytes are counted by organization and day in the bucket `conversation-sizes`, which
 * all replicas of the service share and which survives them. When an organization's conversations exceed its budget, its oldest days are purged. When
 * one day alone reaches the budget, questions are refused for the rest of that day.
 */
export function budgetedThreads(
  log: EventLog<ThreadCommit>,
  sizes: DocumentStore<ConversationSizes>,
  { budgetBytes, clock, onUncounted = () => {} }: Budget,
): BudgetedThreads {
  const today = () => clock.now().toISOString().slice(0, 10);

  async function checkBudget(organization: string): Promise<void> {
    const { document } = await madeAnew(sizes.get(organization), () => {});
    const bytes = document?.days.find(({ day }) => day === today())?.bytes ?? 0;
    if (bytes < budgetBytes) return;
    const now = clock.now().getTime();
    throw new ApiError(
      'rate_limited',
      `The organization has reached its limit of ${sizeText(budgetBytes)} of conversations a day. Continue tomorrow (UTC), or ask the operator for a higher limit.`,
      { retryAfterSeconds: Math.ceil((dayMs - (now % dayMs)) / 1_000) },
    );
  }

  /** The next batch to count and the count in flight, by organization. */
  const next = new Map<string, { added: Added; done: Promise<void> }>();
  const last = new Map<string, Promise<void>>();

  /**
   * Counts commits in batches: commits that are stored while a count is written are counted together in the next one. Without batches, hundreds of
   * concurrent answers would conflict with each other, and most would give up. Resolves when this commit and all before it are counted.
   */
  function count(organization: string, added: Added): Promise<void> {
    const waiting = next.get(organization);
    if (waiting !== undefined) {
      waiting.added.bytes += added.bytes;
      waiting.added.sequence = Math.max(waiting.added.sequence, added.sequence);
      return waiting.done;
    }
    const write = (): Promise<void> => {
      next.delete(organization);
      return writeCount(organization, added);
    };
    const done = (last.get(organization) ?? Promise.resolve()).then(write, write);
    next.set(organization, { added, done });
    last.set(organization, done);
    const forget = () => last.get(organization) === done && last.delete(organization);
    done.then(forget, forget);
    return done;
  }

  async function writeCount(organization: string, added: Added): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const before = await madeAnew(sizes.get(organization, { fromLeader: true }), onUncounted);
      const { kept, purgedUpTo } = counted(before.document, { day: today(), ...added }, budgetBytes);
      // The purge comes first because it can be repeated: days that are no longer counted must be gone from the log.
      if (purgedUpTo > 0) await log.purge(threadSubject(organization, '*', '*'), { sequence: purgedUpTo });
      const revision = await sizes.put(organization, kept, { expectedRevision: before.revision });
      if (revision !== undefined) return;
      if (attempt === mostAttempts) throw new Error(`The conversations of ${organization} could not be counted.`);
      await delay(pauseAfter(attempt, conflictPause));
    }
  }

  return {
    ...log,
    checkBudget,
    async append(commit, after) {
      const { organization } = commit.data.state;
      // An answer is always stored if its question was, and an erasure frees space, so neither is checked against the budget.
      const isFree = ({ type }: ThreadEvent) => type === 'QuestionAnswered' || type === 'ThreadErased';
      if (!commit.data.events.every(isFree)) await checkBudget(organization);
      const stored = await log.append(commit, after);
      const added = { bytes: Buffer.byteLength(JSON.stringify(commit)), sequence: stored.sequence };
      const isCounted = count(organization, added).catch(onUncounted);
      // A question is stored without waiting for its count, because the reader waits for the first word of the answer. It is counted by the time the
      // answer is stored.
      if (!commit.data.events.some(({ type }) => type === 'QuestionAsked')) await isCounted;
      return stored;
    },
  };
}

/** The sizes after one more message, and the sequence up to which messages must be purged (0: none). Pure. */
function counted(
  before: ConversationSizes | undefined,
  added: { day: string; bytes: number; sequence: number },
  budgetBytes: number,
): { kept: ConversationSizes; purgedUpTo: number } {
  const first = new Date(Date.parse(added.day) - conversationsKeptDays * dayMs).toISOString().slice(0, 10);
  // Messages of older days have expired in the stream.
  const days = (before?.days ?? []).filter(({ day }) => day >= first && day !== added.day);
  const same = before?.days.find(({ day }) => day === added.day);
  days.push({
    day: added.day,
    bytes: (same?.bytes ?? 0) + added.bytes,
    lastSequence: Math.max(same?.lastSequence ?? 0, added.sequence),
  });
  days.sort((a, b) => (a.day < b.day ? -1 : 1));
  let total = days.reduce((sum, { bytes }) => sum + bytes, 0);
  let purgedUpTo = 0;
  while (total > budgetBytes && days.length > 1) {
    const oldest = days.shift();
    total -= oldest?.bytes ?? 0;
    purgedUpTo = Math.max(purgedUpTo, oldest?.lastSequence ?? 0);
  }
  return { kept: { days }, purgedUpTo };
}

const sizeText = (bytes: number): string => (bytes >= 1_000_000 ? `${bytes / 1_000_000} MB` : `${bytes / 1_000} KB`);
