import { archivePrefix } from '#shared/contracts/stored-objects.ts';
import { archivedJobOf } from '#shared/export/archived-jobs.ts';
import { exportLogSubject, subjectMatches } from '#shared/messaging/subjects/subject-names.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { ChainProblem } from '../commit-chain.ts';
import type { StoredText } from '../event-log.ts';
import type { ReadModels } from '../read-models.ts';
import { type AuditScope, type Seen, type VerifiedLog, verifiedLogs } from './verified-logs.ts';

export type StreamReport = {
  stream: VerifiedLog['stream'];
  historyCount: number;
  commitCount: number;
  problems: ChainProblem[];
  /** The last commit of each history. With a copy of these one can tell later whether a history was cut or rewritten. */
  heads: ({ subject: string } & Head)[];
};

type Head = { revision: number; commitId: string; hash: string };

/** Logs as they are stored, for verification: nothing is parsed, and nothing can be written. */
export type LogAudit = {
  /** Subjects of a stream that match a filter. */
  subjects(stream: string, filter: string): Promise<string[]>;
  /** All messages of one subject, in the order of the stream. */
  stored(stream: string, subject: string): Promise<StoredText[]>;
  /** Ranges of sequences that the stream has given out and no longer has. */
  gaps(stream: string): Promise<SequenceRange[]>;
  close(): Promise<void>;
};

/** Both included. */
export type SequenceRange = { first: number; last: number };

/** What is read: the logs as they are stored, the jobs that were moved to the object store, and what read models have seen. */
export type Audit = { logs: LogAudit; objectStore: Pick<ObjectStore, 'list' | 'get'>; models: ReadModels };

/**
 * Verifies histories as they are stored. Each is compared with itself (chain, order, bytes, states) and with what read models have seen
 * of it, because a history without its end has a chain that looks whole. Streams are searched for gaps that the archive does not explain.
 * Read models are read first, because the log is never behind them.
 */
export async function verifyLogs(
  audit: Audit,
  scope: AuditScope,
  onStream: (stream: string, historyCount: number) => void = () => {},
): Promise<StreamReport[]> {
  const reports: StreamReport[] = [];
  for (const kind of verifiedLogs) {
    const filter = kind.filter(scope);
    if (filter !== undefined) reports.push(await verifyLog(audit, kind, filter, onStream));
  }
  return reports;
}

const historiesAtOnce = 8;
const readModelDeadlineMs = 60_000;

