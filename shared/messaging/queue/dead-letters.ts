import { setTimeout as delay } from 'node:timers/promises';
import { type DeadLetter, deadLetterKey, type DeadLetterRecord } from '#shared/contracts/dead-letters.ts';
import { Conflict, messageOf, NewerMessage, Poison, Unavailable } from '#shared/runtime/failures.ts';
import { everySecond, retryUnavailable, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import type { Delivery, DurableReader } from './durable-reader.ts';
import { type DocumentStore, keepFollowing } from '#shared/messaging/read-models.ts';

/** Audit log of dead letters (400 days). */
export type DeadLetterLog = { record(record: DeadLetterRecord): Promise<void> };

/** A service that reads a stream, and its handling of messages that fail. */
export type Consumer = {
  service: string;
  stream: string;
  deadLetterLog: DeadLetterLog;
  /** The bucket for dead letters of a log. Absent for a work queue, whose lost tasks are redispatched. */
  deadLetters?: DocumentStore<DeadLetter>;
  /** True if later messages of a subject wait for one that was set aside. */
  isOrdered?: boolean;
  logger: Logger;
  /** Backoff before a message is redelivered. */
  retry: RetryPolicy;
  /**
   * Number of deliveries after which a message becomes a dead letter, for any reason except `Unavailable`. If absent, only poison messages
   * do.
   */
  mostDeliveries?: number;
  /**
   * Interval in which messages that were set aside are handled again, for a reader whose messages may fail for a temporary reason, such as stored
   * files that are missing until they are restored. If absent, operators decide.
   */
  againEveryMs?: number;
  /** Called at the first delivery of a task that is left to a worker of a newer version. */
  onLeft?: () => void;
};

/** The dead letters of one reader, and the decisions of operators about them. */
export type DeadLetterQueue = {
  consumer: Consumer;
  /** Resolves once the stored dead letters are known, even if the bus is unavailable for long, or when the queue closes. */
  ready: Promise<void>;
  /** Stores a message as a dead letter. Resolves when it is stored. */
  put(message: Pick<Delivery<unknown>, 'subject' | 'sequence'>, error: unknown): Promise<void>;
  /** True if the message waits because of a dead letter of its subject. */
  isBehind(message: Pick<Delivery<unknown>, 'subject' | 'sequence'>): boolean;
  /** True if an earlier message of its subject was dropped, so that the message follows a hole. */
  hasHole(message: Pick<Delivery<unknown>, 'subject' | 'sequence'>): boolean;
  /**
   * Carries out one decision, or retries one message that waited for an upgrade. Returns false when there is neither. `again` handles the message of
   * a letter and those after it, or only those after it. It rejects when the message of the letter fails once more.
   */
  settleOne(again: (letter: DeadLetter, from: 'it' | 'after-it') => Promise<void>): Promise<boolean>;
  /** Resolves when there may be a letter to settle, when `signal` aborts, or when the queue closes. */
  changed(signal: AbortSignal): Promise<void>;
};

const tryAgainAfterMs = 1_000;

/**
 * Opens the queue of a reader until `signal` aborts. Each decision is carried out by one process and at least once: the next process that
 * opens the queue repeats what a dead process had begun.
 */
export function openDeadLetterQueue(consumer: Consumer, signal: AbortSignal): DeadLetterQueue {
  const { service, stream, deadLetters, deadLetterLog, logger, isOrdered = false, againEveryMs } = consumer;
  const instance = randomBase62(8);
  const letters = lettersBySubject();
  const todo = new Map<string, { letter: DeadLetter; revision: number }>();
  const opened = Promise.withResolvers<void>();
  const closed = () => opened.resolve();
  signal.addEventListener('abort', closed, { once: true });
  let wake = () => {};

  async function follow(store: DocumentStore<DeadLetter>): Promise<void> {
    letters.clear();
    todo.clear();
    for await (const change of store.watch(deadLetterKey(service, stream, 0).replace(/0$/, '>'), signal)) {
      if (change.kind === 'caught-up') {
        opened.resolve();
        continue;
      }
      // `todo` may have a newer revision of the letter, read from the bucket before this change arrived.
      if (change.revision <= (todo.get(change.key)?.revision ?? 0)) continue;
      todo.delete(change.key);
      if (change.kind !== 'put') {
        if (change.kind === 'unreadable') logger.error({ problem: change.problem }, 'a dead letter cannot be read');
        letters.remove(change.key);
        continue;
      }
      const letter = change.document;
      letters.keep(change.key, letter);
      if (!isDue(letter, change.initial)) continue;
      todo.set(change.key, { letter, revision: change.revision });
      wake();
    }
  }
  const unfollowed = (error: unknown) => {
    if (!signal.aborted) logger.warn({ err: error, stream }, 'the dead letters cannot be followed; trying again');
  };
  if (deadLetters === undefined || signal.aborted) opened.resolve();
  else void keepFollowing(() => follow(deadLetters), unfollowed, signal);
  if (deadLetters !== undefined && againEveryMs !== undefined) void tryAgain(deadLetters, againEveryMs);

  /** Retries letters without a decision once in each interval, until the queue closes. */
  async function tryAgain(store: DocumentStore<DeadLetter>, everyMs: number): Promise<void> {
    /** Revisions of letters that another process had taken: if one has not changed in an interval, that process died. */
    const takenBefore = new Map<string, number>();
    while (await delay(everyMs, true, { signal, ref: false }).catch(() => false)) {
      for (const key of letters.keysOf('aside')) {
        if (todo.has(key)) continue;
        const stored = await store.get(key, { fromLeader: true }).catch(() => undefined);
        if (stored?.document.state !== 'aside') continue;
        const isTaken = stored.document.takenBy !== undefined && takenBefore.get(key) !== stored.revision;
        takenBefore.set(key, stored.revision);
        if (isTaken) continue;
        todo.set(key, { letter: stored.document, revision: stored.revision });
        wake();
      }
    }
  }

  const isAfter = (
    state: DeadLetter['state'],
    { subject, sequence }: Pick<Delivery<unknown>, 'subject' | 'sequence'>,
  ) => letters.of(subject).some((letter) => letter.state === state && letter.sequence < sequence);

  /** The audit record is written first, so every change in the bucket has been recorded. */
  async function settle(
    { letter, revision }: { letter: DeadLetter; revision: number },
    outcome: DeadLetterRecord['outcome'],
    reason: string,
  ): Promise<void> {
    if (deadLetters === undefined) return;
    const { decision, takenBy: _, ...rest } = letter;
    const key = deadLetterKey(service, stream, letter.sequence);
    const done = decision === undefined ? {} : { decision };
    if (outcome !== 'failed-again' || decision !== undefined) {
      await deadLetterLog.record({ ...recordOf(letter), reason, outcome, at: new Date().toISOString(), ...done });
    }
    if (outcome === 'retried') {
      await deadLetters.remove(key);
      letters.remove(key);
      return;
    }
    const { decision: _decision, ...open } = rest as DeadLetter;
    const next: DeadLetter =
      outcome === 'dropped'
        ? { ...open, ...done, state: 'dropped' }
        : { ...open, reason, ...(decision === undefined ? {} : { failed: { ...decision, reason } }) };
    await deadLetters.put(key, next, { expectedRevision: revision });
    letters.keep(key, next);
  }

  return {
    consumer,
    ready: opened.promise,
    isBehind: (message) => isOrdered && isAfter('aside', message),
    hasHole: (message) => isAfter('dropped', message),

    async put({ subject, sequence }, error) {
      if (deadLetters === undefined) return;
      const key = deadLetterKey(service, stream, sequence);
      const known = await deadLetters.get(key, { fromLeader: true });
      // The message is redelivered when its acknowledgement did not reach the bus, and it also comes to the reader of the other generation.
      // A letter with another subject belongs to a message that the log has lost: the server reused its sequence.
      if (known?.document.subject === subject) return;
      const now = new Date().toISOString();
      const letter: DeadLetter = {
        ...{ service, stream, subject, sequence, isOrdered },
        state: 'aside',
        cause: error instanceof NewerMessage ? 'newer' : 'poison',
        reason: messageOf(error),
        setAsideAt: now,
      };
      await deadLetterLog.record({ ...recordOf(letter), outcome: 'set-aside', at: now });
      await deadLetters.put(key, letter, { expectedRevision: known?.revision ?? 0 });
      letters.keep(key, letter);
    },

    async settleOne(again) {
      const [first] = todo;
      if (first === undefined || deadLetters === undefined) return false;
      const [key, { letter }] = first;
      try {
        const taken = { ...letter, takenBy: instance };
        const revision = await deadLetters.put(key, taken, { expectedRevision: first[1].revision });
        todo.delete(key);
        // Another process took it, or the operator changed it, which arrives as a change.
        if (revision === undefined) return true;
        await carryOut({ letter: taken, revision }, again);
      } catch (error) {
        if (signal.aborted) return false;
        logger.warn({ err: error, letter: key }, 'a dead letter cannot be settled yet; trying again');
        await delay(tryAgainAfterMs, undefined, { signal }).catch(() => {});
        // The read is retried without a limit, because no other process settles a letter that this queue has taken.
        const stored = await retryUnavailable(everySecond, signal, () =>
          deadLetters.get(key, { fromLeader: true }),
        ).catch(() => undefined);
        if (stored !== undefined) todo.set(key, { letter: stored.document, revision: stored.revision });
      }
      return true;
    },

    changed(until) {
      if (todo.size > 0 || until.aborted || signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const end = () => {
          for (const each of [until, signal]) each.removeEventListener('abort', end);
          resolve();
        };
        wake = end;
        for (const each of [until, signal]) each.addEventListener('abort', end, { once: true });
      });
    },
  };

  async function carryOut(
    taken: { letter: DeadLetter; revision: number },
    again: (letter: DeadLetter, from: 'it' | 'after-it') => Promise<void>,
  ): Promise<void> {
    const { letter } = taken;
    const key = deadLetterKey(service, stream, letter.sequence);
    const isDropped = letter.decision?.action === 'drop';
    try {
      await again(letter, isDropped ? 'after-it' : 'it');
    } catch (error) {
      if (signal.aborted || error instanceof Unavailable || error instanceof Conflict) throw error;
      await settle(taken, 'failed-again', messageOf(error));
      if (letter.decision !== undefined) logger.error({ err: error, letter: key }, 'a dead letter failed again');
      return;
    }
    if (isDropped) {
      await settle(taken, 'dropped', letter.reason);
      logger.warn({ letter: key, decision: letter.decision }, 'a dead letter was dropped');
      return;
    }
    await settle(taken, 'retried', letter.reason);
    logger.info({ letter: key, decision: letter.decision }, 'a dead letter was handled after all');
  }
}

