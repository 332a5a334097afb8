import { setTimeout as delay } from 'node:timers/promises';
import { type DeadLetter, deadLetterKey, type DeadLetterRecord } from '#shared/contracts/dead-letters.ts';
import { Conflict, messageOf, NewerMessage, Poison, Unavailable } from '#shared/runtime/failures.ts';
import { everySecond, retryUnavailable, type RetryPolicy } from '#shared/runtime/retry.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import type { Delivery, DurableReader } from './durable-reader.ts';
import { type DocumentStore, keepFollowing } from './read-models.ts';

/** What happened to dead letters, for auditors (400 days). */
export type DeadLetterLog = { record(record: DeadLetterRecord): Promise<void> };

/** Who reads which stream, and what happens to messages that fail. */
export type Consumer = {
  service: string;
  stream: string;
  deadLetterLog: DeadLetterLog;
  /** Where messages of a log are set aside. Absent for a work queue: what it loses is handed out anew. */
  deadLetters?: DocumentStore<DeadLetter>;
  /** Later messages of a subject wait for one that was set aside. */
  isOrdered?: boolean;
  logger: Logger;
  /** The pauses before a message comes again. */
  retry: RetryPolicy;
  /** After this many deliveries a message becomes a dead letter, whatever the reason but `Unavailable`. Absent: only poison does. */
  mostDeliveries?: number;
};

/** The messages that one reader has set aside, and what operators decide about them. */
export type DeadLetterQueue = {
  consumer: Consumer;
  /** Resolves once it is known what is set aside, however long the bus is away; also when the queue closes. */
  ready: Promise<void>;
  /** Sets a message aside, for good or until it is handled after all. Resolves when that is stored. */
  put(message: Pick<Delivery<unknown>, 'subject' | 'sequence'>, error: unknown): Promise<void>;
  /** Does the message wait behind one of its subject that is set aside? */
  isBehind(message: Pick<Delivery<unknown>, 'subject' | 'sequence'>): boolean;
  /** Was an earlier message of its subject dropped? Then it follows on a hole. */
  hasHole(message: Pick<Delivery<unknown>, 'subject' | 'sequence'>): boolean;
  /**
   * Carries out one decision, or tries one message again that waited for an upgrade; false when there is none. `again` handles the message
   * of a letter and those that waited behind it, or those behind it alone. It rejects when the message itself fails once more.
   */
  settleOne(again: (letter: DeadLetter, from: 'it' | 'after-it') => Promise<void>): Promise<boolean>;
  /** Resolves when there may be something to settle, when `signal` aborts, or when the queue closes. */
  changed(signal: AbortSignal): Promise<void>;
};

const tryAgainAfterMs = 1_000;

/**
 * Opens the queue of a reader until `signal` aborts. A decision is done by one process and at least once: what a dead process began, the next
 * one that opens the queue begins again.
 */
export function openDeadLetterQueue(consumer: Consumer, signal: AbortSignal): DeadLetterQueue {
  const { service, stream, deadLetters, deadLetterLog, logger, isOrdered = false } = consumer;
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
      // What is about to be settled may be known from the bucket before it comes here.
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
    if (!signal.aborted) logger.warn({ err: error, stream }, 'the dead letters cannot be followed; it is tried again');
  };
  if (deadLetters === undefined || signal.aborted) opened.resolve();
  else void keepFollowing(() => follow(deadLetters), unfollowed, signal);

  const isAfter = (
    state: DeadLetter['state'],
    { subject, sequence }: Pick<Delivery<unknown>, 'subject' | 'sequence'>,
  ) => letters.of(subject).some((letter) => letter.state === state && letter.sequence < sequence);

  /** The record comes first: what is in the bucket has always been recorded. */
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
      // The message comes again when its end did not reach the bus, and to the reader of another generation. A letter of another subject is
      // about a message that the log has lost: the server gave its sequence out again.
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
        // Another process took it, or the operator changed it, which comes as a change.
        if (revision === undefined) return true;
        await carryOut({ letter: taken, revision }, again);
      } catch (error) {
        if (signal.aborted) return false;
        logger.warn({ err: error, letter: key }, 'a dead letter cannot be settled yet; it is tried again');
        await delay(tryAgainAfterMs, undefined, { signal }).catch(() => {});
        // However long the bus is away: nobody else settles what this queue has taken.
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

/** Letters by their keys. A question about one subject looks at no letter of another: it is asked with each message. */
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

/** The message of a letter, as its stream has it. Throws `Poison` when it is not there any more. */
export async function messageOfLetter<T>(
  reader: Pick<DurableReader<T>, 'reread'>,
  { stream, subject, sequence }: DeadLetter,
): Promise<Delivery<T>> {
  for await (const delivery of reader.reread(subject, sequence)) {
    if (delivery.sequence === sequence) return delivery;
    break;
  }
  throw new Poison(
    `Message ${sequence} on ${subject} is not in ${stream} any more: its time was over, or it was removed.`,
  );
}

/** One that somebody took is theirs, unless they died: then it is due for whoever begins to follow. */
function isDue({ state, cause, decision, takenBy }: DeadLetter, isInitial: boolean): boolean {
  if (state !== 'aside') return false;
  return isInitial ? decision !== undefined || cause === 'newer' : decision !== undefined && takenBy === undefined;
}

const recordOf = ({ service, stream, subject, sequence, reason }: DeadLetter) => ({
  ...{ service, stream, subject, sequence, reason },
});
