import { setTimeout as delay } from 'node:timers/promises';
import pino from 'pino';
import { taskDispatcher } from '#services/orchestrator/dispatcher.ts';
import { activeJob } from '#services/orchestrator/job-registry.ts';
import { workerPool } from '#services/orchestrator/worker-pool.ts';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import type { FactOf } from '#shared/contracts/export-facts.ts';
import type { PresenceReport, RenderTask } from '#shared/contracts/export-tasks.ts';
import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { leadingOrchestrator } from '../../support/leading-orchestrator.ts';
import { exportCommit, exportState } from '../../support/make-commit.ts';
import { startTestBus, type TestBus } from '../../support/start-bus.ts';
import { testObjectStore } from '../../support/test-object-store.ts';
import { measureEndedJobs } from './ended-jobs.ts';
import { type Bench, type Measurement, medianOf, ratio, shown, table, temporaryFolder } from './measurement.ts';
import { storeActive } from './store-active.ts';

/** Numbers of jobs, few and many: the cost of a fact must be the same. */
const cases = [
  { jobs: 100, organizations: 50 },
  { jobs: 10_000, organizations: 1_000 },
];
const renderers = 50;
const slotsEach = 8;
/** Number of chunks, so that no job runs out of chunks during the measurement. */
const chunkCount = 300;
/** Number of facts for the dispatcher alone, which handles many thousands a second. */
const measuredFacts = 20_000;
/** Time in which a simulated slot renders a chunk: the whole pool renders four hundred a second. */
const renderMs = 1_000;
const warmUpMs = 3_000;
const measuredMs = 10_000;

type Pace = { factsPerSecond: number; cpuMs: number };

/** Facts per second with few and with many active jobs, of the dispatcher alone and of the whole orchestrator over a real bus. */
export const scale: Measurement = {
  name: 'scale',
  about: 'facts/s with 10,000 active jobs of 1,000 organizations, against 100 jobs; what ended jobs cost',
  async run(bench) {
    const version = await rendererVersion();
    type Part = { name: string; firstRun: number; measure: (jobs: ExportJobState[]) => Promise<Pace> };
    const parts: Part[] = [
      // The first run compiles and is not counted.
      { name: 'dispatcher alone', firstRun: -1, measure: (jobs) => dispatcherPace(jobs, version) },
      { name: 'whole orchestrator', firstRun: 0, measure: (jobs) => orchestratorPace(bench, jobs, version) },
    ];
    const rows: string[][] = [];
    for (const { name, firstRun, measure } of parts) {
      const paces = cases.map((): Pace[] => []);
      // Alternating runs, so that other load of the machine affects both equally.
      for (let run = firstRun; run < bench.runs; run += 1) {
        for (const [at, { jobs, organizations }] of cases.entries()) {
          bench.progress(`${name}, ${shown(jobs)} active jobs`);
          const pace = await measure(activeStates(jobs, organizations, version));
          if (run >= 0) paces[at]?.push(pace);
        }
      }
      const medians = paces.map((all) => ({
        rate: medianOf(all.map(({ factsPerSecond }) => factsPerSecond)),
        cpuMs: medianOf(all.map(({ cpuMs }) => cpuMs)),
      }));
      rows.push(
        ...medians.map(({ rate, cpuMs }, at) => [
          `${name}, ${shown(cases[at]?.jobs)} jobs of ${shown(cases[at]?.organizations)} organizations`,
          ...[shown(rate), ratio(rate, medians[0]?.rate), shown(cpuMs), ratio(cpuMs, medians[0]?.cpuMs)],
        ]),
      );
    }
    bench.print(`Facts of ${renderers * slotsEach} simulated slots; medians of ${bench.runs}\n`);
    bench.print(table(['', 'facts/s', 'to fewer jobs', 'CPU ms/fact', 'to fewer jobs'], rows));
    bench.print('  Dispatcher alone: folds a fact, frees its credit, dispatches the next task.');
    bench.print(
      '  Whole orchestrator: facts, decisions, commits and tasks over nats-server. Its processor time includes the simulated renderers.\n',
    );
    await measureEndedJobs(bench, bench.endedJobs);
  },
};

/** Starts counting facts, with wall-clock and processor time of this process. */
function stopwatch(): (facts: number) => Pace {
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  return (facts) => {
    const { user, system } = process.cpuUsage(cpu);
    return {
      factsPerSecond: facts / ((performance.now() - startedAt) / 1_000),
      cpuMs: (user + system) / 1_000 / facts,
    };
  };
}

