import { join } from 'node:path';
import { archivedJobKey, archivePrefix } from '#shared/contracts/stored-objects.ts';
import { readArchivedJob } from '#shared/export/archived-jobs.ts';
import type { LogAudit } from '#shared/messaging/nats/log-audit.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { objectStoreSettings } from '#shared/runtime/common-settings.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { objectStoreFromConfig, openObjectStore } from '#shared/storage/open-object-store.ts';
import type { ChainProblem, StoredText } from '../commit-chain.ts';
import type { ReadModels } from '../read-models.ts';
import { type AuditScope, type LogKind, logKinds, type Seen } from './verified-logs.ts';

export type StreamReport = {
  stream: LogKind['stream'];
  historyCount: number;
  commitCount: number;
  problems: ChainProblem[];
  /** The last commit of each history: whoever keeps these elsewhere can tell later whether a history was cut or written anew. */
  heads: { subject: string; revision: number; commitId: string; hash: string }[];
};

const historiesAtOnce = 8;

/** Histories that were moved from the stream `EXPORTS`, by subject. */
export type AuditArchive = {
  subjects(filter: string): Promise<string[]>;
  /** The messages as the stream had them; undefined when it was not archived. Throws when the object is no history. */
  texts(subject: string): Promise<StoredText[] | undefined>;
};

export type Audit = { logs: LogAudit; archive: AuditArchive; models: ReadModels };

/**
 * Verifies histories as they are stored: each against itself (chain, order, bytes, states), against what read models have seen of it (a
 * lost tail leaves a chain that looks whole), and streams against gaps that the archive does not explain. Read models first: the log is
 * never behind.
 */
export async function verifyLogs(
  audit: Audit,
  scope: AuditScope,
  onStream: (stream: string, historyCount: number) => void = () => {},
): Promise<StreamReport[]> {
  const reports: StreamReport[] = [];
  for (const kind of logKinds) {
    const filter = kind.filter(scope);
    if (filter !== undefined) reports.push(await verifyLog(audit, kind, filter, onStream));
  }
  return reports;
}

async function verifyLog(
  { logs: log, archive, models }: Audit,
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
  // The log before the archive: what moves meanwhile is in one of both.
  const inLog = await log.subjects(stream, filter);
  const archivedSubjects = kind.archived ? await archive.subjects(filter) : [];
  const subjects = [...new Set([...inLog, ...archivedSubjects, ...seen.keys()])].toSorted();
  onStream(stream, subjects.length);
  const problems: ChainProblem[] = [];
  const heads: StreamReport['heads'] = [];
  const archivedSequences = new Set<number>();
  let commitCount = 0;
  await inParallel(subjects, historiesAtOnce, async (subject) => {
    const stored = await log.stored(stream, subject);
    const archived = kind.archived ? await archive.texts(subject) : undefined;
    const messages = stored.length > 0 ? stored : (archived ?? []);
    for (const { sequence } of archived ?? []) archivedSequences.add(sequence);
    commitCount += messages.length;
    problems.push(...kind.verify(subject, messages), ...lostTail(subject, messages, seen.get(subject)));
    if (stored.length > 0 && archived !== undefined) problems.push(...differences(subject, stored, archived));
    const head = headOf(messages);
    if (head !== undefined) heads.push({ subject, ...head });
  });
  // Of a part of the archive nobody can say which gaps it explains.
  if (!kind.archived || filter === kind.filter({})) {
    problems.push(...(await gapProblems(log, stream, archivedSequences)));
  }
  const order = (a: { subject: string }, b: { subject: string }) => (a.subject < b.subject ? -1 : 1);
  return {
    stream,
    historyCount: subjects.length,
    commitCount,
    problems: problems.toSorted((a, b) => (a.subject === b.subject ? a.sequence - b.sequence : order(a, b))),
    heads: heads.toSorted(order),
  };
}

/** A history that was archived and is still in the log must be the same in both. */
function differences(subject: string, stored: readonly StoredText[], archived: readonly StoredText[]): ChainProblem[] {
  const at = stored.findIndex(({ sequence, text }, index) => {
    const other = archived[index];
    return other?.sequence !== sequence || other.text !== text;
  });
  const differing = at >= 0 ? stored[at] : archived[stored.length];
  if (differing === undefined) return [];
  const message = 'The archive has something else than the log.';
  return [{ problem: 'changed', subject, sequence: differing.sequence, message }];
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

/** Messages that a stream has not any more and that `archivedSequences` do not explain, as holes of the stream. */
export async function gapProblems(
  log: LogAudit,
  stream: string,
  archivedSequences: ReadonlySet<number>,
): Promise<ChainProblem[]> {
  const gaps = (await log.gaps(stream)).flatMap((gap) => withoutSequences(gap, archivedSequences));
  return gaps.map(({ first, last }) => ({
    problem: 'hole',
    subject: stream,
    sequence: first,
    message: `Message${first === last ? ` ${first} is` : `s ${first} to ${last} are`} missing from the stream.`,
  }));
}

/** What is left of a range of sequences. */
function withoutSequences(
  { first, last }: { first: number; last: number },
  explained: ReadonlySet<number>,
): { first: number; last: number }[] {
  const left: { first: number; last: number }[] = [];
  for (let sequence = first; sequence <= last; sequence += 1) {
    if (explained.has(sequence)) continue;
    const newest = left.at(-1);
    if (newest?.last === sequence - 1) newest.last = sequence;
    else left.push({ first: sequence, last: sequence });
  }
  return left;
}

/** The object store of the environment, else that in the data folder of an installation on this machine. */
export async function openAuditStore(
  dataFolder: string,
  environment: Record<string, string | undefined>,
): Promise<ObjectStore> {
  const settings = { BINDERY_OBJECT_FOLDER: join(dataFolder, 'objects'), ...environment };
  return openObjectStore(objectStoreFromConfig(loadConfig(objectStoreSettings, settings)));
}

/** Histories of export jobs that were moved to the object store, under the subjects that they had. */
export function auditArchive(objectStore: Pick<ObjectStore, 'list' | 'get'>): AuditArchive {
  return {
    async subjects(filter) {
      const [, organization = '*', job = '*'] = filter.split('.');
      const prefix = organization === '*' ? archivePrefix : `${archivePrefix}${organization}/`;
      const subjects: string[] = [];
      for await (const { key } of objectStore.list(prefix)) {
        const [, ofOrganization = '', file = ''] = key.split('/');
        const jobId = file.replace(/\.json$/, '');
        if (job === '*' || job === jobId) subjects.push(exportLogSubject(ofOrganization, jobId));
      }
      return subjects;
    },
    async texts(subject) {
      const [, organization = '', jobId = ''] = subject.split('.');
      const job = await readArchivedJob(objectStore, archivedJobKey(organization, jobId));
      return job?.messages.map(({ sequence, text }) => ({ subject: job.subject, sequence, text }));
    },
  };
}
