import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  type ApiKey,
  type DirectoryCommit,
  directoryAggregate,
  type DirectoryEvent,
} from '#shared/aggregates/directory/directory.ts';
import type { ExportCommit, ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { apiKeyKey, jobStatusKey, listPartKey, organizationKey } from '#shared/interfaces/read-models.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import type { StoredCommit } from '#shared/messaging/log/event-log.ts';
import { directoryLogSubject, exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { exportState } from '../support/make-commit.ts';
import { newFolder } from '../support/new-folder.ts';
import { runProjections } from '../support/run-projections.ts';
import { startTestBus, type TestBus } from '../support/start-bus.ts';

type Job = StoredCommit<ExportCommit>;
type Directory = StoredCommit<DirectoryCommit>;

const time = new Date('2026-03-01T10:00:00.000Z');
const origin = (id: string) => ({
  id,
  source: 'test',
  actor: { kind: 'operator' as const, id: 'operator' },
  time,
  causationId: 'test',
  correlationId: 'test',
});
const apiKey = (letter: string): ApiKey => ({
  id: `key_${letter.repeat(16)}`,
  kind: 'admin',
  name: letter,
  sha256: letter.repeat(64),
  scopes: ['read', 'write'],
  allowedAddresses: [],
  allowedOrigins: [],
  createdAt: time.toISOString(),
});
const created = (letter: string): DirectoryEvent => ({
  type: 'ApiKeyCreated',
  version: 1,
  data: { organization: 'acme', key: apiKey(letter) },
});

describeWithServers(['nats-server'], 'a bus that lost the end of its logs', () => {
  let stand: TestBus;
  let gateway: BusOf<'gateway'>;
  let orchestrator: BusOf<'orchestrator'>;
  let folder: string;
  let stopProjector: () => Promise<void>;
  const jobId = (letter: string) => `se_${letter.repeat(22)}`;

  beforeAll(async () => {
    stand = await startTestBus();
    folder = newFolder();
    [gateway, orchestrator] = await Promise.all([stand.connect('gateway'), stand.connect('orchestrator')]);
    stopProjector = runProjections(await stand.connect('projector'));
  });
  afterAll(async () => {
    await stopProjector();
    await stand.stop();
  });

  /** Appends one more commit of a job. `id` distinguishes it from a lost commit with the same revision. */
  async function advance(letter: string, id: string, after: Job | undefined, changes: Partial<ExportJobState>) {
    const state = exportState({ jobId: jobId(letter), ...changes });
    const event = { type: 'RenderingFinished' as const, version: 1 as const, data: { pageCount: 0 } };
    const subject = exportLogSubject('acme', jobId(letter));
    const commit = nextCommit(subject, after, [event], state, origin(id));
    const writer = after === undefined ? gateway : orchestrator;
    return writer.exports.append(commit, { sequence: after?.sequence ?? 0 });
  }
  async function changeDirectory(id: string, after: Directory | undefined, event: DirectoryEvent): Promise<Directory> {
    const at = origin(id);
    const state = directoryAggregate.evolve(after?.commit.data.state, event, { ...at, time: time.toISOString() });
    const commit = nextCommit(directoryLogSubject('acme'), after, [event], state, at);
    return gateway.directory.append(commit, { sequence: after?.sequence ?? 0 });
  }

  const statusOf = async (letter: string) =>
    (await gateway.readModels.jobStatus.get(jobStatusKey('acme', jobId(letter)), { fromLeader: true }))?.document;
  const statusReflects = (letter: string, commitId: string) =>
    vi.waitFor(async () => expect((await statusOf(letter))?.commitId).toBe(commitId), 60_000);
  const directoryReflects = (commitId: string) =>
    vi.waitFor(async () => {
      const stored = await gateway.readModels.directoryOrganizations.get(organizationKey('acme'), { fromLeader: true });
      expect(stored?.document.commitId).toBe(commitId);
    }, 60_000);
  const keyOf = async (letter: string) =>
    (await gateway.readModels.directoryKeys.get(apiKeyKey(apiKey(letter).sha256), { fromLeader: true }))?.document.key;

  const streams = () => join(stand.server.storeDir, 'jetstream', '$G', 'streams');
  const logs = ['EXPORTS', 'DIRECTORY'];
  /** Stops the server, and copies the folders of the logs meanwhile. */
  async function whileStopped(copy: (stream: string) => Promise<void>) {
    await stand.server.kill('SIGTERM');
    for (const stream of logs) await copy(stream);
    await stand.server.restart();
  }

  test('read models drop lost commits, show those in the log instead, and record the loss', async () => {
    const early: Record<string, Job> = {};
    for (const letter of ['a', 'b', 'c', 'd']) {
      const first = await advance(letter, `${letter}1`, undefined, {});
      early[letter] = await advance(letter, `${letter}2`, first, { phase: 'rendering', progress: 10 });
      await statusReflects(letter, `${letter}2`);
    }
    const organization = { organization: 'acme', name: 'Acme', plan: 'enterprise' as const };
    const first = await changeDirectory('d1', undefined, {
      type: 'OrganizationCreated',
      version: 1,
      data: organization,
    });
    const second = await changeDirectory('d2', first, created('a'));
    await directoryReflects('d2');
    await whileStopped((stream) => cp(join(streams(), stream), join(folder, stream), { recursive: true }));

    // The server will lose these commits: jobs a and b complete with two more commits, job c gets one more, and job d gets none.
    for (const letter of ['a', 'b', 'c']) {
      const third = await advance(letter, `${letter}3`, early[letter], { phase: 'closing', progress: 90 });
      if (letter !== 'c') await advance(letter, `${letter}4`, third, { phase: 'completed', progress: 100 });
    }
    const lostThird = await changeDirectory('d3', second, created('b'));
    const lostFourth = await changeDirectory('d4', lostThird, {
      type: 'ApiKeyRevoked',
      version: 1,
      data: { organization: 'acme', keyId: apiKey('a').id },
    });
    const forgotten = [{ id: apiKey('a').id, sha256: apiKey('a').sha256, endedAt: '2026-03-01T10:00:00.000Z' }];
    const data = { organization: 'acme', keys: forgotten };
    await changeDirectory('d5', lostFourth, { type: 'ApiKeysForgotten', version: 1, data });
    await Promise.all(['a4', 'b4', 'c3'].map((id) => statusReflects(id.charAt(0), id)));
    await directoryReflects('d5');
    const lostStatus = await statusOf('a');
    await whileStopped(async (stream) => {
      await rm(join(streams(), stream), { recursive: true });
      await cp(join(folder, stream), join(streams(), stream), { recursive: true });
    });

    // Job a gets fewer commits than it had before the loss, job b as many, and job c more.
    await advance('a', 'a3-again', early['a'], { phase: 'rendering', progress: 20 });
    let b = await advance('b', 'b3-again', early['b'], { phase: 'rendering', progress: 30 });
    b = await advance('b', 'b4-again', b, { phase: 'rendering', progress: 40 });
    let c = early['c'];
    for (const n of [3, 4, 5]) c = await advance('c', `c${n}-again`, c, { phase: 'rendering', progress: n * 10 });
    await advance('d', 'd3', early['d'], { phase: 'completed', progress: 100 });
    await changeDirectory('d3-again', second, created('c'));
    await Promise.all([
      statusReflects('a', 'a3-again'),
      statusReflects('b', 'b4-again'),
      statusReflects('c', 'c5-again'),
      statusReflects('d', 'd3'),
    ]);
    await directoryReflects('d3-again');

    expect(await statusOf('a')).toMatchObject({
      revision: 3,
      state: { phase: 'rendering', progress: 20 },
      lost: [{ revision: 4, commitId: 'a4', hash: lostStatus?.hash }],
    });
    expect((await statusOf('b'))?.lost).toMatchObject([{ revision: 4, commitId: 'b4' }]);
    expect((await statusOf('c'))?.lost).toMatchObject([{ revision: 3, commitId: 'c3' }]);
    expect(await statusOf('d')).not.toHaveProperty('lost');
    const list = await gateway.readModels.jobList.get(listPartKey('acme', '2026-03-01', 0), {
      fromLeader: true,
    });
    expect(Object.fromEntries(list?.document.entries.map(({ jobId, status }) => [jobId, status]) ?? [])).toEqual({
      [jobId('a')]: 'running',
      [jobId('b')]: 'running',
      [jobId('c')]: 'running',
      [jobId('d')]: 'completed',
    });
    // A key that only lost commits created is refused. A key that was revoked stays revoked.
    expect((await keyOf('b'))?.revokedAt).toBeDefined();
    expect((await keyOf('a'))?.revokedAt).toBeDefined();
    expect(await keyOf('c')).toEqual(apiKey('c'));
  }, 90_000);
});