function activeStates(jobs: number, organizations: number, version: string): ExportJobState[] {
  return Array.from({ length: jobs }, (_, at) =>
    exportState({
      jobId: `se_${String(at).padStart(22, '0')}`,
      organization: `org-${at % organizations}`,
      createdAt: new Date().toISOString(),
      phase: 'rendering',
      planHash: '0'.repeat(64),
      rendererVersion: version,
      chunkCount,
      pageTotal: chunkCount * 10,
    }),
  );
}

const reportOf = (renderer: number, version: string): PresenceReport => ({
  service: 'page-renderer',
  instance: `renderer-${renderer}`,
  time: new Date().toISOString(),
  rendererVersion: version,
  slots: slotsEach,
  freeSlots: 0,
  tasks: [],
  draining: false,
});

async function dispatcherPace(states: readonly ExportJobState[], version: string): Promise<Pace> {
  const out: RenderTask[] = [];
  const pool = workerPool(systemClock);
  const announce = () => {
    for (let at = 0; at < renderers; at += 1) pool.heard(reportOf(at, version));
  };
  announce();
  const dispatcher = taskDispatcher({
    bus: {
      tasks: {
        submit: async (task) => {
          if (task.kind !== 'bundle') out.push(task);
        },
      },
      withdrawals: { withdraw: () => {}, watch: () => () => {} },
    },
    renderers: pool,
    bundlers: workerPool(systemClock),
    logger: pino({ level: 'silent' }),
  });
  for (const state of states) dispatcher.changed(activeJob({ commit: exportCommit(state), sequence: 1 }));
  await dispatcher.handOut();
  const pace = stopwatch();
  for (const [at, task] of out.entries()) {
    if (at === measuredFacts) break;
    if (task.kind !== 'chunk') continue;
    dispatcher.reported(task.jobId, task.chunk, task.attempt);
    await dispatcher.handOut();
    // Presence is reported about as often as by real renderers at this pace, and before they count as gone.
    if (at % 1_000 === 0) announce();
  }
  return pace(measuredFacts);
}

function orchestratorPace(bench: Bench, states: readonly ExportJobState[], version: string): Promise<Pace> {
  return bench.using(startTestBus({ rendererVersions: [version] }), (bus) =>
    bench.using(temporaryFolder(), async ({ path }) => {
      await storeActive(bus, states);
      const harness = { bus, objectStore: testObjectStore(path) };
      return bench.using(startSimulatedRenderers(bus, version), (simulated) =>
        bench.using(leadingOrchestrator(harness), async ({ whenSaid }) => {
          await whenSaid('took over the active jobs');
          return simulated.pace();
        }),
      );
    }),
  );
}

/** Simulated renderers that wait and then report each chunk as rendered. */
async function startSimulatedRenderers(bus: TestBus, version: string) {
  const connection = await bus.connect('page-renderer', 'simulated');
  const stop = new AbortController();
  const announcements = Array.from({ length: renderers }, (_, at) =>
    connection.presence.announce(() => reportOf(at, version)),
  );
  const tasks = await connection.renderTasks(version);
  let facts = 0;
  const render = async ({ organization, jobId, ...task }: RenderTask): Promise<void> => {
    if (task.kind !== 'chunk') return;
    await delay(renderMs);
    const fact: FactOf<'ChunkRendered'> = {
      ...{ type: 'ChunkRendered', version: 1, id: randomBase62(22), source: 'page-renderer-simulated' },
      ...{ time: new Date().toISOString(), organization, jobId },
      data: { chunk: task.chunk, attempt: task.attempt, pageCount: 10, reused: false, durationMs: 100 },
    };
    await connection.facts.record(fact);
    facts += 1;
  };
  const slot = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const delivery = await tasks.next({ signal: stop.signal });
      if (delivery?.value === undefined) continue;
      await render(delivery.value);
      // On an overloaded machine the task is redelivered, as in the real pool.
      await delivery.ack().catch(() => {});
    }
  };
  const working = Promise.all(Array.from({ length: renderers * slotsEach }, slot));
  return {
    async pace(): Promise<Pace> {
      await delay(warmUpMs);
      const [before, pace] = [facts, stopwatch()];
      await delay(measuredMs);
      return pace(facts - before);
    },
    async stop(): Promise<void> {
      stop.abort();
      for (const announcement of announcements) announcement.stop();
      await working;
    },
  };
}
