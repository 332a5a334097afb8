import type { ChainProblem, StoredText } from '#shared/event-log/verify-chain.ts';
import { inParallel } from '#shared/export-objects/in-parallel.ts';
import type { LogAudit } from '#shared/nats/log-audit.ts';
import type { ReadModels } from '#shared/read-model/read-models.ts';
import { gapProblems } from './gap-problems.ts';
import { type AuditScope, type LogKind, logKinds, type Seen } from './log-kinds.ts';

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
