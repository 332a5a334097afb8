import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import { type AccessRecord, storedAccessRecord } from '#shared/contracts/export-facts.ts';
import { dateInKey, listPartKey } from '#shared/interfaces/read-models.ts';
import { canonicalJson, jsonIn } from '#shared/runtime/canonical-json.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { accessAuditEntry } from '#shared/messaging/log/access-audit.ts';
import type { ChainProblem } from '#shared/messaging/log/commit-chain.ts';
import type { StoredText } from '#shared/messaging/log/event-log.ts';
import type { ReadModels } from '../read-models.ts';
import { accessSubject } from '../subjects/subject-names.ts';
import { firstKeptDay } from '../subjects/subject-table.ts';
import { type Ends, firstAndLast } from './first-and-last.ts';
import type { AuditScope } from './verified-logs.ts';
import type { AnchorCheck } from './verify-head.ts';
import type { LogAudit } from './log-audit.ts';

type AccessAudit = {
  logs: LogAudit;
  models: Pick<ReadModels, 'auditAccess'>;
  anchors?: AnchorCheck | undefined;
  signal?: AbortSignal | undefined;
};

export type AccessReport = {
  historyCount: number;
  commitCount: number;
  anchorCount: number;
  problems: ChainProblem[];
} & Ends;

const stream = 'ACCESS';
const subjectsAtOnce = 8;
const mostDaysKept = 64;
const mostSubjectsKept = 1_000;
/** Longest waits for the audit to catch up: with one record, and with all records together. */
const seenWithinMs = 2_000;
const mostWaitingMs = 30_000;
const pauseMs = 50;

/**
 * Compares access records (who received which link) with the entries of the audit, in both directions, and searches the stream for gaps.
 * Records are not chained. They expire, and the first day on which some of them may have expired is skipped. With `job` the log alone
 * decides which records are compared.
 */
export async function verifyAccess(
  { logs, models, anchors, signal }: AccessAudit,
  { organization, job }: AuditScope,
  onSubjects: (count: number) => void,
  now: Date,
): Promise<AccessReport> {
  const firstDay = firstKeptDay(now);
  const problems: ChainProblem[] = [];
  const days = new LRUCache<string, Promise<Map<string, AuditEntry>>>({ max: mostDaysKept });
  let waitingMs = mostWaitingMs;
  const ends = firstAndLast();
  let commitCount = 0;
  let anchorCount = 0;

  const readDay = async (of: string, day: string): Promise<Map<string, AuditEntry>> => {
    const entries = new Map<string, AuditEntry>();
    for (let part = 0; ; part += 1) {
      const stored = await models.auditAccess.get(listPartKey(of, day, part), { fromLeader: true });
      if (stored === undefined) return entries;
      for (const entry of stored.document.entries) entries.set(entry.id, entry);
    }
  };
  const entryOf = async (record: AccessRecord): Promise<AuditEntry | undefined> => {
    const day = record.time.slice(0, 10);
    const key = `${record.organization} ${day}`;
    const id = `${record.id}.0`;
    const known = (await (days.get(key) ?? readDay(record.organization, day))).get(id);
    if (known !== undefined) return known;
    for (const begunAt = performance.now(); ; ) {
      const reading = readDay(record.organization, day);
      days.set(key, reading);
      const found = (await reading).get(id);
      const tookMs = performance.now() - begunAt;
      if (found !== undefined) return found;
      if (tookMs >= Math.min(seenWithinMs, waitingMs)) {
        waitingMs -= tookMs;
        return undefined;
      }
      await delay(pauseMs);
    }
  };

  const verifyMessage = async (message: StoredText): Promise<void> => {
    const { subject, sequence } = message;
    const report = (problem: ChainProblem['problem'], text: string) =>
      problems.push({ problem, subject, sequence, message: text });
    const record = recordIn(message);
    if (record === undefined) return void report('unreadable', 'The message is not a record of access.');
    if (accessSubject(record.organization, record.jobId) !== subject) {
      report('wrong-subject', `The record belongs to ${accessSubject(record.organization, record.jobId)}.`);
    }
    if (record.time.slice(0, 10) < firstDay) return;
    const entry = await entryOf(record);
    if (entry === undefined) {
      return void report(
        'unanchored',
        'The audit has not seen this record: no projector runs, or its entry was removed.',
      );
    }
    const { anchor, ...seen } = entry;
    const { anchor: expected, ...said } = accessAuditEntry(record, anchors?.auditKey ?? '');
    // A projector of an older version omits the request id from the entry, although the record has it.
    const { requestId: _, ...older } = said;
    if (canonicalJson(seen) !== canonicalJson('requestId' in seen ? said : older)) {
      report('changed', 'The audit has seen this record with other fields.');
    } else if (anchors !== undefined && anchor !== expected) {
      const { unanchoredBefore } = anchors;
      const isOld = unanchoredBefore !== undefined && Date.parse(record.time) < unanchoredBefore.getTime();
      if (anchor !== undefined)
        report('unanchored', 'Its anchor belongs to another record, or was not made with this audit key.');
      else if (!isOld) report('unanchored', 'It has no anchor. A record that predates anchors gets one in a rebuild.');
    } else if (anchors !== undefined) anchorCount += 1;
  };

  const subjects = await logs.subjects(stream, accessSubject(organization ?? '*', job ?? '*'));
  onSubjects(subjects.length);
  await inParallel(subjects, subjectsAtOnce, async (subject) => {
    signal?.throwIfAborted();
    const messages = await logs.stored(stream, subject);
    ends.add(messages);
    for (const message of messages) {
      commitCount += 1;
      await verifyMessage(message);
    }
  });

  if (job === undefined) {
    const idsOf = recordIds(logs);
    const keys = await models.auditAccess.keys(organization === undefined ? '>' : `${organization}.>`);
    await inParallel(
      keys.filter((key) => dateInKey(key) >= firstDay),
      subjectsAtOnce,
      async (key) => {
        const stored = await models.auditAccess.get(key, { fromLeader: true });
        for (const { commit } of stored?.document.entries ?? []) {
          if ((await idsOf(commit.subject)).has(commit.id)) continue;
          const message = `The audit has seen the record ${commit.id}, which is missing.`;
          problems.push({ problem: 'hole', subject: commit.subject, sequence: 0, message });
        }
      },
    );
  }
  if (job === undefined && organization === undefined) {
    for (const { first, last } of await logs.gaps(stream)) {
      // Messages missing at the beginning have expired. If they have not, the comparison with the audit finds it.
      if (first === 1) continue;
      const message = `Message${first === last ? ` ${first} is` : `s ${first} to ${last} are`} missing from the stream.`;
      problems.push({ problem: 'hole', subject: stream, sequence: first, message });
    }
  }
  return { historyCount: subjects.length, commitCount, anchorCount, ...ends.found(), problems };
}

const recordIn = ({ text }: StoredText): AccessRecord | undefined => storedAccessRecord.safeParse(jsonIn(text)).data;

/** The ids of the records of a subject, cached for the most recent subjects. */
function recordIds(logs: LogAudit): (subject: string) => Promise<ReadonlySet<string>> {
  const kept = new LRUCache<string, Promise<ReadonlySet<string>>>({ max: mostSubjectsKept });
  const read = async (subject: string) =>
    new Set((await logs.stored(stream, subject)).flatMap((message) => recordIn(message)?.id ?? []));
  return (subject) => {
    const known = kept.get(subject) ?? read(subject);
    kept.set(subject, known);
    return known;
  };
}
