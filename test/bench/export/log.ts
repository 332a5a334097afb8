import { jetstream, type JetStreamClient } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { exportJobAggregate, type ExportCommit, type ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import type { StoredCommit } from '#shared/messaging/log/event-log.ts';
import { inboxPrefix } from '#shared/messaging/subjects/permissions.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { startTestBus } from '../../support/start-bus.ts';
import { exportRequested } from '../../support/make-commit.ts';
import { type Measurement, medianOf, ratio, shown, table } from './measurement.ts';

type Append = (jobId: string) => Promise<() => Promise<unknown>>;

const organization = 'bench';
const measuredMs = 1_500;
const actor = { kind: 'service' as const, id: 'orchestrator' };

/** Guarded appends of export commits, as the orchestrator makes them, compared with the bare client with the same guard on the same server. */
export const log: Measurement = {
  name: 'log',
  about: 'appends/s of the event log, against the bare client',
  run: (bench) =>
    bench.using(startTestBus(), async (bus) => {
      const ours = await bus.connect('orchestrator');
      const connection = await connect({
        servers: bus.server.url,
        user: 'orchestrator',
        pass: bus.passwords['orchestrator'] ?? '',
        inboxPrefix: inboxPrefix('orchestrator'),
      });
      const ways: Record<string, Append> = {
        'bare client': bareAppends(jetstream(connection)),
        'event log, same commit body': preparedAppends(ours),
        'event log, as the orchestrator': decidedAppends(ours),
      };
      const rows: string[][] = [];
      for (const inFlight of [1, 32]) {
        const rates = new Map<string, number[]>(Object.keys(ways).map((way) => [way, []]));
        for (let run = -1; run < bench.runs; run += 1) {
          for (const [way, append] of Object.entries(ways)) {
            const rate = await appendsPerSecond(append, inFlight);
            if (run >= 0) rates.get(way)?.push(rate);
          }
        }
        const bare = medianOf(rates.get('bare client') ?? []);
        for (const [way, all] of rates) {
          rows.push([`${way}, ${inFlight} in flight`, shown(medianOf(all)), ratio(medianOf(all), bare)]);
        }
      }
      await connection.close();
      bench.print(`Appends, each on the disk before it is acknowledged; medians of ${bench.runs}\n`);
      bench.print(table(['', 'appends/s', 'to the bare client'], rows));
      bench.print(
        '  In flight: number of jobs that each append one commit after the other. As the orchestrator: including `evolve` and hashing.',
      );
    }),
};

async function appendsPerSecond(append: Append, inFlight: number): Promise<number> {
  const jobs = await Promise.all(Array.from({ length: inFlight }, () => append(`se_${randomBase62(22)}`)));
  const startedAt = performance.now();
  let count = 0;
  await Promise.all(
    jobs.map(async (next) => {
      while (performance.now() - startedAt < measuredMs) {
        await next();
        count += 1;
      }
    }),
  );
  return count / ((performance.now() - startedAt) / 1_000);
}

/** Every append is a decision on the previous commit. */
function decidedAppends(bus: BusOf<'orchestrator'>): Append {
  return async (jobId) => {
    let chunk = 0;
    let stored = await bus.exports.append(commitAfter(undefined, jobId, begun(jobId)), { sequence: 0 });
    return async () => {
      stored = await bus.exports.append(commitAfter(stored, jobId, [rendered(chunk)]), { sequence: stored.sequence });
      chunk = (chunk + 1) % 100;
    };
  };
}

/** Appends a prepared commit, with a new id each time. */
function preparedAppends(bus: BusOf<'orchestrator'>): Append {
  return async (jobId) => {
    const first = await bus.exports.append(commitAfter(undefined, jobId, begun(jobId)), { sequence: 0 });
    const commit = commitAfter(first, jobId, [rendered(1)]);
    let { sequence } = first;
    return async () => {
      ({ sequence } = await bus.exports.append({ ...commit, id: `ec_${randomBase62(22)}` }, { sequence }));
    };
  };
}

/** Publishes the same bytes and headers with the bare client. */
function bareAppends(js: JetStreamClient): Append {
  return async (jobId) => {
    const subject = exportLogSubject(organization, jobId);
    const first = commitAfter(undefined, jobId, begun(jobId));
    const body = JSON.stringify(commitAfter({ commit: first, sequence: 1 }, jobId, [rendered(1)]));
    let lastSubjectSequence = 0;
    return async () => {
      const msgID = `${subject}:ec_${randomBase62(22)}`;
      lastSubjectSequence = (await js.publish(subject, body, { msgID, expect: { lastSubjectSequence } })).seq;
    };
  };
}

function commitAfter(
  previous: StoredCommit<ExportCommit> | undefined,
  jobId: string,
  events: ExportEvent[],
): ExportCommit {
  const time = new Date();
  const at = { time: time.toISOString(), actor };
  const [first, ...rest] = events;
  if (first === undefined) throw new Error('The commit has no events.');
  const initial = exportJobAggregate.evolve(previous?.commit.data.state, first, at);
  const state = rest.reduce((before, event) => exportJobAggregate.evolve(before, event, at), initial);
  return nextCommit(exportLogSubject(organization, jobId), previous, events, state, {
    id: `ec_${randomBase62(22)}`,
    source: 'bench',
    actor,
    time,
    causationId: 'bench',
    correlationId: 'bench',
  });
}

const begun = (jobId: string): ExportEvent[] => [exportRequested({ jobId, organization }), planned];

const planned: ExportEvent = {
  type: 'PagesPlanned',
  version: 1,
  data: { planHash: '1'.repeat(64), rendererVersion: 'r-000000000000', chunkCount: 100, pageTotal: 1_000 },
};

const rendered = (chunk: number): ExportEvent => ({
  type: 'ChunkRendered',
  version: 1,
  data: { chunk, pageCount: 10, attempt: 1, renderer: 'page-renderer-12345678', reused: false, durationMs: 120 },
});
