import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { listJobs } from '#services/gateway/exports/list-jobs.ts';
import { readJob } from '#services/gateway/exports/read-job.ts';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import { archivedJobKey } from '#shared/contracts/stored-objects.ts';
import { logWithArchive } from '#shared/messaging/log/archived-jobs.ts';
import type { BusOf, BusParts } from '#shared/messaging/bus.ts';
import type { EventLog } from '#shared/messaging/log/event-log.ts';
import { openLogAudit } from '#shared/messaging/nats/log-audit.ts';
import { inboxPrefix } from '#shared/messaging/subjects/permissions.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { LogAudit } from '#shared/messaging/verify/log-audit.ts';
import { verifyLogs } from '#shared/messaging/verify/verify-logs.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { type ExportHarness, organization, startExportHarness } from '../../test/support/export-harness.ts';
import { housekeeperContext } from '../../test/support/housekeeper-context.ts';
import { runProjections } from '../../test/support/run-projections.ts';
import { archiveClosedJobs } from './archive-closed-jobs.ts';
import { jobsInArchive, type KeptJob } from './kept-jobs.ts';

const never = new AbortController().signal;

describeWithServers(['nats-server'], 'jobs that ended long ago', () => {
  let harness: ExportHarness;
  let housekeeper: BusOf<'housekeeper'>;
  let auditor: BusOf<'auditor'>;
  let operator: BusOf<'operator'>;
  let audit: LogAudit;
  let jobId: string;
  let subject: string;
  let before: ExportCommit[];
  let stopProjector: () => Promise<void>;

  beforeAll(async () => {
    harness = await startExportHarness();
    await harness.start('orchestrator');
    await harness.start('page-renderer');
    await harness.start('bundler');
    [housekeeper, auditor, operator] = await Promise.all([
      harness.bus.connect('housekeeper'),
      harness.bus.connect('auditor'),
      harness.bus.connect('operator'),
    ]);
    const { server, passwords } = harness.bus;
    audit = await openLogAudit({ url: server.url, user: 'auditor', password: passwords.auditor ?? '' });
    const contentVersion = await harness.publish([
      { path: 'index', text: '# Start' },
      { path: 'more', text: '# More' },
    ]);
    jobId = await harness.request(contentVersion);
    subject = exportLogSubject(organization, jobId);
    startProjector(await harness.bus.connect('projector'), 0);
    await vi.waitUntil(async () => (await housekeeper.exports.last(subject))?.commit.data.state.completedAt, {
      timeout: 60_000,
    });
    before = await commitsIn(housekeeper.exports);
  });
  afterAll(async () => {
    await stopProjector();
    await audit?.close();
    await harness?.stop();
  });

  function startProjector(bus: BusOf<'projector'>, daysAhead: number): void {
    const clock = { now: () => new Date(Date.now() + daysAhead * dayMs) };
    stopProjector = runProjections(bus, { clock, archive: harness.objectStore });
  }

  async function commitsIn(log: Pick<EventLog<ExportCommit>, 'history'>): Promise<ExportCommit[]> {
    const commits: ExportCommit[] = [];
    for await (const { commit } of log.history(subject)) commits.push(commit);
    return commits;
  }
  function archive(daysAhead: number, exports: BusParts['exports'] = housekeeper.exports): Promise<number> {
    const bus = { ...housekeeper, exports };
    const clock = { now: () => new Date(Date.now() + daysAhead * dayMs) };
    return archiveClosedJobs(housekeeperContext({ bus, objectStore: harness.objectStore, clock }), 30 * dayMs, never);
  }
  const verified = async () => {
    const { objectStore } = harness;
    const reports = await verifyLogs({ logs: audit, objectStore, models: auditor.readModels }, {});
    return reports.find(({ stream }) => stream === 'EXPORTS');
  };
  const projected = () =>
    vi.waitUntil(async () => {
      const stored = await housekeeper.readModels.jobStatus.get(jobStatusKey(organization, jobId));
      return stored?.document.revision === before.length;
    }, 60_000);

  test('one that ended less than 30 days ago stays in the log', async () => {
    await projected();
    expect(await archive(29)).toBe(0);
    expect(await commitsIn(housekeeper.exports)).toEqual(before);
  });

  test('stopped before it is taken out of the log it is in both, whole', async () => {
    const exports = { ...housekeeper.exports, purge: () => Promise.reject(new Error('the process died')) };
    await expect(archive(31, exports)).rejects.toThrow('the process died');
    expect(await commitsIn(housekeeper.exports)).toEqual(before);
    expect(await commitsIn(logWithArchive(housekeeper.exports, harness.objectStore))).toEqual(before);
    expect(await verified()).toMatchObject({ historyCount: 1, commitCount: before.length, problems: [] });
  });

  test('then it is in the archive alone, and readers see the same', async () => {
    expect(await archive(31)).toBe(1);
    expect(await housekeeper.exports.last(subject, { fromLeader: true })).toBeUndefined();
    const log = logWithArchive(harness.gateway.exports, harness.objectStore);
    expect(await commitsIn(log)).toEqual(before);
    expect((await log.last(subject, { fromLeader: true }))?.commit).toEqual(before.at(-1));
    expect(await log.last(exportLogSubject('other', jobId))).toBeUndefined();
  });

  test('an audit finds it whole, and no gap in the stream that it does not explain', async () => {
    expect(await verified()).toMatchObject({ historyCount: 1, commitCount: before.length, problems: [] });
  });

  test('retention knows what it needs for as long as it is kept', async () => {
    const kept = async (endedSince: Date) => {
      const jobs: KeptJob[] = [];
      for await (const job of jobsInArchive(harness.objectStore)(organization, endedSince, never)) jobs.push(job);
      return jobs;
    };
    const { domain, contentVersion, planHash } = (before.at(-1) as ExportCommit).data.state;
    expect(await kept(new Date(Date.now() - dayMs))).toEqual([
      { domain, contentVersion, planHash, selectionKey: undefined },
    ]);
    expect(await kept(new Date(Date.now() + 3 * dayMs))).toEqual([]);
  });

  test('it leaves the read models, and a rebuild gives the same', async () => {
    // A projector with a clock one day ahead: it checks when it takes the lease.
    await stopProjector();
    startProjector(await harness.bus.connect('projector'), 3);
    const key = jobStatusKey(organization, jobId);
    const { readModels } = harness.gateway;
    await vi.waitUntil(async () => (await readModels.jobStatus.get(key, { fromLeader: true })) === undefined, 60_000);
    const listed = async () =>
      (await listJobs({ bus: harness.gateway }, organization, { domain: undefined, limit: 20 })).jobs;
    await vi.waitFor(async () => expect(await listed()).toEqual([]), 60_000);
    // The streams keep no trace of the job.
    const { server, passwords } = harness.bus;
    const connection = await connect({
      servers: server.url,
      user: 'auditor',
      pass: passwords.auditor ?? '',
      inboxPrefix: inboxPrefix('auditor'),
    });
    const jsm = await jetstreamManager(connection, { checkAPI: false });
    const marker = await jsm.streams.getMessage('KV_job-status', { last_by_subj: `$KV.job-status.${key}` });
    expect(marker?.header.get('Nats-TTL')).toBe('600s');
    await connection.close();

    await operator.projections.requests.put('exports', { id: 'rb_1', askedAt: new Date().toISOString() });
    await vi.waitUntil(
      async () => (await operator.projections.pointers.get('exports'))?.document.lastRebuild?.id === 'rb_1',
      60_000,
    );
    const pointer = (await operator.projections.pointers.get('exports'))?.document;
    expect(pointer).toMatchObject({ live: 'green', lastRebuild: { differentCount: 0 } });
    // The gateway answers from the archive.
    const bus = { ...harness.gateway, exports: logWithArchive(harness.gateway.exports, harness.objectStore) };
    expect(await readJob({ bus }, organization, jobId)).toMatchObject({ revision: before.length });
  });

  test('a byte that changes in the archive, or an archive that is gone, is found', async () => {
    const key = archivedJobKey(organization, jobId);
    const whole = Buffer.from((await harness.objectStore.get(key)) ?? []).toString();
    await harness.objectStore.put(key, Buffer.from(whole.replace('enterprise', 'Enterprise')));
    expect((await verified())?.problems).toContainEqual(expect.objectContaining({ problem: 'changed', subject }));
    await harness.objectStore.remove(key);
    const problems = (await verified())?.problems ?? [];
    expect(problems).toContainEqual(expect.objectContaining({ problem: 'hole', subject: 'EXPORTS', sequence: 1 }));
  });
});
