import type { z } from 'zod';
import type { Commit, CommitEvent } from '#shared/contracts/commit.ts';
import { storedContentCommit, storedDirectoryCommit, storedExportCommit } from '#shared/contracts/stored-messages.ts';
import { evolveContent } from '#shared/content-log/evolve-content.ts';
import { type ChainFold, type ChainProblem, type StoredText, verifyChain } from '#shared/event-log/verify-chain.ts';
import { inParallel } from '#shared/export-objects/in-parallel.ts';
import type { LogAudit } from '#shared/nats/log-audit.ts';
import type { ReadModels } from '#shared/read-model/read-models.ts';
import { contentLogSubject, directoryLogSubject, exportLogSubject } from '#shared/subjects/subject-names.ts';
import { evolveDirectory } from '#services/gateway/evolve-directory.ts';
import { evolve as evolveExport } from '#services/orchestrator/evolve.ts';

/** What to verify; everything where nothing is said. */
export type AuditScope = { organization?: string; job?: string; domain?: string };

export type StreamReport = {
  stream: 'EXPORTS' | 'CONTENT' | 'DIRECTORY';
  historyCount: number;
  commitCount: number;
  problems: ChainProblem[];
  /** The last commit of each history: whoever keeps these elsewhere can tell later whether a history was cut or written anew. */
  heads: { subject: string; revision: number; commitId: string; hash: string }[];
};

/** A commit that a read model has seen. */
type Seen = { revision: number; commitId: string };

type LogKind = {
  stream: StreamReport['stream'];
  filter(scope: AuditScope): string | undefined;
  verify(subject: string, messages: readonly StoredText[]): ChainProblem[];
  /** What read models have seen of each history, by subject. */
  seen(models: ReadModels, signal: AbortSignal): AsyncIterable<{ subject: string } & Seen>;
  /** Nothing is ever taken out of the stream, so it may have no gaps. */
  keptForGood: boolean;
};

const logs: readonly LogKind[] = [
  {
    stream: 'EXPORTS',
    filter: ({ organization, job, domain }) =>
      domain === undefined || job !== undefined ? exportLogSubject(organization ?? '*', job ?? '*') : undefined,
    verify: (subject, messages) =>
      verifyChain(
        subject,
        messages,
        foldOf(storedExportCommit, (state, event, commit) => evolveExport(state, event, commit)),
      ),
    seen: (models, signal) =>
      seenOf(models.jobStatus, ({ organization, jobId }) => exportLogSubject(organization, jobId), signal),
    keptForGood: false,
  },
  {
    stream: 'CONTENT',
    filter: ({ organization, job, domain }) =>
      job === undefined ? contentLogSubject(organization ?? '*', domain ?? '*') : undefined,
    verify: (subject, messages) =>
      verifyChain(
        subject,
        messages,
        foldOf(storedContentCommit, (state, event, { time }) => evolveContent(state, event, time)),
      ),
    seen: (models, signal) =>
      seenOf(models.directoryContents, ({ organization, domain }) => contentLogSubject(organization, domain), signal),
    keptForGood: true,
  },
  {
    stream: 'DIRECTORY',
    filter: ({ organization, job, domain }) =>
      job === undefined && domain === undefined ? directoryLogSubject(organization ?? '*') : undefined,
    verify: (subject, messages) =>
      verifyChain(
        subject,
        messages,
        foldOf(storedDirectoryCommit, (state, event, { time }) => evolveDirectory(state, event, time)),
      ),
    seen: (models, signal) =>
      seenOf(models.directoryOrganizations, ({ organization }) => directoryLogSubject(organization), signal),
    keptForGood: true,
  },
];

function foldOf<S, E extends CommitEvent>(
  schema: z.ZodType<Commit<E, S>>,
  evolve: ChainFold<S, E>['evolve'],
): ChainFold<S, E> {
  return {
    evolve,
    read(stored) {
      const result = schema.safeParse(stored);
      if (result.success) return result.data;
      const issue = result.error.issues[0];
      throw new Error(`it is wrong at "${issue?.path.join('.')}" (${issue?.message}).`);
    },
  };
}

async function* seenOf<S>(
  store: {
    watch(filter: string, signal: AbortSignal): AsyncIterable<{ kind: string; document?: Seen & { state: S } }>;
  },
  subjectOf: (state: S) => string,
  signal: AbortSignal,
): AsyncIterable<{ subject: string } & Seen> {
  for await (const { kind, document } of store.watch('>', signal)) {
    if (kind === 'caught-up') return;
    if (document !== undefined) {
      yield { subject: subjectOf(document.state), revision: document.revision, commitId: document.commitId };
    }
  }
  throw new Error('A read model could not be read to its end. Is the bus up?');
}

