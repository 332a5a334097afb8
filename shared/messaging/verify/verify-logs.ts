import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ArchivedJob, archivedJobKey, archivePrefix } from '#shared/contracts/stored-objects.ts';
import { archivedJobOf } from '#shared/messaging/log/archived-jobs.ts';
import { directoryLogSubject, exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { DamagedObject, type ObjectStore } from '#shared/storage/object-store.ts';
import { BrokenObject } from '#shared/storage/stored-json.ts';
import type { ChainProblem } from '#shared/messaging/log/commit-chain.ts';
import type { StoredText } from '#shared/messaging/log/event-log.ts';
import type { Head } from '#shared/messaging/log/head-anchor.ts';
import type { ReadModels } from '../read-models.ts';
import {
  type AuditScope,
  keyOfSubject,
  type Seen,
  subjectOfKey,
  type VerifiedLog,
  verifiedLogs,
} from './verified-logs.ts';
import { type Ends, firstAndLast } from './first-and-last.ts';
import { verifyAccess } from './verify-access.ts';
import type { LogAudit } from './log-audit.ts';
import { type SequenceSet, sequenceSet } from './sequence-set.ts';
import { bundleCheck, type BundleCounts } from './verify-bundles.ts';
import { type AnchorCheck, headOf, verifyHead } from './verify-head.ts';

export type StreamReport = {
  stream: VerifiedLog['stream'] | 'ACCESS';
  historyCount: number;
  commitCount: number;
  problems: ChainProblem[];
  /** Histories (in `ACCESS` records) that an anchor made with the audit key covers to their end; 0 if anchors were not checked. */
  anchorCount: number;
  /** The last commit of each history. A copy of them shows later whether a history was cut or rewritten. */
  heads: ({ subject: string } & Head)[];
  /**
   * SHA-256 over the lines `<subject> <revision> <hash>` of all heads in their order, each ended by a line feed, as 64 hex digits: a short copy of the
   * heads.
   */
  headsSha256: string;
  /** Present only for exports, and only if bundles were checked. */
  bundles?: BundleCounts;
} & Ends;

/** The sources of an audit: the stored logs, the jobs that were moved to the object store, and the read models. */
export type Audit = {
  logs: LogAudit;
  objectStore: Pick<ObjectStore, 'list' | 'head' | 'get' | 'getStream'>;
  models: ReadModels;
  /** If absent, anchors are not checked. */
  anchors?: AnchorCheck | undefined;
  /** If given, stored bundles are read, too. Bundles of exports that ended before `keptSince` may have been removed. */
  bundles?: { keptSince: Date } | undefined;
  /** Limit of histories in memory at the same time; 8 by default. */
  historiesAtOnce?: number;
  /** Ends the verification, which rejects with the reason. */
  signal?: AbortSignal | undefined;
};

/**
 * Verifies histories as they are stored. The chain, order, bytes and states of each are checked, and it is compared with the read models'
 * record of it and its anchor, because a history without its end, or a rewritten one, has a chain that looks whole. Streams are searched
 * for gaps that the archive does not explain. With `bundles`, stored bundles are compared with the histories that name them.
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
  if (scope.domain === undefined) {
    const stream = 'ACCESS';
    const report = await verifyAccess(audit, scope, (count) => onStream(stream, count), new Date());
    reports.push({ stream, ...report, heads: [], headsSha256: digestOf([]) });
  }
  return reports;
}

const digestOf = (heads: StreamReport['heads']): string => {
  const digest = createHash('sha256');
  for (const { subject, revision, hash } of heads) digest.update(`${subject} ${revision} ${hash}\n`);
  return digest.digest('hex');
};

const usualHistoriesAtOnce = 8;

async function verifyLog(
  audit: Audit,
  kind: VerifiedLog,
  filter: string,
  onStream: (stream: string, historyCount: number) => void,
): Promise<StreamReport> {
  const { logs, objectStore, models, historiesAtOnce = usualHistoriesAtOnce } = audit;
  const { stream } = kind;
  // The log is listed before the archive, so a history that is moved meanwhile is found in one of them.
  const inLog = await logs.subjects(stream, filter);
  const inModel = (await kind.seenIn(models).keys(keyOfSubject(filter))).map((key) => subjectOfKey(filter, key));
  const archivedSubjects = kind.archived ? await archivedSubjectsOf(audit, filter, [...inLog, ...inModel]) : [];
  const subjects = [...new Set([...inLog, ...archivedSubjects, ...inModel])].toSorted();
  onStream(stream, subjects.length);
  const problems: ChainProblem[] = [];
  const heads: StreamReport['heads'] = [];
  const archivedSequences = sequenceSet();
  const bundles =
    stream === 'EXPORTS' && audit.bundles !== undefined ? bundleCheck(objectStore, audit.bundles) : undefined;
  const waiting = { leftMs: mostWaitingMs };
  const ends = firstAndLast();
  let commitCount = 0;
  let anchorCount = 0;
  await inParallel(subjects, historiesAtOnce, async (subject) => {
    audit.signal?.throwIfAborted();
    const { stored, seen, ...history } = await readHistory(audit, kind, subject, waiting);
    const { archived, messages } = history;
    for (const { sequence } of archived?.messages ?? []) archivedSequences.add(sequence);
    commitCount += messages.length;
    ends.add(messages);
    problems.push(...history.problems, ...(await kind.verify(subject, messages)));
    const ofHead = verifyHead(kind, { subject, messages, seen, archived }, audit.anchors);
    problems.push(...ofHead);
    const hasAnchor = seen?.anchor !== undefined || archived?.anchor !== undefined;
    const isAnchored = hasAnchor && ofHead.every(({ problem }) => problem !== 'unanchored');
    if (audit.anchors !== undefined && isAnchored) anchorCount += 1;
    if (stored.length > 0 && archived !== undefined) problems.push(...differences(subject, stored, archived.messages));
    const last = messages.at(-1);
    if (bundles !== undefined && last !== undefined) problems.push(...(await bundles.verify(last)));
    const head = headOf(last);
    if (head !== undefined) heads.push({ subject, ...head });
  });
  // Gaps belong to the whole stream, so only the whole archive can explain them.
  if (!kind.archived || filter === kind.filter({})) {
    problems.push(...(await gapProblems(logs, stream, archivedSequences)));
  }
  const bySubject = (a: { subject: string }, b: { subject: string }) => (a.subject < b.subject ? -1 : 1);
  const sorted = heads.toSorted(bySubject);
  return {
    stream,
    historyCount: subjects.length,
    commitCount,
    anchorCount,
    ...ends.found(),
    problems: problems.toSorted((a, b) => (a.subject === b.subject ? a.sequence - b.sequence : bySubject(a, b))),
    heads: sorted,
    headsSha256: digestOf(sorted),
    ...(bundles === undefined ? {} : { bundles: bundles.counts }),
  };
}

/** Longest waits for a read model to catch up with the log: for one history, and for all histories of a stream together. */
const seenWithinMs = 2_000;
const mostWaitingMs = 30_000;
const pauseMs = 50;

type ReadHistory = {
  /** The messages in the log. */
  stored: StoredText[];
  archived: ArchivedJob | undefined;
  /** The messages of the log, or else of the archive. */
  messages: StoredText[];
  seen: Seen | undefined;
  problems: ChainProblem[];
};

/**
 * A history, and the read model's record of it. The read model is read first, because the log is never older. If the log has newer commits, both are
 * read again until the read model has seen the end.
 */
async function readHistory(
  { logs, objectStore, models, anchors }: Audit,
  kind: VerifiedLog,
  subject: string,
  waiting: { leftMs: number },
): Promise<ReadHistory> {
  const begunAt = performance.now();
  // The wait is needed only for anchors, which have to be at the end.
  const waitMs = anchors === undefined ? 0 : Math.min(seenWithinMs, waiting.leftMs);
  for (;;) {
    const problems: ChainProblem[] = [];
    const unreadable = (what: string) => (error: unknown) => {
      if (!(error instanceof BrokenObject || error instanceof Poison)) throw error;
      problems.push({
        problem: 'unreadable',
        subject,
        sequence: 0,
        message: `${what} cannot be read: ${error.message}`,
      });
      return undefined;
    };
    const document = await kind
      .seenIn(models)
      .get(keyOfSubject(subject), { fromLeader: true })
      .catch(unreadable('The document of the read model'));
    const stored = await logs.stored(kind.stream, subject);
    const archived = kind.archived
      ? await archivedJobOf(objectStore, subject).catch(unreadable('The archived history'))
      : undefined;
    const inArchive = archived?.messages.map((message) => ({ subject: archived.subject, ...message })) ?? [];
    const messages = stored.length > 0 ? stored : inArchive;
    const seen = document?.document;
    const isBehind = archived === undefined && (headOf(stored.at(-1))?.revision ?? 0) > (seen?.revision ?? 0);
    const tookMs = performance.now() - begunAt;
    if (!isBehind || tookMs >= waitMs) {
      if (isBehind) waiting.leftMs -= tookMs;
      return { stored, archived, messages, seen, problems };
    }
    await delay(pauseMs);
  }
}

/** A history that is archived and still in the log must be the same in both. */
function differences(
  subject: string,
  stored: readonly StoredText[],
  archived: ArchivedJob['messages'],
): ChainProblem[] {
  const at = stored.findIndex(({ sequence, text }, index) => {
    const other = archived[index];
    return other?.sequence !== sequence || other.text !== text;
  });
  const differing = at >= 0 ? stored[at] : archived[stored.length];
  if (differing === undefined) return [];
  const message = 'The archive and the log differ from this message on.';
  return [{ problem: 'changed', subject, sequence: differing.sequence, message }];
}

/** Gaps of a stream that `archivedSequences` do not explain, as holes of the stream. */
async function gapProblems(logs: LogAudit, stream: string, archivedSequences: SequenceSet): Promise<ChainProblem[]> {
  const gaps = (await logs.gaps(stream)).flatMap((gap) => archivedSequences.outside(gap));
  return gaps.map(({ first, last }) => ({
    problem: 'hole',
    subject: stream,
    sequence: first,
    message: `Message${first === last ? ` ${first} is` : `s ${first} to ${last} are`} missing from the stream.`,
  }));
}

const organizationsAtOnce = 16;

/**
 * The subjects that export jobs had before they were moved to the object store. A single job is looked up by its key instead of listing the
 * archive: in its organization if that is known, else in each.
 */
async function archivedSubjectsOf(
  { objectStore, logs }: Pick<Audit, 'objectStore' | 'logs'>,
  filter: string,
  known: readonly string[],
): Promise<string[]> {
  const [, organization = '*', job = '*'] = filter.split('.');
  if (job === '*') {
    return archivedUnder(objectStore, organization === '*' ? archivePrefix : `${archivePrefix}${organization}/`);
  }
  const organizations =
    organization !== '*'
      ? [organization]
      : known.length > 0
        ? known.map(organizationIn)
        : (await logs.subjects('DIRECTORY', directoryLogSubject('*'))).map(organizationIn);
  const found = await inParallel([...new Set(organizations)], organizationsAtOnce, async (each) =>
    (await isStored(objectStore, archivedJobKey(each, job))) ? [exportLogSubject(each, job)] : [],
  );
  return found.flat();
}

/** True also for a damaged object, which is reported when it is read. */
async function isStored(objectStore: Audit['objectStore'], key: string): Promise<boolean> {
  try {
    return (await objectStore.head(key)) !== undefined;
  } catch (error) {
    if (error instanceof DamagedObject) return true;
    throw error;
  }
}

const organizationIn = (subject: string): string => subject.split('.')[1] ?? '';

async function archivedUnder(objectStore: Audit['objectStore'], prefix: string): Promise<string[]> {
  const subjects: string[] = [];
  for await (const { key } of objectStore.list(prefix)) {
    const [, organization = '', file = ''] = key.split('/');
    subjects.push(exportLogSubject(organization, file.replace(/\.json$/, '')));
  }
  return subjects;
}
