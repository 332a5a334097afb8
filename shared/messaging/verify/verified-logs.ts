import type { Aggregate, CommitEvent } from '#shared/contracts/commit.ts';
import { contentAggregate } from '#shared/aggregates/content/content.ts';
import { type ChainFold, type ChainProblem, verifyChain } from '../commit-chain.ts';
import type { StoredText } from '../event-log.ts';
import type { ReadModels } from '../read-models.ts';
import { contentLogSubject, directoryLogSubject, exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { directoryAggregate } from '#shared/aggregates/directory/directory.ts';
import { exportJobAggregate } from '#shared/aggregates/export-job/export-job.ts';

/** What to verify; a field that is not given restricts nothing. */
export type AuditScope = { organization?: string; job?: string; domain?: string };

/** A commit that a read model has seen. */
export type Seen = { revision: number; commitId: string };

export type VerifiedLog = {
  stream: 'EXPORTS' | 'CONTENT' | 'DIRECTORY';
  filter(scope: AuditScope): string | undefined;
  verify(subject: string, messages: readonly StoredText[]): ChainProblem[];
  /** What read models have seen of each history, by subject. */
  seen(models: ReadModels, signal: AbortSignal): AsyncIterable<{ subject: string } & Seen>;
  /** Histories of this stream are moved to the archive; what is in neither is a hole. */
  archived: boolean;
};

/** The logs that are verified, and how. */
export const verifiedLogs: readonly VerifiedLog[] = [
  {
    stream: 'EXPORTS',
    filter: ({ organization, job, domain }) =>
      domain === undefined || job !== undefined ? exportLogSubject(organization ?? '*', job ?? '*') : undefined,
    verify: (subject, messages) => verifyChain(subject, messages, foldOf(exportJobAggregate)),
    seen: (models, signal) =>
      seenOf(models.jobStatus, ({ organization, jobId }) => exportLogSubject(organization, jobId), signal),
    archived: true,
  },
  {
    stream: 'CONTENT',
    filter: ({ organization, job, domain }) =>
      job === undefined ? contentLogSubject(organization ?? '*', domain ?? '*') : undefined,
    verify: (subject, messages) => verifyChain(subject, messages, foldOf(contentAggregate)),
    seen: (models, signal) =>
      seenOf(models.directoryContents, ({ organization, domain }) => contentLogSubject(organization, domain), signal),
    archived: false,
  },
  {
    stream: 'DIRECTORY',
    filter: ({ organization, job, domain }) =>
      job === undefined && domain === undefined ? directoryLogSubject(organization ?? '*') : undefined,
    verify: (subject, messages) => verifyChain(subject, messages, foldOf(directoryAggregate)),
    seen: (models, signal) =>
      seenOf(models.directoryOrganizations, ({ organization }) => directoryLogSubject(organization), signal),
    archived: false,
  },
];

function foldOf<S, E extends CommitEvent>({ evolve, storedCommit }: Aggregate<E, S>): ChainFold<S, E> {
  return {
    evolve,
    read(stored) {
      const result = storedCommit.safeParse(stored);
      if (result.success) return result.data;
      const issue = result.error.issues[0];
      throw new Error(`it is wrong at "${issue?.path.join('.')}" (${issue?.message}).`);
    },
  };
}

async function* seenOf<S>(
  store: {
    watch(
      filter: string,
      signal: AbortSignal,
    ): AsyncIterable<{ kind: string; problem?: string; document?: Seen & { state: S } }>;
  },
  subjectOf: (state: S) => string,
  signal: AbortSignal,
): AsyncIterable<{ subject: string } & Seen> {
  for await (const { kind, problem, document } of store.watch('>', signal)) {
    if (kind === 'caught-up') return;
    if (problem !== undefined) throw new Error(problem);
    if (document !== undefined) {
      yield { subject: subjectOf(document.state), revision: document.revision, commitId: document.commitId };
    }
  }
  throw new Error('A read model could not be read to its end. Is the bus up?');
}
