import {
  type ExportCommit,
  type ExportEvent,
  exportJobAggregate,
  type ExportJobState,
} from '#shared/aggregates/export-job/export-job.ts';
import type { HistoryEntry } from '#shared/interfaces/http/exports.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import type { EventLog } from '#shared/messaging/log/event-log.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { exportRequested } from './make-commit.ts';

/** An example job: two renderers of two slots each, the death of one renderer, a retry, a lost segment. */
export const exampleStart = '2026-03-01T10:00:00.000Z';

const lively = 'page-renderer-Qm4t8Zk1';
const doomed = 'page-renderer-x7Rr02Ld';
const sha256 = 'c0ffee'.repeat(11).slice(0, 64);
const pageTotal = 420;

/** Events of one decision, with its time in milliseconds after the request. */
type Decision = [atMs: number, ...events: ExportEvent[]];

const rendered = (
  chunk: number,
  renderer: string,
  durationMs: number,
  more: { attempt?: number; reused?: boolean } = {},
): ExportEvent => ({
  type: 'ChunkRendered',
  version: 1,
  data: { chunk, pageCount: chunk < 2 ? 0 : 20, attempt: 1, renderer, reused: false, durationMs, ...more },
});

const decisions: Decision[] = [
  [
    0,
    exportRequested({
      jobId: 'se_7k2Qw9XzLmN4pRtV8sYb3D',
      domain: 'acme',
      contentVersion: `cv_${'4fd21a90'.repeat(4)}`,
      label: 'v2',
    }),
  ],
  [
    310,
    {
      type: 'PagesPlanned',
      version: 1,
      data: { planHash: sha256, rendererVersion: 'r-0a1b2c3d4e5f', chunkCount: 23, pageTotal },
    },
  ],
  [
    620,
    rendered(1, lively, 40),
    rendered(2, doomed, 9, { reused: true }),
    rendered(3, doomed, 8, { reused: true }),
    rendered(0, lively, 190),
  ],
  [790, rendered(4, doomed, 150), rendered(5, lively, 130)],
  [930, rendered(6, lively, 240)],
  [1_010, rendered(8, lively, 190)],
  [
    1_100,
    {
      type: 'ChunkFailed',
      version: 1,
      data: {
        chunk: 9,
        attempt: 1,
        renderer: lively,
        cause: 'renderer',
        reason: 'its process ended with signal SIGKILL',
        failedPages: [],
      },
    },
  ],
  [1_240, rendered(10, lively, 220)],
  [1_330, rendered(9, lively, 210, { attempt: 2 })],
  [1_420, rendered(11, lively, 160)],
  [1_590, rendered(12, lively, 230), rendered(13, lively, 160)],
  [1_780, rendered(14, lively, 180), rendered(15, lively, 170)],
  [1_930, rendered(16, lively, 140)],
  [2_050, rendered(17, lively, 250), rendered(18, lively, 110)],
  [2_240, rendered(19, lively, 180), rendered(20, lively, 170)],
  [2_410, rendered(21, lively, 150), rendered(22, lively, 160)],
  [3_400, { type: 'ChunkTimedOut', version: 1, data: { chunk: 7, attempt: 1 } }],
  [
    3_640,
    rendered(7, lively, 220, { attempt: 2 }),
    { type: 'RenderingFinished', version: 1, data: { pageCount: pageTotal } },
  ],
  [
    4_000,
    {
      type: 'ClosingRendered',
      version: 1,
      data: { attempt: 1, renderer: lively, reused: false, manifestSha256: sha256 },
    },
  ],
  [
    4_180,
    {
      type: 'SegmentLost',
      version: 1,
      data: { chunk: 16, reason: 'its digest is not that of its sidecar', pageCount: 20 },
    },
  ],
  [4_380, rendered(16, lively, 150), { type: 'RenderingFinished', version: 1, data: { pageCount: pageTotal } }],
  [
    4_500,
    {
      type: 'ClosingRendered',
      version: 1,
      data: { attempt: 1, renderer: lively, reused: true, manifestSha256: sha256 },
    },
  ],
  [
    4_790,
    {
      type: 'ExportCompleted',
      version: 1,
      data: { bundleKey: 'bundles/acme/acme/x.tar.gz', sizeBytes: 6_412_377, sha256, manifestSha256: sha256 },
    },
  ],
];

/** The example's history as the public interface shows it, up to a given time. */
export function exampleHistory(untilMs = Number.POSITIVE_INFINITY): HistoryEntry[] {
  return historyOf(decisions.filter(([atMs]) => atMs <= untilMs));
}

/** The example's request and plan, then the events of a test. */
export function historyAfterPlan(...later: Decision[]): HistoryEntry[] {
  return historyOf([...decisions.slice(0, 2), ...later]);
}

function historyOf(chosen: readonly Decision[]): HistoryEntry[] {
  return chosen.flatMap(([atMs, ...events], index) =>
    events.map(({ type, version, data }) => {
      const { requestDigest: _, bundleKey: __, ...shown } = { requestDigest: '', bundleKey: '', ...data };
      return {
        revision: index + 1,
        type,
        version,
        time: new Date(Date.parse(exampleStart) + atMs).toISOString(),
        actor: index === 0 ? { kind: 'key', id: 'key_0000000000000001' } : { kind: 'service', id: 'orchestrator' },
        data: JSON.parse(JSON.stringify(shown)),
      };
    }),
  );
}

/** Stores the example as a job of an organization: all decisions that are not stored yet, up to a given time after the request. */
export async function storeExample(
  log: Pick<EventLog<ExportCommit>, 'last' | 'append'>,
  job: { organization: string; jobId: string; domain: string },
  untilMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  const subject = exportLogSubject(job.organization, job.jobId);
  for (const [index, [atMs, ...events]] of decisions.entries()) {
    const previous = await log.last(subject);
    if (atMs > untilMs || index < (previous?.commit.revision ?? 0)) continue;
    const time = new Date(Date.parse(exampleStart) + atMs);
    const actor = { kind: 'service', id: 'orchestrator' } as const;
    const own = events.map((event) =>
      event.type === 'ExportRequested' ? { ...event, data: { ...event.data, ...job } } : event,
    );
    const state = own.reduce<ExportJobState | undefined>(
      (before, event) => exportJobAggregate.evolve(before, event, { time: time.toISOString(), actor }),
      previous?.commit.data.state,
    );
    if (state === undefined) throw new Error('a job begins with its request');
    const origin = { source: 'test', actor, time, causationId: 'test', correlationId: 'test' };
    const commit = nextCommit(subject, previous, own, state, { id: `${job.jobId}-${index}`, ...origin });
    await log.append(commit, { sequence: previous?.sequence ?? 0 });
  }
}
