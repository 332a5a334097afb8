import type { ThreadCommit } from '#shared/aggregates/thread/thread.ts';
import type { ConversationSizes } from '#shared/interfaces/read-models.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { ConcurrentAppend, type StoredCommit } from '#shared/messaging/log/event-log.ts';
import { subjectMatches } from '#shared/messaging/subjects/subject-names.ts';

type Stored = StoredCommit<ThreadCommit>;

/**
 * The parts of the bus that the assistant uses, in the memory of this process: conversations end with it. `searched` is the content version to answer
 * from. Only the calls of a conversation are there; those of an organization that reads its conversations are not.
 */
export function localThreads(searched: () => string): BusOf<'assistant'> {
  let commits: Stored[] = [];
  let newest = 0;
  const sizes = new Map<string, { document: ConversationSizes; revision: number }>();
  const of = (subject: string): Stored[] => commits.filter(({ commit }) => commit.subject === subject);
  const threads = {
    async append(commit: ThreadCommit, after: { sequence: number }): Promise<Stored> {
      if ((of(commit.subject).at(-1)?.sequence ?? 0) !== after.sequence) throw new ConcurrentAppend(commit.subject);
      const stored = { commit, sequence: (newest += 1) };
      commits.push(stored);
      return stored;
    },
    last: async (subject: string) => of(subject).at(-1),
    at: async (subject: string, sequence: number) => of(subject).find((stored) => stored.sequence === sequence),
    async purge(filter: string, upTo: { sequence: number }): Promise<void> {
      commits = commits.filter(
        ({ commit, sequence }) => sequence > upTo.sequence || !subjectMatches(filter, commit.subject),
      );
    },
  };
  const conversationSizes = {
    get: async (key: string) => sizes.get(key),
    async put(key: string, document: ConversationSizes): Promise<number> {
      const revision = (sizes.get(key)?.revision ?? 0) + 1;
      sizes.set(key, { document, revision });
      return revision;
    },
  };
  const directoryContents = { get: async () => ({ document: { state: { searched: searched() } } }) };
  return { threads, conversationSizes, readModels: { directoryContents } } as unknown as BusOf<'assistant'>;
}
