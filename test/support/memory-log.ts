import type { Commit } from '#shared/contracts/commit.ts';
import type { Delivery, DurableReader } from '#shared/messaging/queue/durable-reader.ts';
import type { Poison } from '#shared/runtime/failures.ts';
import { ConcurrentAppend, type EventLog, type StoredCommit } from '#shared/messaging/log/event-log.ts';
import { subjectMatches } from '#shared/messaging/subjects/subject-names.ts';

export type MemoryLog<C extends Commit> = EventLog<C> & {
  /** All commits of all subjects, oldest first. */
  stored: StoredCommit<C>[];
  onAppend(listener: (stored: StoredCommit<C>) => void): void;
};

/** An event log in one process that keeps the guarantees of its port, for tests of the decisions of services. `gate` rejects while the bus is down. */
export function memoryLog<C extends Commit>(gate: () => Promise<void>): MemoryLog<C> {
  const stored: StoredCommit<C>[] = [];
  let newest = 0;
  const listeners: ((entry: StoredCommit<C>) => void)[] = [];
  /** Index of the entries by subject. Without it, scanning all entries would dominate a benchmark. */
  const bySubject = new Map<string, StoredCommit<C>[]>();
  const ofSubject = (subject: string): readonly StoredCommit<C>[] => bySubject.get(subject) ?? [];
  return {
    stored,
    onAppend: (listener) => listeners.push(listener),
    append: async (commit, after) => {
      await gate();
      const next = ofSubject(commit.subject).find((entry) => entry.sequence > after.sequence);
      if (next?.commit.id === commit.id) return structuredClone(next);
      const lastSequence = ofSubject(commit.subject).at(-1)?.sequence ?? 0;
      if (next !== undefined || lastSequence !== after.sequence) throw new ConcurrentAppend(commit.subject);
      // Messages pass through JSON, as over the wire, so undefined members are lost.
      const entry = { commit: JSON.parse(JSON.stringify(commit)) as C, sequence: (newest += 1) };
      stored.push(entry);
      bySubject.set(commit.subject, [...ofSubject(commit.subject), entry]);
      for (const listener of listeners) listener(structuredClone(entry));
      return structuredClone(entry);
    },
    last: async (subject) => {
      await gate();
      return structuredClone(ofSubject(subject).at(-1));
    },
    at: async (subject, sequence) => {
      await gate();
      return structuredClone(ofSubject(subject).find((entry) => entry.sequence === sequence));
    },
    history: async function* (subject) {
      await gate();
      yield* ofSubject(subject).map((entry) => structuredClone(entry));
    },
    newestSequence: async () => {
      await gate();
      return stored.at(-1)?.sequence ?? 0;
    },
    after: async function* (filter, sequence) {
      await gate();
      const later = stored.filter((entry) => entry.sequence > sequence && subjectMatches(filter, entry.commit.subject));
      yield* later.map((entry) => structuredClone(entry));
    },
    storedBefore: async function* (time) {
      for (let sequence = 0; ; ) {
        await gate();
        const next = stored.find((entry) => entry.sequence > sequence);
        if (next === undefined || new Date(next.commit.time) >= time) return;
        yield next.commit.subject;
        ({ sequence } = next);
      }
    },
    texts: async (subject) => {
      await gate();
      return ofSubject(subject).map(({ commit, sequence }) => ({ subject, sequence, text: JSON.stringify(commit) }));
    },
    purge: async (filter, upTo) => {
      await gate();
      const kept = stored.filter(
        (entry) => !subjectMatches(filter, entry.commit.subject) || entry.sequence > upTo.sequence,
      );
      stored.splice(0, stored.length, ...kept);
      bySubject.clear();
      for (const [subject, entries] of Map.groupBy(kept, ({ commit }) => commit.subject))
        bySubject.set(subject, entries);
    },
    subjects: async (filter) => {
      await gate();
      const subjects = new Set(stored.map((entry) => entry.commit.subject));
      return [...subjects].filter((subject) => subjectMatches(filter, subject));
    },
  };
}

type Pushed<T> = { subject: string; sequence: number; value: T | undefined; problem?: Poison };

type Message<T> = Pushed<T> & { deliveryCount: number };

export type MemoryReader<T> = DurableReader<T> & {
  /** While true, pushed messages are dropped, as if they had not been delivered yet. */
  hold: boolean;
  push(message: Pushed<T>): void;
  /** Resolves when no message is queued or in flight. */
  idle(): Promise<void>;
};

/** A durable reader in one process. A message that is returned with `nak` is redelivered at once, without its delay. */
export function memoryReader<T>(): MemoryReader<T> {
  const waiting: Message<T>[] = [];
  const all: Message<T>[] = [];
  let inHand = 0;
  let done = 0;
  let wake: (() => void)[] = [];
  let idleListeners: (() => void)[] = [];

  const changed = () => {
    for (const resolve of wake.splice(0)) resolve();
    if (waiting.length > 0 || inHand > 0) return;
    for (const resolve of idleListeners.splice(0)) resolve();
  };

  const deliver = (message: Message<T>): Delivery<T> => {
    let settled = false;
    const settle = (again: boolean) => {
      if (settled) return;
      settled = true;
      inHand -= 1;
      if (again) waiting.push({ ...message, deliveryCount: message.deliveryCount + 1 });
      else done = Math.max(done, message.sequence);
      changed();
    };
    return {
      ...message,
      value: structuredClone(message.value),
      problem: message.problem,
      pendingCount: waiting.length,
      traceparent: undefined,
      ack: async () => settle(false),
      working: () => {},
      nak: () => settle(true),
      terminate: () => settle(false),
    };
  };

  const reader: MemoryReader<T> = {
    hold: false,
    push: (message) => {
      if (reader.hold) return;
      waiting.push({ ...message, deliveryCount: 1 });
      all.push({ ...message, deliveryCount: 2 });
      changed();
    },
    next: async ({ expiresMs = 30_000, signal } = {}) => {
      const stop = () => changed();
      let expired = false;
      const timer = setTimeout(() => {
        expired = true;
        stop();
      }, expiresMs);
      const isOver = () => expired || signal?.aborted === true;
      signal?.addEventListener('abort', stop);
      try {
        while (waiting.length === 0 && !isOver()) await new Promise<void>((resolve) => wake.push(resolve));
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
      }
      const message = signal?.aborted ? undefined : waiting.shift();
      if (message === undefined) return undefined;
      inHand += 1;
      return deliver(message);
    },
    more: async (count) => {
      const messages = waiting.splice(0, count);
      inHand += messages.length;
      return messages.map(deliver);
    },
    async *reread(subject, fromSequence) {
      for (const message of all) {
        if (message.subject !== subject || message.sequence < fromSequence) continue;
        inHand += 1;
        const delivery = deliver(message);
        await delivery.ack();
        yield delivery;
      }
    },
    position: async () => ({ doneUpTo: done, leftCount: waiting.length + inHand }),
    idle: async () => {
      if (waiting.length === 0 && inHand === 0) return;
      await new Promise<void>((resolve) => idleListeners.push(resolve));
    },
  };
  return reader;
}
