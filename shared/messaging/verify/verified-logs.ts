import type { Aggregate, CommitEvent } from '#shared/contracts/commit.ts';
import { contentAggregate } from '#shared/aggregates/content/content.ts';
import { type ChainFold, type ChainProblem, verifyChainInTurns } from '#shared/messaging/log/commit-chain.ts';
import type { StoredText } from '#shared/messaging/log/event-log.ts';
import { problemOf } from '../parse-message.ts';
import type { DocumentStore, ReadModels } from '../read-models.ts';
import type { Anchored } from '#shared/interfaces/read-models.ts';
import {
  contentLogSubject,
  directoryLogSubject,
  exportLogSubject,
  siteLogSubject,
} from '#shared/messaging/subjects/subject-names.ts';
import { directoryAggregate } from '#shared/aggregates/directory/directory.ts';
import { siteAggregate } from '#shared/aggregates/site/site.ts';
import { exportJobAggregate } from '#shared/aggregates/export-job/export-job.ts';

/** The scope of a verification. A missing field restricts nothing. */
export type AuditScope = { organization?: string; job?: string; domain?: string };

/** A read model's record of a history: the last commit that it has seen, its anchor, and the state. */
export type Seen = Anchored & { state: unknown };

export type VerifiedLog = {
  stream: 'EXPORTS' | 'CONTENT' | 'SITES' | 'DIRECTORY';
  filter(scope: AuditScope): string | undefined;
  verify(subject: string, messages: readonly StoredText[]): Promise<ChainProblem[]>;
  /** The state after a stored commit, upcast. Throws a sentence when it cannot be read. */
  stateAfter(text: string): unknown;
  /** The read model's records of the histories. */
  seenIn(models: ReadModels): Pick<DocumentStore<Seen>, 'get' | 'keys'>;
  /** True if histories of this stream are moved to the archive. A message in neither place is a hole. */
  archived: boolean;
};

/** The logs that are verified, with their settings. */
export const verifiedLogs: readonly VerifiedLog[] = [
  {
    stream: 'EXPORTS',
    filter: ({ organization, job, domain }) =>
      domain === undefined || job !== undefined ? exportLogSubject(organization ?? '*', job ?? '*') : undefined,
    verify: (subject, messages) => verifyChainInTurns(subject, messages, foldOf(exportJobAggregate)),
    stateAfter: stateAfter(exportJobAggregate),
    seenIn: ({ jobStatus }) => jobStatus,
    archived: true,
  },
  {
    stream: 'CONTENT',
    filter: ({ organization, job, domain }) =>
      job === undefined ? contentLogSubject(organization ?? '*', domain ?? '*') : undefined,
    verify: (subject, messages) => verifyChainInTurns(subject, messages, foldOf(contentAggregate)),
    stateAfter: stateAfter(contentAggregate),
    seenIn: ({ directoryContents }) => directoryContents,
    archived: false,
  },
  {
    stream: 'SITES',
    filter: ({ organization, job, domain }) =>
      job === undefined ? siteLogSubject(organization ?? '*', domain ?? '*') : undefined,
    verify: (subject, messages) => verifyChainInTurns(subject, messages, foldOf(siteAggregate)),
    stateAfter: stateAfter(siteAggregate),
    seenIn: ({ sites }) => sites,
    archived: false,
  },
  {
    stream: 'DIRECTORY',
    filter: ({ organization, job, domain }) =>
      job === undefined && domain === undefined ? directoryLogSubject(organization ?? '*') : undefined,
    verify: (subject, messages) => verifyChainInTurns(subject, messages, foldOf(directoryAggregate)),
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
      throw new Error(`it ${problemOf(result.error, stored).problem}`);
    },
  };
}

function stateAfter<S, E extends CommitEvent>(aggregate: Aggregate<E, S>): (text: string) => S {
  const fold = foldOf(aggregate);
  return (text) => fold.read(JSON.parse(text)).data.state;
}

/**
 * The key of a history's document from its subject, or a filter of keys from a filter of subjects: `exports.acme.*.log` gives `acme.*`.
 * Pure.
 */
export const keyOfSubject = (subject: string): string => subject.split('.').slice(1, -1).join('.');

/** The subject of a key, built with the prefix of a filter: `exports.acme.*.log` and `acme.x` give `exports.acme.x.log`. Pure. */
export const subjectOfKey = (filter: string, key: string): string => `${filter.split('.')[0]}.${key}.log`;
