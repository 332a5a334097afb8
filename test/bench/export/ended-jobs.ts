import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { listJobs } from '#services/gateway/exports/list-jobs.ts';
import { exportJobAggregate, type ExportCommit, type ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import { type JobListEntry, jobStatusKey, listDaysKey, listPartKey } from '#shared/interfaces/read-models.ts';
import { type ArchivedJob, archivedJobKey } from '#shared/contracts/stored-objects.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import type { StoredCommit } from '#shared/messaging/log/event-log.ts';
import { openLogAudit } from '#shared/messaging/nats/log-audit.ts';
import { inboxPrefix } from '#shared/messaging/subjects/permissions.ts';
import { directoryLogSubject, exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { verifyLogs } from '#shared/messaging/verify/verify-logs.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { leadingOrchestrator } from '../../support/leading-orchestrator.ts';
import { exportRequested, exportState } from '../../support/make-commit.ts';
import { startTestBus, type TestBus } from '../../support/start-bus.ts';
import { runCommand } from '../../support/start-installation.ts';
import { testObjectStore } from '../../support/test-object-store.ts';
import { type Bench, medianOf, ratio, shown, table, temporaryFolder } from './measurement.ts';
import { residentBytes } from './process-usage.ts';
import { storeActive } from './store-active.ts';

const organizations = 100;
const listedJobs = 20;
/** The smaller number, just enough to fill the lists. */
const referenceJobs = 2 * organizations * listedJobs;
/** Retention of ended jobs in the log, in days. */
const daysInLog = 30;
const partSize = 250;
const activeJobs = 100;
const listsAtOnce = 16;
const listedMs = 5_000;
/** Number of publications after which one waits for its acknowledgement, limited by the server's buffers. */
const published = 500;

type Figures = {
  takeOverMs: number;
  serverBytes: number;
  listsPerSecond: number;
  verifyMs: number;
  archivedMs: number;
  aloneMs: number;
};

/** Cost of ended jobs for later ones: half of them are in the log and in the read models, half in the archive. */
export async function measureEndedJobs(bench: Bench, jobs: number): Promise<void> {
  const reference = await figuresOf(bench, referenceJobs);
  const figures = await figuresOf(bench, jobs);
  const row = (what: string, of: (figures: Figures) => number | undefined) => {
    return [what, shown(of(reference)), shown(of(figures)), ratio(of(figures), of(reference))];
  };
  const perJob = (figures.serverBytes - reference.serverBytes) / ((jobs - referenceJobs) / 2);
  bench.print(`Ended jobs of ${organizations} organizations, half in the log and half in the archive\n`);
  bench.print(
    table(
      ['', `${shown(referenceJobs)} jobs`, `${shown(jobs)} jobs`, 'ratio'],
      [
        row(`seconds until a new leader has taken over ${activeJobs} active jobs`, (all) => all.takeOverMs / 1_000),
        row(`lists of ${listedJobs} jobs per second`, (all) => all.listsPerSecond),
        row('seconds of `audit verify --job`, in the log', (all) => all.verifyMs / 1_000),
        row('seconds of `audit verify --job`, in the archive', (all) => all.archivedMs / 1_000),
        row('the same without the start of a process', (all) => all.aloneMs / 1_000),
        row('memory of nats-server in MB', (all) => all.serverBytes / 1e6),
      ],
    ),
  );
  bench.print(
    `  nats-server keeps ${shown(perJob)} bytes for each job in the log, with its documents of the read models.`,
  );
  bench.print(
    '  Lists: the handler of the route over a real bus. `audit verify`: the command, with the start of its process.',
  );
}

function figuresOf(bench: Bench, jobs: number): Promise<Figures> {
  return bench.using(startTestBus({ syncsLater: true }), (bus) =>
    bench.using(temporaryFolder(), async ({ path }) => {
      const made = await makeEnded(bench, bus, path, jobs);
      bench.progress(`measuring beside ${shown(jobs)} ended jobs`);
      // The restart frees memory from making the jobs, so that only the memory for the stored jobs is measured.
      await bus.server.restart();
      const gateway = await bus.connect('gateway');
      const harness = { bus, objectStore: testObjectStore(path) };
      const takeOvers: number[] = [];
      const verifies: number[] = [];
      const archived: number[] = [];
      const alone: number[] = [];
      const auditor = await bus.connect('auditor');
      const logs = await openLogAudit({
        url: bus.server.url,
        user: 'auditor',
        password: bus.passwords.auditor ?? '',
      });
      for (let run = 0; run < bench.runs; run += 1) {
        const startedAt = performance.now();
        await bench.using(leadingOrchestrator(harness), async ({ whenSaid }) => {
          await whenSaid('took over the active jobs');
          takeOvers.push(performance.now() - startedAt);
        });
        verifies.push(await verifyMs(bus, path, made.inLog));
        archived.push(await verifyMs(bus, path, made.inArchive));
        const verifiesAt = performance.now();
        await verifyLogs(
          { logs, objectStore: harness.objectStore, models: auditor.readModels },
          { job: made.inArchive },
        );
        alone.push(performance.now() - verifiesAt);
      }
      await logs.close();
      const listsPerSecond = await listPace((at) =>
        listJobs({ bus: gateway }, organizationAt(at), { domain: undefined, limit: listedJobs }),
      );
      return {
        takeOverMs: medianOf(takeOvers) ?? Number.NaN,
        verifyMs: medianOf(verifies) ?? Number.NaN,
        archivedMs: medianOf(archived) ?? Number.NaN,
        aloneMs: medianOf(alone) ?? Number.NaN,
        listsPerSecond,
        serverBytes: residentBytes(bus.server.pid) ?? Number.NaN,
      };
    }),
  );
}

async function listPace(list: (at: number) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  await inParallel(Array.from({ length: listsAtOnce }), listsAtOnce, async (_, slot) => {
    for (let at = slot; performance.now() - startedAt < listedMs; at += listsAtOnce) {
      await list(at);
      count += 1;
    }
  });
  return count / ((performance.now() - startedAt) / 1_000);
}

async function verifyMs(bus: TestBus, folder: string, jobId: string): Promise<number> {
  const startedAt = performance.now();
  const { code, stdout, stderr } = await runCommand(['audit', 'verify', '--job', jobId], {
    BINDERY_NATS_URL: bus.server.url,
    BINDERY_NATS_PASSWORD_AUDITOR: bus.passwords.auditor ?? '',
    BINDERY_OBJECT_FOLDER: folder,
  });
  const tookMs = performance.now() - startedAt;
  if (code !== 0 || !/EXPORTS +1 history, 3 commits/.test(stdout)) {
    throw new Error(`audit verify ended with ${code}: ${stdout}${stderr}`);
  }
  return tookMs;
}

const organizationAt = (at: number): string => `org-${String(at % organizations).padStart(3, '0')}`;
const jobIdAt = (at: number): string => `se_${String(at).padStart(22, '0')}`;
const dayAt = (at: number): string => new Date(Date.now() - at * dayMs).toISOString().slice(0, 10);

/**
 * Makes the jobs as text: copies of one whole history, with other ids and another day in each. Only the two jobs that are verified, one in the log
 * and one in the archive, have correct hashes and sequences.
 */
async function makeEnded(bench: Bench, bus: TestBus, folder: string, jobs: number) {
  const orchestrator = await bus.connect('orchestrator', 'maker');
  const projector = await bus.connect('projector', 'maker');
  const model = { organization: organizationAt(0), jobId: jobIdAt(0), day: dayAt(0) };
  const stored: StoredCommit<ExportCommit>[] = [];
  for (const commit of endedHistory(model)) {
    const { sequence = 0 } = stored.at(-1) ?? {};
    stored.push(await orchestrator.exports.append(commit(stored.at(-1)), { sequence }));
  }
  const last = stored.at(-1)?.commit;
  if (last === undefined) throw new Error('The history of the model is empty.');
  const { revision, id: commitId, time: updatedAt, hash } = last;
  const status = { revision, commitId, updatedAt, hash, state: last.data.state };
  await projector.generations.blue.jobStatus.put(jobStatusKey(model.organization, model.jobId), status);

  const texts = stored.map(({ commit }) => JSON.stringify(commit));
  const asJob = (organization: string, jobId: string, day: string) => (text: string) =>
    text.replaceAll(model.jobId, jobId).replaceAll(model.organization, organization).replaceAll(model.day, day);
  const inLog = jobs / 2;
  const gateway = await connected(bus, 'gateway');
  for (let at = 0; at < organizations; at += 1) gateway.publish(directoryLogSubject(organizationAt(at)), '{}');
  await gateway.drain();

  const listed = new Map<string, JobListEntry[]>();
  await withPipelines(bus, async (logs, models) => {
    for (let at = 1; at < inLog; at += 1) {
      if (at % 50_000 === 0) bench.progress(`made ${shown(at)} of ${shown(inLog)} jobs in the log`);
      const [organization, jobId] = [organizationAt(at), jobIdAt(at)];
      // Jobs are in chronological order, the oldest first.
      const day = dayAt(daysInLog - 1 - Math.floor((at * daysInLog) / inLog));
      const own = asJob(organization, jobId, day);
      for (const text of texts) await logs(exportLogSubject(organization, jobId), own(text));
      await models(`$KV.job-status.${jobStatusKey(organization, jobId)}`, own(JSON.stringify(status)));
      const { createdAt, domain } = last.data.state;
      const key = `${organization} ${day}`;
      const entries = listed.get(key) ?? [];
      listed.set(key, entries);
      entries.push({ jobId, domain, createdAt: own(createdAt), revision, status: 'completed' });
    }
  });
  await storeLists(projector.generations.blue, listed);
  await storeActive(bus, activeStates());
  await catchUp(bus);

  bench.progress(`making ${shown(inLog)} jobs in the archive`);
  const archivedModel = { organization: model.organization, jobId: jobIdAt(inLog), day: dayAt(100) };
  const messages: ArchivedJob['messages'] = [];
  let previous: StoredCommit<ExportCommit> | undefined;
  for (const commit of endedHistory(archivedModel)) {
    const next: ExportCommit = commit(previous);
    previous = { commit: next, sequence: messages.length + 1 };
    messages.push({ sequence: messages.length + 1, text: JSON.stringify(next) });
  }
  await storeArchived(folder, archivedModel, messages, inLog);
  await Promise.all([orchestrator.close(), projector.close()]);
  return { inLog: model.jobId, inArchive: archivedModel.jobId };
}

type Job = { organization: string; jobId: string; day: string };

/** Commits of a request, a plan and an end, in order. */
function endedHistory({ organization, jobId, day }: Job) {
  const bundle = { sizeBytes: 6_412_377, sha256: '2'.repeat(64), manifestSha256: '3'.repeat(64) };
  const events: ExportEvent[] = [
    exportRequested({ organization, jobId }),
    {
      type: 'PagesPlanned',
      version: 1,
      data: { planHash: '1'.repeat(64), rendererVersion: 'r-000000000000', chunkCount: 100, pageTotal: 1_000 },
    },
    { type: 'ExportCompleted', version: 1, data: { bundleKey: `bundles/${organization}/docs/x.tar.gz`, ...bundle } },
  ];
  return events.map((event, at) => (previous: StoredCommit<ExportCommit> | undefined): ExportCommit => {
    const actor = { kind: 'service' as const, id: 'orchestrator' };
    const time = new Date(`${day}T00:00:0${at}.000Z`);
    const state = exportJobAggregate.evolve(previous?.commit.data.state, event, { time: time.toISOString(), actor });
    const origin = {
      id: `ec_${jobId}_${at}`,
      source: 'bench',
      actor,
      time,
      causationId: 'bench',
      correlationId: 'bench',
    };
    return nextCommit(exportLogSubject(organization, jobId), previous, [event], state, origin);
  });
}

const activeStates = () =>
  Array.from({ length: activeJobs }, (_, at) =>
    exportState({
      organization: organizationAt(at),
      jobId: `se_active${String(at).padStart(16, '0')}`,
      createdAt: new Date().toISOString(),
      phase: 'requested',
    }),
  );

async function connected(bus: TestBus, user: string): Promise<NatsConnection> {
  const pass = bus.passwords[user] ?? '';
  return connect({ servers: bus.server.url, user, pass, inboxPrefix: inboxPrefix(user) });
}

type Publish = (subject: string, text: string) => Promise<void>;

/** Publishes without waiting for acknowledgements, except for every nth, which implies that those before it are stored. */
async function withPipelines(bus: TestBus, work: (logs: Publish, models: Publish) => Promise<void>): Promise<void> {
  const connections = await Promise.all([connected(bus, 'orchestrator'), connected(bus, 'projector')]);
  const pipeline = (connection: NatsConnection): Publish => {
    const js = jetstream(connection);
    let count = 0;
    return async (subject, text) => {
      count += 1;
      if (count % published === 0) await js.publish(subject, text);
      else connection.publish(subject, text);
    };
  };
  const [logs, models] = connections.map(pipeline);
  if (logs !== undefined && models !== undefined) await work(logs, models);
  await Promise.all(connections.map((connection) => connection.drain()));
}

type Projector = Awaited<ReturnType<TestBus['connect']>>;

async function storeLists(
  { jobList, jobDays }: Extract<Projector, { generations: unknown }>['generations']['blue'],
  listed: ReadonlyMap<string, JobListEntry[]>,
): Promise<void> {
  const months = new Map<string, Record<string, Record<string, number>>>();
  await inParallel([...listed], 16, async ([key, entries]) => {
    const [organization = '', day = ''] = key.split(' ');
    const partCount = Math.ceil(entries.length / partSize);
    const ofOrganization = months.get(organization) ?? {};
    months.set(organization, ofOrganization);
    (ofOrganization[day.slice(0, 7)] ??= {})[day.slice(8)] = partCount;
    for (let part = 0; part < partCount; part += 1) {
      const ofPart = entries.slice(part * partSize, (part + 1) * partSize);
      await jobList.put(listPartKey(organization, day, part), { entries: ofPart });
    }
  });
  for (const [organization, of] of months) await jobDays.put(listDaysKey(organization), { months: of });
}

/** The previous orchestrator has read everything, so a new one begins at the end. */
async function catchUp(bus: TestBus): Promise<void> {
  const connection = await connected(bus, 'orchestrator');
  const consumer = await jetstream(connection).consumers.get('EXPORTS', 'orchestrator-exports');
  for (;;) {
    let pending = 0;
    const batch = await consumer.fetch({ max_messages: 1_000, expires: 2_000 });
    for await (const message of batch) {
      message.ack();
      pending = message.info.pending;
    }
    await connection.flush();
    if (pending === 0) break;
  }
  await connection.close();
}

/** Writes one archived job through the store, and the others as copies of its file. */
async function storeArchived(
  folder: string,
  model: Job,
  messages: ArchivedJob['messages'],
  jobs: number,
): Promise<void> {
  const subject = exportLogSubject(model.organization, model.jobId);
  const body: ArchivedJob = { version: 1, subject, messages };
  const metadata = {
    'ended-at': `${model.day}T00:00:02.000Z`,
    domain: 'docs',
    'content-version': `cv_${'1'.repeat(32)}`,
  };
  const key = archivedJobKey(model.organization, model.jobId);
  const object = Buffer.from(JSON.stringify(body));
  await testObjectStore(folder).put(key, object, { contentType: 'application/json', metadata });
  const fileOf = (each: string) => join(folder, 'stored', `${each}#`);
  const file = await readFile(fileOf(key), 'latin1');
  for (let at = 0; at < organizations; at += 1) {
    await mkdir(join(folder, 'stored', 'archive', organizationAt(at)), { recursive: true });
  }
  await inParallel(Array.from({ length: jobs - 1 }), 16, async (_, at) => {
    const [organization, jobId] = [organizationAt(at), jobIdAt(jobs + 1 + at)];
    const own = file.replaceAll(model.jobId, jobId).replaceAll(model.organization, organization);
    await writeFile(fileOf(archivedJobKey(organization, jobId)), own, 'latin1');
  });
}