async function verifyLog(
  { logs, objectStore, models }: Audit,
  kind: VerifiedLog,
  filter: string,
  onStream: (stream: string, historyCount: number) => void,
): Promise<StreamReport> {
  const { stream } = kind;
  const seen = new Map<string, Seen>();
  for await (const { subject, ...commit } of kind.seen(models, AbortSignal.timeout(readModelDeadlineMs))) {
    if (subjectMatches(filter, subject)) seen.set(subject, commit);
  }
  // The log before the archive: what is moved meanwhile is found in one of them.
  const inLog = await logs.subjects(stream, filter);
  const archivedSubjects = kind.archived ? await archivedSubjectsOf(objectStore, filter) : [];
  const subjects = [...new Set([...inLog, ...archivedSubjects, ...seen.keys()])].toSorted();
  onStream(stream, subjects.length);
  const problems: ChainProblem[] = [];
  const heads: StreamReport['heads'] = [];
  const archivedSequences = new Set<number>();
  let commitCount = 0;
  await inParallel(subjects, historiesAtOnce, async (subject) => {
    const stored = await logs.stored(stream, subject);
    const archived = kind.archived ? await archivedTexts(objectStore, subject) : undefined;
    const messages = stored.length > 0 ? stored : (archived ?? []);
    for (const { sequence } of archived ?? []) archivedSequences.add(sequence);
    commitCount += messages.length;
    problems.push(...kind.verify(subject, messages), ...lostTail(subject, messages, seen.get(subject)));
    if (stored.length > 0 && archived !== undefined) problems.push(...differences(subject, stored, archived));
    const head = headOf(messages.at(-1));
    if (head !== undefined) heads.push({ subject, ...head });
  });
  // Gaps are those of the whole stream, so only the whole archive can explain them.
  if (!kind.archived || filter === kind.filter({})) {
    problems.push(...(await gapProblems(logs, stream, archivedSequences)));
  }
  const bySubject = (a: { subject: string }, b: { subject: string }) => (a.subject < b.subject ? -1 : 1);
  return {
    stream,
    historyCount: subjects.length,
    commitCount,
    problems: problems.toSorted((a, b) => (a.subject === b.subject ? a.sequence - b.sequence : bySubject(a, b))),
    heads: heads.toSorted(bySubject),
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
  const message = 'The archive and the log differ from this message on.';
  return [{ problem: 'changed', subject, sequence: differing.sequence, message }];
}

/** A read model has seen what the log does not have: the end of the history is gone or was rewritten. */
function lostTail(subject: string, messages: readonly StoredText[], seen: Seen | undefined): ChainProblem[] {
  if (seen === undefined) return [];
  const commits = messages.map(headOf);
  if (commits.some((commit) => commit?.commitId === seen.commitId)) return [];
  const { revision } = seen;
  const message = commits.some((commit) => commit?.revision === revision)
    ? `A read model has seen another commit with this revision (${seen.commitId}).`
    : `The read model has seen revision ${revision} (${seen.commitId}), which is missing.`;
  return [{ problem: 'hole', subject, sequence: messages.at(-1)?.sequence ?? 0, revision, message }];
}

/** What a message says of itself; undefined when there is none or it is no commit. `kind.verify` checks whether it is true. */
function headOf(message: StoredText | undefined): Head | undefined {
  try {
    const { id, revision, hash } = JSON.parse(message?.text ?? '') as { id: string; revision: number; hash: string };
    return { revision, commitId: id, hash };
  } catch {
    return undefined;
  }
}

/** Messages that a stream no longer has and that `archivedSequences` do not explain, as holes of the stream. */
async function gapProblems(
  logs: LogAudit,
  stream: string,
  archivedSequences: ReadonlySet<number>,
): Promise<ChainProblem[]> {
  const explained = [...archivedSequences].sort((a, b) => a - b);
  const gaps = (await logs.gaps(stream)).flatMap((gap) => withoutSequences(gap, explained));
  return gaps.map(({ first, last }) => ({
    problem: 'hole',
    subject: stream,
    sequence: first,
    message: `Message${first === last ? ` ${first} is` : `s ${first} to ${last} are`} missing from the stream.`,
  }));
}

/** What is left of a range when sorted sequences are taken out of it. */
function withoutSequences({ first, last }: SequenceRange, explained: readonly number[]): SequenceRange[] {
  const left: SequenceRange[] = [];
  let next = first;
  for (const sequence of explained) {
    if (sequence < next) continue;
    if (sequence > last) break;
    if (sequence > next) left.push({ first: next, last: sequence - 1 });
    next = sequence + 1;
  }
  return next > last ? left : [...left, { first: next, last }];
}

/** The subjects that export jobs had before they were moved to the object store. */
async function archivedSubjectsOf(objectStore: Audit['objectStore'], filter: string): Promise<string[]> {
  const [, organization = '*'] = filter.split('.');
  const prefix = organization === '*' ? archivePrefix : `${archivePrefix}${organization}/`;
  const subjects: string[] = [];
  for await (const { key } of objectStore.list(prefix)) {
    const [, ofOrganization = '', file = ''] = key.split('/');
    const subject = exportLogSubject(ofOrganization, file.replace(/\.json$/, ''));
    if (subjectMatches(filter, subject)) subjects.push(subject);
  }
  return subjects;
}

/** The messages of an archived job as the stream had them; undefined when it was not archived. Throws when the object is no history. */
async function archivedTexts(objectStore: Audit['objectStore'], of: string): Promise<StoredText[] | undefined> {
  const job = await archivedJobOf(objectStore, of);
  return job?.messages.map((message) => ({ subject: job.subject, ...message }));
}
