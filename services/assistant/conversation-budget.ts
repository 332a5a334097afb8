import { setTimeout as delay } from 'node:timers/promises';
import type { ThreadCommit, ThreadEvent } from '#shared/aggregates/thread/thread.ts';
import { conversationsKeptDays } from '#shared/contracts/insights.ts';
import type { ConversationSizes } from '#shared/contracts/read-models.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { EventLog } from '#shared/messaging/event-log.ts';
import { madeAnew } from '#shared/messaging/made-anew.ts';
import type { DocumentStore } from '#shared/messaging/read-models.ts';
import { threadSubject } from '#shared/messaging/subjects/subject-names.ts';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import { type Clock, dayMs } from '#shared/runtime/time-and-ids.ts';

/** The log of threads, which stores no more of an organization than its budget. */
export type BudgetedThreads = EventLog<ThreadCommit> & {
  /** Throws `rate_limited` when the organization's conversations of this day take its whole budget. */
  checkBudget(organization: string): Promise<void>;
};

type Budget = {
  /** What the conversations of one organization may take, in bytes. */
  budgetBytes: number;
  clock: Clock;
  /** Hears what could not be counted; the commit is stored all the same. */
  onUncounted?: (error: unknown) => void;
};

/** What was stored: its size, and where in the log. */
type Added = { bytes: number; sequence: number };

const mostAttempts = 20;
const conflictPause: RetryPolicy = { firstPauseMs: 2, longestPauseMs: 200 };

/**
 * Keeps one organization from filling the stream for all. What is stored is counted by organization and day, in the bucket
 * `conversation-sizes`: all copies of the service share the count, and it outlives them. When an organization's conversations take more than
 * its budget, its own oldest days are purged. When those of one day alone do, nothing more is stored that day.
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
      `The organization may store ${sizeText(budgetBytes)} of conversations a day, and has. Go on tomorrow (UTC), or ask the operator for more.`,
      { retryAfterSeconds: Math.ceil((dayMs - (now % dayMs)) / 1_000) },
    );
  }

  /** What is counted next, and what is being counted, by organization. */
  const next = new Map<string, { added: Added; done: Promise<void> }>();
  const last = new Map<string, Promise<void>>();

  /**
   * Counts together what is stored while the count before is written. Hundreds of answers at once would else wait for each other, and most would give up.
   * Resolves when this and all before it are counted.
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
      // First, because it can be repeated: what is no longer counted must be gone.
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
      // Where a question was let in, its answer is too; and what is erased makes room.
      const isFree = ({ type }: ThreadEvent) => type === 'QuestionAnswered' || type === 'ThreadErased';
      if (!commit.data.events.every(isFree)) await checkBudget(organization);
      const stored = await log.append(commit, after);
      const added = { bytes: Buffer.byteLength(JSON.stringify(commit)), sequence: stored.sequence };
      const isCounted = count(organization, added).catch(onUncounted);
      // A reader waits for the first word of an answer. When that is stored, its question is counted, too.
      if (!commit.data.events.some(({ type }) => type === 'QuestionAsked')) await isCounted;
      return stored;
    },
  };
}

/** The sizes after one more message, and up to which sequence messages have to go (0: none). Pure. */
function counted(
  before: ConversationSizes | undefined,
  added: { day: string; bytes: number; sequence: number },
  budgetBytes: number,
): { kept: ConversationSizes; purgedUpTo: number } {
  const first = new Date(Date.parse(added.day) - conversationsKeptDays * dayMs).toISOString().slice(0, 10);
  // Older messages have gone by themselves.
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
