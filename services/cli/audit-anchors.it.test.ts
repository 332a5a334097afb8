import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { archiveClosedJobs } from '#services/housekeeper/archive-closed-jobs.ts';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import { jobStatusKey, listPartKey } from '#shared/interfaces/read-models.ts';
import { type ArchivedJob, archivedJobKey } from '#shared/contracts/stored-objects.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { commitHash } from '#shared/messaging/log/commit-chain.ts';
import { anchorOf } from '#shared/messaging/log/head-anchor.ts';
import type { StoredText } from '#shared/messaging/log/event-log.ts';
import { openLogAudit } from '#shared/messaging/nats/log-audit.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { AuditScope } from '#shared/messaging/verify/verified-logs.ts';
import type { LogAudit } from '#shared/messaging/verify/log-audit.ts';
import { type Audit, verifyLogs } from '#shared/messaging/verify/verify-logs.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { DamagedObject } from '#shared/storage/object-store.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { type ExportHarness, organization, startExportHarness } from '../../test/support/export-harness.ts';
import { housekeeperContext } from '../../test/support/housekeeper-context.ts';
import { accessRecord, testAuditKey } from '../../test/support/make-commit.ts';
import { runProjections } from '../../test/support/run-projections.ts';

const never = new AbortController().signal;
const forgedKey = 'key_ffffffffffffffff';

/** A history that names another requester, with all hashes computed again. */
function forged(texts: readonly string[]): ExportCommit[] {
  return texts.map((text): ExportCommit => {
    const commit = JSON.parse(text.replaceAll('key_0000000000000000', forgedKey)) as ExportCommit;
    return commit;
  });
}

