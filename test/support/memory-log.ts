import type { Commit } from '#shared/contracts/commit.ts';
import { ConcurrentAppend } from '#shared/event-log/concurrent-append.ts';
import type { EventLog, StoredCommit } from '#shared/event-log/event-log.ts';

export type MemoryLog<C extends Commit> = EventLog<C> & {
  /** All commits of all subjects, oldest first. */
  stored: StoredCommit<C>[];
  onAppend(listener: (stored: StoredCommit<C>) => void): void;
};

/** An event log that keeps the promises of its port in one process; for tests of what services decide. `gate` rejects while the bus is away. */
export function memoryLog<C extends Commit>(gate: () => Promise<void>): MemoryLog<C> {
  const stored: StoredCommit<C>[] = [];
  let newest = 0;
  const listeners: ((entry: StoredCommit<C>) => void)[] = [];
  const ofSubject = (subject: string) => stored.filter((entry) => entry.commit.subject === subject);
  return {
    stored,
    onAppend: (listener) => listeners.push(listener),
    append: async (commit, after) => {
      await gate();
      const next = ofSubject(commit.subject).find((entry) => entry.sequence > after.sequence);
      if (next?.commit.id === commit.id) return structuredClone(next);
      const lastSequence = ofSubject(commit.subject).at(-1)?.sequence ?? 0;
      if (next !== undefined || lastSequence !== after.sequence) throw new ConcurrentAppend(commit.subject);
      // Through JSON, as over the wire: what is undefined does not arrive.
      const entry = { commit: JSON.parse(JSON.stringify(commit)) as C, sequence: (newest += 1) };
      stored.push(entry);
      for (const listener of listeners) listener(structuredClone(entry));
      return structuredClone(entry);
    },
    last: async (subject) => {
      await gate();
      return structuredClone(ofSubject(subject).at(-1));
    },
    history: async function* (subject) {
      await gate();
      yield* ofSubject(subject).map((entry) => structuredClone(entry));
    },
    texts: async (subject) => {
      await gate();
      return ofSubject(subject).map(({ commit, sequence }) => ({ subject, sequence, text: JSON.stringify(commit) }));
    },
    purge: async (subject, upTo) => {
      await gate();
      const kept = stored.filter((entry) => entry.commit.subject !== subject || entry.sequence > upTo.sequence);
      stored.splice(0, stored.length, ...kept);
    },
    subjects: async (filter) => {
      await gate();
      const pattern = new RegExp(`^${filter.replaceAll('.', '\\.').replaceAll('*', '[^.]+')}$`);
      return [...new Set(stored.map((entry) => entry.commit.subject))].filter((subject) => pattern.test(subject));
    },
  };
}
