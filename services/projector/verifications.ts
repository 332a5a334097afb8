import { randomUUID } from 'node:crypto';
import type { Actor } from '#shared/contracts/commit.ts';
import { mostListed, type Verification, type VerifiedStream } from '#shared/interfaces/http/verification.ts';
import { type VerificationDocument, verificationKey } from '#shared/interfaces/read-models.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import type { ChainProblem } from '#shared/messaging/log/commit-chain.ts';
import { accessSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { LogAudit } from '#shared/messaging/verify/log-audit.ts';
import { type AuditScope, verifiedLogs } from '#shared/messaging/verify/verified-logs.ts';
import { type Audit, type StreamReport, verifyLogs } from '#shared/messaging/verify/verify-logs.ts';
import { sha256OfJson } from '#shared/runtime/canonical-json.ts';
import { Conflict, messageOf } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { type Clock, hourMs } from '#shared/runtime/time-and-ids.ts';

export type VerificationParts = {
  bus: Pick<BusOf<'projector'>, 'readModels' | 'verifications'>;
  objectStore: Audit['objectStore'];
  /** Opens the logs for one verification, on a connection of its own, so that reading them does not delay the projections. */
  openLogs: () => Promise<LogAudit>;
  auditKey: string;
  clock: Clock;
  logger: Logger;
  /** Aborts when the service stops. */
  stopping: AbortSignal;
  /** Interval at which a running verification renews its mark, in milliseconds; 2,000 by default. */
  beatMs?: number;
};

type Scope = { organization?: string | undefined };

export type Verifications = {
  read(scope: Scope): Promise<Verification>;
  /**
   * Starts the verification of logs, and resolves when it is recorded. It changes nothing while one of the same logs runs, in whichever projector, or, unless
   * `again`, if the result of the last hour is about the same messages.
   */
  start(scope: Scope, by: { askedBy: Actor; again: boolean }): Promise<Verification>;
  /** Resolves when no verification runs in this process. */
  idle(): Promise<void>;
};

/** Age of the mark of a running verification after which its process counts as dead. */
const deadAfterMs = 60_000;
/** A verification is in memory beside the projections. */
const historiesAtOnce = 2;
const mostAttempts = 5;
const longestMessage = 500;

/** Verifications of logs with the audit key, one after the other. Their states and results are in the bucket `verifications`, for all copies of the service. */
export function verifications(parts: VerificationParts): Verifications {
  const { bus, openLogs, clock, logger, stopping } = parts;
  const store = bus.verifications;
  let last: Promise<unknown> = Promise.resolve();

  /** Age of a time. If the clock was set back, or another machine's clock is ahead, a time in the future counts as equally old. */
  const ageMs = (time: string): number => Math.abs(clock.now().getTime() - Date.parse(time));

  const isAlive = ({ running }: VerificationDocument): boolean =>
    running !== undefined && ageMs(running.beatAt) < deadAfterMs;

  /** The run of a dead process is shown as failed. */
  function shown({ organization }: Scope, document: VerificationDocument = {}): Verification {
    const { running, failed, result } = document;
    const isDead = running !== undefined && !isAlive(document);
    const died = isDead && {
      ...{ askedAt: running.askedAt, askedBy: running.askedBy, failedAt: running.beatAt },
      reason: 'The projector that verified the logs has ended.',
    };
    const { id: _, beatAt: __, ...run } = running ?? {};
    const { head: ___, ...found } = result ?? {};
    return {
      ...(organization !== undefined && { organization }),
      ...(running !== undefined && !isDead && { running: run as Verification['running'] }),
      ...(died ? { failed: died } : failed !== undefined && { failed }),
      ...(result !== undefined && { result: found as Verification['result'] }),
    };
  }

  return {
    async read(scope) {
      const stored = await store.get(verificationKey(scope.organization), { fromLeader: true });
      return shown(scope, stored?.document);
    },

    async start(scope, { askedBy, again }) {
      const key = verificationKey(scope.organization);
      const head = await headOf(openLogs, scope);
      for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
        const stored = await store.get(key, { fromLeader: true });
        const { result } = stored?.document ?? {};
        if (stored !== undefined && isAlive(stored.document)) return shown(scope, stored.document);
        const isKnown = result !== undefined && result.head === head && ageMs(result.finishedAt) < hourMs && !again;
        if (isKnown) return shown(scope, { result });
        const at = clock.now().toISOString();
        const running = { state: 'waiting', id: randomUUID(), askedAt: at, askedBy, beatAt: at } as const;
        const document: VerificationDocument = { running, ...(result !== undefined && { result }) };
        const revision = await store.put(key, document, { expectedRevision: stored?.revision ?? 0 });
        if (revision === undefined) continue;
        const turn = last;
        last = verifyInTurn(parts, { scope, key, head }, turn, { document, revision }).catch((error: unknown) => {
          if (!stopping.aborted) logger.error({ err: error, ...scope }, 'the outcome of a verification was not stored');
        });
        return shown(scope, document);
      }
      throw new Conflict('Others start the same verification.');
    },

    async idle() {
      await last;
    },
  };
}