const historiesAtOnce = 8;

/**
 * Verifies histories as they are stored: each against itself (chain, order, bytes, states), against what read models have seen of it (a
 * lost tail leaves a chain that looks whole), and streams that keep everything against gaps. Read models first: the log is never behind.
 */
export async function verifyLogs(
  audit: LogAudit,
  models: ReadModels,
  scope: AuditScope,
  onStream: (stream: string, historyCount: number) => void = () => {},
): Promise<StreamReport[]> {
  const reports: StreamReport[] = [];
  for (const kind of logs) {
    const filter = kind.filter(scope);
    if (filter !== undefined) reports.push(await verifyLog(audit, models, kind, filter, onStream));
  }
  return reports;
}

async function verifyLog(
  audit: LogAudit,
  models: ReadModels,
  kind: LogKind,
  filter: string,
  onStream: (stream: string, historyCount: number) => void,
): Promise<StreamReport> {
  const { stream } = kind;
  const seen = new Map<string, Seen>();
  const matches = subjectMatcher(filter);
  for await (const { subject, ...commit } of kind.seen(models, AbortSignal.timeout(readModelDeadlineMs))) {
    if (matches(subject)) seen.set(subject, commit);
  }
  const subjects = [...new Set([...(await audit.subjects(stream, filter)), ...seen.keys()])].toSorted();
  onStream(stream, subjects.length);
  const problems: ChainProblem[] = [];
  const heads: StreamReport['heads'] = [];
  let commitCount = 0;
  await inParallel(subjects, historiesAtOnce, async (subject) => {
    const messages = await audit.stored(stream, subject);
    commitCount += messages.length;
    problems.push(...kind.verify(subject, messages), ...lostTail(subject, messages, seen.get(subject)));
    const head = headOf(messages);
    if (head !== undefined) heads.push({ subject, ...head });
  });
  if (kind.keptForGood) problems.push(...(await gapProblems(audit, stream)));
  const order = (a: { subject: string }, b: { subject: string }) => (a.subject < b.subject ? -1 : 1);
  return {
    stream,
    historyCount: subjects.length,
    commitCount,
    problems: problems.toSorted((a, b) => (a.subject === b.subject ? a.sequence - b.sequence : order(a, b))),
    heads: heads.toSorted(order),
  };
}

const readModelDeadlineMs = 60_000;

/** A read model that has seen what the log does not have: the end of the history is gone, or was written anew. */
function lostTail(subject: string, messages: readonly StoredText[], seen: Seen | undefined): ChainProblem[] {
  if (seen === undefined) return [];
  const commits = messages.map(({ text }) => idAndRevision(text));
  if (commits.some((commit) => commit?.commitId === seen.commitId)) return [];
  const { revision } = seen;
  const message = commits.some((commit) => commit?.revision === revision)
    ? `A read model has seen another commit with this revision (${seen.commitId}).`
    : `The read model has seen revision ${revision} (${seen.commitId}), which is missing.`;
  return [{ problem: 'hole', subject, sequence: messages.at(-1)?.sequence ?? 0, revision, message }];
}

async function gapProblems(audit: LogAudit, stream: string): Promise<ChainProblem[]> {
  const gaps = await audit.gaps(stream);
  return gaps.map(({ first, last }) => ({
    problem: 'hole',
    subject: stream,
    sequence: first,
    message: `Message${first === last ? ` ${first} is` : `s ${first} to ${last} are`} missing from the stream.`,
  }));
}

function headOf(messages: readonly StoredText[]): { revision: number; commitId: string; hash: string } | undefined {
  const last = messages.at(-1);
  return last === undefined ? undefined : idAndRevision(last.text);
}

function idAndRevision(text: string): { revision: number; commitId: string; hash: string } | undefined {
  try {
    const { id, revision, hash } = JSON.parse(text) as { id: string; revision: number; hash: string };
    return { revision, commitId: id, hash };
  } catch {
    return undefined;
  }
}

/** `*` is one token. */
function subjectMatcher(filter: string): (subject: string) => boolean {
  const wanted = filter.split('.');
  return (subject) => {
    const tokens = subject.split('.');
    return tokens.length === wanted.length && wanted.every((token, at) => token === '*' || token === tokens[at]);
  };
}