describeWithServers(['nats-server'], 'a history that was written anew by somebody without the audit key', () => {
  let harness: ExportHarness;
  let projector: BusOf<'projector'>;
  let housekeeper: BusOf<'housekeeper'>;
  let auditor: BusOf<'auditor'>;
  let logs: LogAudit;
  let contentVersion: string;
  let jobId: string;
  let subject: string;
  let last: ExportCommit;
  let stop: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    harness = await startExportHarness();
    await Promise.all([harness.start('orchestrator'), harness.start('page-renderer'), harness.start('bundler')]);
    [projector, housekeeper, auditor] = await Promise.all([
      harness.bus.connect('projector'),
      harness.bus.connect('housekeeper'),
      harness.bus.connect('auditor'),
    ]);
    const { server, passwords } = harness.bus;
    logs = await openLogAudit({ url: server.url, user: 'auditor', password: passwords.auditor ?? '' });
    contentVersion = await harness.publish([{ path: 'index', text: '# Start' }]);
    startProjector();
  });
  afterAll(async () => {
    await stopProjector();
    await logs?.close();
    await harness?.stop();
  });
  beforeEach(async () => {
    jobId = await exported();
    subject = exportLogSubject(organization, jobId);
    last = await reflected();
  });
  afterEach(() => {
    if (stop === undefined) startProjector();
  });

  function startProjector() {
    stop = runProjections(projector);
  }
  async function stopProjector() {
    await stop?.();
    stop = undefined;
  }

  async function exported(replayOf?: string): Promise<string> {
    return harness.request(contentVersion, replayOf === undefined ? {} : { replayOf });
  }
  const statusOf = async (id = jobId) =>
    (await housekeeper.readModels.jobStatus.get(jobStatusKey(organization, id), { fromLeader: true }))?.document;
  /** The last commit of a job, once the read model has it. */
  async function reflected(id = jobId): Promise<ExportCommit> {
    await vi.waitUntil(async () => (await statusOf(id))?.state.completedAt, { timeout: 60_000, interval: 50 });
    const stored = await housekeeper.exports.last(exportLogSubject(organization, id), { fromLeader: true });
    if (stored === undefined) throw new Error('The job has a history.');
    return stored.commit;
  }
  async function problems(changes: Partial<Audit> = {}): Promise<string[]> {
    const { objectStore } = harness;
    const anchors = { auditKey: testAuditKey };
    const [report] = await verifyLogs(
      { logs, objectStore, models: auditor.readModels, anchors, ...changes },
      { organization, job: jobId },
    );
    return report?.problems.map(({ problem }) => problem) ?? [];
  }

  /** Replaces the job's messages in the log, with the rights of the services that may write there. */
  async function writeAnew(commits: readonly ExportCommit[]): Promise<ExportCommit | undefined> {
    const stored = await housekeeper.exports.last(subject, { fromLeader: true });
    await housekeeper.exports.purge(subject, { sequence: stored?.sequence ?? 0 });
    const { server, passwords } = harness.bus;
    const connection = await connect({
      servers: server.url,
      user: 'orchestrator',
      pass: passwords.orchestrator ?? '',
      inboxPrefix: '_INBOX_orchestrator',
    });
    let previous: { commit: ExportCommit; sequence: number } | undefined;
    for (const content of commits) {
      const previousHash = previous?.commit.hash ?? '';
      const linked = { ...content, previousHash, previousSequence: previous?.sequence ?? 0 };
      const commit = { ...linked, hash: commitHash(linked) };
      previous = { commit, sequence: (await jetstream(connection).publish(subject, JSON.stringify(commit))).seq };
    }
    await connection.close();
    return previous?.commit;
  }
  const hashAt = async (revision: number): Promise<string> =>
    (JSON.parse((await texts())[revision - 1] ?? '{}') as ExportCommit).hash;
  const texts = async () => (await housekeeper.exports.texts(subject)).map(({ text }) => text);

  test('one that nobody touched is whole, with its bundle', async () => {
    expect(await problems({ bundles: { keptSince: new Date(0) } })).toEqual([]);
  });

  test('is found by the hash that the read model has seen', async () => {
    await stopProjector();
    await writeAnew(forged(await texts()));
    expect(await problems()).toEqual(['changed']);
  });

  test('is found by its anchor when the read model was written anew, too', async () => {
    await stopProjector();
    const head = await writeAnew(forged(await texts()));
    if (head === undefined) throw new Error('The history has commits.');
    const document = await statusOf();
    if (document === undefined) throw new Error('The job has a status.');
    const made = { ...document, hash: head.hash, state: head.data.state };
    await projector.generations.blue.jobStatus.put(jobStatusKey(organization, jobId), made);
    expect(await problems()).toEqual(['unanchored']);
    // A document without its anchor must not pass either.
    const { anchor: _, ...bare } = made;
    await projector.generations.blue.jobStatus.put(jobStatusKey(organization, jobId), bare);
    expect(await problems()).toEqual(['unanchored']);
    expect(await problems({ anchors: undefined })).toEqual([]);
    const unanchoredBefore = new Date(Date.now() + dayMs);
    expect(await problems({ anchors: { auditKey: testAuditKey, unanchoredBefore } })).toEqual([]);
  });

  test.each(['the same ids', 'other ids'])(
    'is found although the projector folds it, with %s: the document says which commit was lost',
    async (ids) => {
      const commits = forged(await texts());
      if (ids === 'other ids') for (const commit of commits) commit.id = `forged-${commit.revision}-${jobId}`;
      const head = await writeAnew(commits);
      await vi.waitUntil(async () => (await statusOf())?.hash === head?.hash, { timeout: 60_000, interval: 50 });
      expect((await statusOf())?.lost).toMatchObject([{ commitId: last.id, hash: last.hash }]);
      expect(await problems()).toEqual(['hole']);
    },
    30_000,
  );

  test('is found when an earlier document was put back, with the anchor that it had', async () => {
    await stopProjector();
    const original = await texts();
    const [first, second] = original.map((text) => JSON.parse(text) as ExportCommit);
    if (first === undefined || second === undefined) throw new Error('The history has commits.');
    await writeAnew([first, second, ...forged(original.slice(2))]);
    const { revision, id: commitId, hash, time: updatedAt, data } = second;
    // The unchanged messages have other sequences now, so their hashes differ too.
    const head = { revision, commitId, hash: await hashAt(revision) };
    expect(hash).not.toBe(head.hash);
    const copied = { ...head, updatedAt, anchor: anchorOf(testAuditKey, subject, head), state: data.state };
    await projector.generations.blue.jobStatus.put(jobStatusKey(organization, jobId), copied);
    expect(await problems()).toContain('unanchored');
  });

  test('is found in the archive, also when no read model has seen it', async () => {
    const clock = { now: () => new Date(Date.now() + 31 * dayMs) };
    const { objectStore } = harness;
    const context = housekeeperContext({ bus: housekeeper, objectStore, clock });
    await archiveClosedJobs(context, 30 * dayMs, never).catch(() => {});
    const key = archivedJobKey(organization, jobId);
    const whole = Buffer.from((await objectStore.get(key)) ?? '');
    const archived = JSON.parse(whole.toString()) as ArchivedJob;
    expect(archived.anchor).toMatch(/^[0-9a-f]{64}$/);
    expect(await problems()).toEqual([]);
    await projector.generations.blue.jobStatus.remove(jobStatusKey(organization, jobId));
    expect(await problems()).toEqual([]);
    let previousHash = '';
    const commits = forged(archived.messages.map(({ text }) => text)).map((content) => {
      const commit = { ...content, previousHash, hash: commitHash({ ...content, previousHash }) };
      previousHash = commit.hash;
      return commit;
    });
    const messages = commits.map((commit, index) => ({
      sequence: archived.messages[index]?.sequence ?? 0,
      text: JSON.stringify(commit),
    }));
    await objectStore.put(key, Buffer.from(JSON.stringify({ ...archived, messages })));
    expect(await problems()).toEqual(['unanchored']);
    await objectStore.put(key, Buffer.from(JSON.stringify({ ...archived, anchor: undefined, messages })));
    expect(await problems()).toEqual(['unanchored']);
    await objectStore.put(key, Buffer.from('{'));
    expect(await problems()).toContain('unreadable');
    await objectStore.put(key, whole);
    expect(await problems()).toEqual([]);
  });

  test('records of links are compared with what the audit has seen, in both directions', async () => {
    const linkSigner = await harness.bus.connect('link-signer');
    const time = new Date().toISOString();
    const records = [1, 2].map((n) => accessRecord({ id: `al_${n}-${jobId}`, jobId, organization, time }));
    for (const record of records) await linkSigner.access.record(record);
    const access = async (changes: Partial<Audit> = {}, scope: AuditScope = { organization }) => {
      const { objectStore } = harness;
      const anchors = { auditKey: testAuditKey };
      const audit = { logs, objectStore, models: auditor.readModels, anchors, ...changes };
      const report = (await verifyLogs(audit, scope)).find(({ stream }) => stream === 'ACCESS');
      return report?.problems.map(({ problem }) => problem);
    };
    expect(await access()).toEqual([]);
    /** The stored messages after a change on the disk. */
    const altered = (change: (stored: StoredText[]) => StoredText[]): LogAudit => ({
      ...logs,
      stored: async (stream, of) => change(await logs.stored(stream, of)),
    });
    const elsewhere = altered((stored) =>
      stored.map((message) => ({ ...message, text: message.text.replace('192.0.2.7', '192.0.2.8') })),
    );
    expect(await access({ logs: elsewhere })).toEqual(['changed', 'changed']);
    expect(await access({ logs: altered((stored) => stored.slice(1)) })).toEqual(['hole']);
    const gone: LogAudit = {
      ...logs,
      gaps: async () => [
        { first: 1, last: 1 },
        { first: 3, last: 4 },
      ],
    };
    expect(await access({ logs: gone }, {})).toEqual(['hole']);
    // The audit's own entries were rewritten too, but without the right key.
    expect(await access({ anchors: { auditKey: 'another-key-for-anchors' } })).toEqual(['unanchored', 'unanchored']);
    await stopProjector();
    const key = listPartKey(organization, time.slice(0, 10), 0);
    const store = projector.generations.blue.auditAccess;
    const part = await store.get(key, { fromLeader: true });
    if (part === undefined) throw new Error('The audit has the day.');
    const [first, ...others] = part.document.entries;
    if (first === undefined) throw new Error('The audit has the record.');
    await store.put(key, { entries: [{ ...first, address: '192.0.2.8' }, ...others] });
    const one = altered((stored) =>
      stored.map((message, at) =>
        at > 0 ? message : { ...message, text: message.text.replace('192.0.2.7', '192.0.2.8') },
      ),
    );
    expect(await access({ logs: one })).toEqual(['unanchored']);
    await store.put(key, { entries: others });
    expect(await access({}, { organization, job: jobId })).toEqual(['unanchored']);
    await store.put(key, part.document);
    expect(await access()).toEqual([]);
    const { requestId: _, ...byOlderProjector } = first;
    await store.put(key, { entries: [byOlderProjector, ...others] });
    expect(await access()).toEqual([]);
    await store.put(key, { entries: [{ ...first, requestId: 'req_another' }, ...others] });
    expect(await access()).toEqual(['changed']);
    await store.put(key, part.document);
  });

  test('stored bundles are read: one that was damaged is found, and a replay stores the right bytes again', async () => {
    const { objectStore } = harness;
    const { bundle } = last.data.state;
    if (bundle === undefined) throw new Error('The job has a bundle.');
    const bundles = { keptSince: new Date(Date.now() - dayMs) };
    const whole = Buffer.from((await objectStore.get(bundle.key)) ?? '');
    const damaged = Buffer.from(whole);
    damaged[whole.length >> 1] = (damaged[whole.length >> 1] ?? 0) ^ 255;
    await objectStore.put(bundle.key, damaged, { metadata: { sha256: bundle.sha256 } });
    expect(await problems({ bundles })).toContain('bundle');
    const cut = { ...objectStore, getStream: () => Promise.reject(new DamagedObject('the object was cut')) };
    expect(await problems({ bundles, objectStore: cut })).toContain('bundle');
    const replay = await reflected(await exported(jobId));
    expect(replay.data.state).toMatchObject({ digestMatch: 'same', bundle: { sha256: bundle.sha256 } });
    expect(Buffer.from((await objectStore.get(bundle.key)) ?? '')).toEqual(whole);
    expect(await problems({ bundles })).toEqual([]);
    await objectStore.remove(bundle.key);
    expect(await problems({ bundles })).toEqual(['bundle']);
    expect(await problems({ bundles: { keptSince: new Date(Date.now() + dayMs) } })).toEqual([]);
  });
});