/** A digest of the messages that a verification is about: the subjects with their number of messages. */
async function headOf(openLogs: VerificationParts['openLogs'], scope: Scope): Promise<string> {
  const logs = await openLogs();
  try {
    const filters = verifiedLogs.flatMap((kind) => {
      const subjects = kind.filter(scopeOf(scope));
      return subjects === undefined ? [] : [[kind.stream, subjects] as const];
    });
    const all = [...filters, ['ACCESS', accessSubject(scope.organization ?? '*', '*')] as const];
    return sha256OfJson(await Promise.all(all.map(([stream, subjects]) => logs.counts(stream, subjects))));
  } finally {
    await logs.close();
  }
}

const scopeOf = ({ organization }: Scope): AuditScope => (organization === undefined ? {} : { organization });

/** Another process has taken over, because this one did not renew its mark in time. */
class TakenOver extends Conflict {
  override name = 'TakenOver';
}

type Recorded = { document: VerificationDocument; revision: number };

/** Verifies logs after `turn`, and records the progress and the outcome. Rejects if they cannot be stored. */
async function verifyInTurn(
  { bus, objectStore, openLogs, auditKey, clock, logger, stopping, beatMs = 2_000 }: VerificationParts,
  { scope, key, head }: { scope: Scope; key: string; head: string },
  turn: Promise<unknown>,
  recorded: Recorded,
): Promise<void> {
  const { running: begun, result } = recorded.document;
  if (begun === undefined) throw new Error('A verification is recorded before it runs.');
  const { id: _, beatAt: __, ...asked } = begun;
  const askedFor = { askedAt: asked.askedAt, askedBy: asked.askedBy };
  let running = begun;
  let { revision } = recorded;
  let saving: Promise<unknown> = Promise.resolve();
  const end = new AbortController();
  const signal = AbortSignal.any([stopping, end.signal]);

  const save = (document: VerificationDocument): Promise<void> => {
    const before = saving;
    const put = async () => {
      await before;
      const written = await bus.verifications.put(key, document, { expectedRevision: revision });
      if (written === undefined) throw new TakenOver('Another projector verifies these logs.');
      revision = written;
    };
    const saved = put();
    saving = saved.catch(() => {});
    return saved;
  };
  const beat = () => {
    running = { ...running, beatAt: clock.now().toISOString() };
    return save({ running, ...(result !== undefined && { result }) });
  };
  const timer = setInterval(() => {
    // An outage of the bus may pass; the mark is renewed with the next beat.
    beat().catch((error: unknown) => error instanceof TakenOver && end.abort(error));
  }, beatMs);

  let outcome: VerificationDocument;
  try {
    await Promise.race([turn, aborted(signal)]);
    signal.throwIfAborted();
    const startedAt = clock.now().toISOString();
    running = { ...running, state: 'running', startedAt };
    await beat();
    const logs = await openLogs();
    try {
      const audit: Audit = {
        logs,
        objectStore,
        models: bus.readModels,
        anchors: { auditKey },
        historiesAtOnce,
        signal,
      };
      const reports = await verifyLogs(audit, scopeOf(scope), (stream, histories) => {
        running = { ...running, stream, histories };
      });
      const problemCount = reports.reduce((sum, { problems }) => sum + problems.length, 0);
      const finishedAt = clock.now().toISOString();
      const streams = reports.map(verifiedStream);
      outcome = {
        result: { ...askedFor, startedAt, finishedAt, whole: problemCount === 0, problemCount, streams, head },
      };
    } finally {
      await logs.close();
    }
  } catch (error) {
    if (error instanceof TakenOver) return;
    if (!stopping.aborted) logger.error({ err: error, ...scope }, 'a verification of logs ended without a result');
    const reason = stopping.aborted ? 'The projector that verified the logs was stopped.' : messageOf(error);
    const failed = { ...askedFor, failedAt: clock.now().toISOString(), reason: cut(reason) };
    outcome = { failed, ...(result !== undefined && { result }) };
  } finally {
    clearInterval(timer);
  }
  await save(outcome);
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

const cut = (text: string): string => (text.length <= longestMessage ? text : `${text.slice(0, longestMessage - 1)}…`);

/** A report with its lists cut to what a document of the bus holds. Pure. */
function verifiedStream({ stream, historyCount, commitCount, anchorCount, ...report }: StreamReport): VerifiedStream {
  const { first, last, problems, heads, headsSha256 } = report;
  return {
    stream,
    ...{ histories: historyCount, commits: commitCount, anchored: anchorCount },
    ...(first !== undefined && { first }),
    ...(last !== undefined && { last }),
    problemCount: problems.length,
    problems: problems.slice(0, mostListed).map((each: ChainProblem) => ({ ...each, message: cut(each.message) })),
    headsSha256,
    headCount: heads.length,
    heads: heads.slice(0, mostListed),
  };
}
