import type { Aggregate, CommitEvent } from '#shared/contracts/commit.ts';
import { contentAggregate } from '#shared/aggregates/content/content.ts';
import { type ChainFold, type ChainProblem, verifyChain } from '../commit-chain.ts';
import type { StoredText } from '../event-log.ts';
import type { DocumentStore, ReadModels } from '../read-models.ts';
import type { Anchored } from '#shared/contracts/read-models.ts';
import { contentLogSubject, directoryLogSubject, exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { directoryAggregate } from '#shared/aggregates/directory/directory.ts';
import { exportJobAggregate } from '#shared/aggregates/export-job/export-job.ts';

/** What to verify; a field that is not given restricts nothing. */
export type AuditScope = { organization?: string; job?: string; domain?: string };

/** What a read model says of a history: the last commit that it has seen, what vouches for it, and the state. */
export type Seen = Anchored & { state: unknown };

export type VerifiedLog = {
  stream: 'EXPORTS' | 'CONTENT' | 'DIRECTORY';
  filter(scope: AuditScope): string | undefined;
  verify(subject: string, messages: readonly StoredText[]): ChainProblem[];
  /** The state after a stored commit, in today's form. Throws a sentence when it cannot be read. */
  stateAfter(text: string): unknown;
  /** Where the read model has what it has seen of the histories. */
  seenIn(models: ReadModels): Pick<DocumentStore<Seen>, 'get' | 'keys'>;
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
    stateAfter: stateAfter(exportJobAggregate),
    seenIn: ({ jobStatus }) => jobStatus,
    archived: true,
  },
  {
    stream: 'CONTENT',
    filter: ({ organization, job, domain }) =>
      job === undefined ? contentLogSubject(organization ?? '*', domain ?? '*') : undefined,
    verify: (subject, messages) => verifyChain(subject, messages, foldOf(contentAggregate)),
    stateAfter: stateAfter(contentAggregate),
    seenIn: ({ directoryContents }) => directoryContents,
    archived: false,
  },
  {
    stream: 'DIRECTORY',
    filter: ({ organization, job, domain }) =>
      job === undefined && domain === undefined ? directoryLogSubject(organization ?? '*') : undefined,
    verify: (subject, messages) => verifyChain(subject, messages, foldOf(directoryAggregate)),
    stateAfter: stateAfter(directoryAggregate),
    seenIn: ({ directoryOrganizations }) => directoryOrganizations,
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

function stateAfter<S, E extends CommitEvent>(aggregate: Aggregate<E, S>): (text: string) => S {
  const fold = foldOf(aggregate);
  return (text) => fold.read(JSON.parse(text)).data.state;
}

/** The key of a history's document, or a filter of such keys, from its subject or a filter: `exports.acme.*.log` has `acme.*`. Pure. */
export const keyOfSubject = (subject: string): string => subject.split('.').slice(1, -1).join('.');

/** The subject that a key belongs to, beside a filter for it: `exports.acme.*.log` and `acme.x` give `exports.acme.x.log`. Pure. */
export const subjectOfKey = (filter: string, key: string): string => `${filter.split('.')[0]}.${key}.log`;