/** Letters by their keys, indexed by subject: each message causes a lookup, which must not scan the letters of other subjects. */
function lettersBySubject() {
  const subjects = new Map<string, string>();
  const bySubject = new Map<string, Map<string, DeadLetter>>();
  const remove = (key: string): void => {
    const subject = subjects.get(key) ?? '';
    subjects.delete(key);
    const others = bySubject.get(subject);
    others?.delete(key);
    if (others?.size === 0) bySubject.delete(subject);
  };
  return {
    remove,
    clear(): void {
      subjects.clear();
      bySubject.clear();
    },
    keep(key: string, letter: DeadLetter): void {
      remove(key);
      subjects.set(key, letter.subject);
      bySubject.set(letter.subject, (bySubject.get(letter.subject) ?? new Map<string, DeadLetter>()).set(key, letter));
    },
    keysOf: (state: DeadLetter['state']): string[] =>
      [...bySubject.values()].flatMap((keys) =>
        [...keys].filter(([, letter]) => letter.state === state).map(([key]) => key),
      ),
    of: (subject: string): DeadLetter[] => [...(bySubject.get(subject)?.values() ?? [])],
  };
}

/** Settles letters as operators decide, until `signal` aborts. Never rejects. */
export async function settleLetters(
  queue: DeadLetterQueue,
  again: Parameters<DeadLetterQueue['settleOne']>[0],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) if (!(await queue.settleOne(again))) await queue.changed(signal);
}

/** The message of a letter, read from its stream. Throws `Poison` when the stream no longer has it. */
export async function messageOfLetter<T>(
  reader: Pick<DurableReader<T>, 'reread'>,
  { stream, subject, sequence }: DeadLetter,
): Promise<Delivery<T>> {
  for await (const delivery of reader.reread(subject, sequence)) {
    if (delivery.sequence === sequence) return delivery;
    break;
  }
  throw new Poison(`Message ${sequence} on ${subject} is no longer in ${stream}: it expired or was removed.`);
}

/**
 * True if this process has to settle the letter. A letter that another process has taken is due only if that process died. When this process begins
 * to follow the letters, it assumes that for every taken letter.
 */
function isDue({ state, cause, decision, takenBy }: DeadLetter, isInitial: boolean): boolean {
  if (state !== 'aside') return false;
  return isInitial ? decision !== undefined || cause === 'newer' : decision !== undefined && takenBy === undefined;
}

const recordOf = ({ service, stream, subject, sequence, reason }: DeadLetter) => ({
  ...{ service, stream, subject, sequence, reason },
});
