import { connect } from '@nats-io/transport-node';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callService } from '#shared/interfaces/internal/internal-client.ts';
import { housekeeper } from '#shared/interfaces/internal/housekeeper.ts';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { inboxPrefix } from '#shared/messaging/subjects/permissions.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { randomBase62, systemClock } from '#shared/runtime/time-and-ids.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { exportCommit, exportState } from '../../test/support/make-commit.ts';
import { runProjections } from '../../test/support/run-projections.ts';
import { startTestBus, type TestBus } from '../../test/support/start-bus.ts';
import { testLogger } from '../../test/support/test-logger.ts';
import { testObjectStore } from '../../test/support/test-object-store.ts';
import { housekeeperApp } from './housekeeper-app.ts';
import { dryRound } from './preview-sweep.ts';
import { sweepPreviews } from './sweep-previews.ts';

const poll = { timeout: 60_000 };
const serviceToken = 'the-token-of-the-gateway';
const jobId = `se_${'a'.repeat(22)}`;
const subject = exportLogSubject('acme', jobId);
const caller = {
  requestId: 'req_1',
  actor: { kind: 'person' as const, id: 'ada@acme.test' },
  address: '203.0.113.7',
  traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`,
};

describeWithServers(['nats-server'], "the operator's calls to the housekeeper, with its rights", () => {
  let stand: TestBus;
  let gateway: BusOf<'gateway'>;
  let app: FastifyInstance;
  let baseUrl: string;
  let stopProjections: () => Promise<void>;

  beforeAll(async () => {
    stand = await startTestBus();
    gateway = await stand.connect('gateway');
    const bus = await stand.connect('housekeeper');
    stopProjections = runProjections(await stand.connect('projector'));
    const objectStore = testObjectStore();
    const keepObjectsMs = 1_000;
    const previews = sweepPreviews(
      (signal) => dryRound({ bus, objectStore, clock: bus.clock, keepObjectsMs }, signal),
      bus.clock,
      new AbortController().signal,
    );
    const letters = { letters: bus.deadLetters, logs: bus.storedMessages };
    app = housekeeperApp(
      { letters, previews, clock: systemClock, random: randomBase62 },
      {
        callerTokens: { gateway: serviceToken },
        logger: testLogger,
        checks: {},
        draining: () => false,
        metrics: serviceMetrics('test'),
      },
    );
    baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await stopProjections?.();
    await app?.close();
    await stand?.stop();
  });

  const given = () => ({ caller, signal: new AbortController().signal });
  const at = () => ({ baseUrl, serviceToken });
  const list = async () =>
    (await callService(housekeeper.listDeadLetters, at(), { ...given(), query: { state: 'aside', limit: 50 } })).json();
  const read = async (letter: string) =>
    (await callService(housekeeper.readDeadLetter, at(), { ...given(), params: { letter } })).json();
  const settle = async (letter: string, action: 'retry' | 'drop') =>
    (
      await callService(housekeeper.settleDeadLetter, at(), {
        ...given(),
        params: { letter },
        body: { action, why: 'a bad deployment wrote it' },
      })
    ).json();

  test('a message that the projector sets aside is listed, shown, retried in vain, and dropped', async () => {
    const user = 'orchestrator';
    const pass = stand.passwords[user] ?? '';
    const client = await connect({ servers: stand.server.url, user, pass, inboxPrefix: inboxPrefix(user) });
    const orchestrator = await stand.connect(user);
    const state = exportState({ jobId, phase: 'rendering' });
    const first = await gateway.exports.append(exportCommit(state), { sequence: 0 });
    const commit = exportCommit(state, first);
    const answer = await client.request(subject, JSON.stringify({ ...commit, revision: 'two' }));
    await client.close();
    const broken = { commit, sequence: answer.json<{ seq: number }>().seq };
    const third = await orchestrator.exports.append(exportCommit(state, broken), { sequence: broken.sequence });
    await orchestrator.exports.append(exportCommit(state, third), { sequence: third.sequence });
    const id = `projector.EXPORTS.${broken.sequence}`;
    await expect.poll(async () => (await list()).deadLetters, poll).toMatchObject([{ id, subject, isOrdered: true }]);

    expect(await read(id)).toMatchObject({
      ...{ id, state: 'aside', attempts: 1, waiting: 2, problems: [] },
      message: { text: expect.stringContaining('"revision": "two"'), isCut: false },
      history: [{ outcome: 'set-aside' }],
    });
    const decision = { by: 'ada@acme.test', why: 'a bad deployment wrote it' };
    expect(await settle(id, 'retry')).toMatchObject({ outcome: 'failed-again', decision, already: false });
    expect(await read(id)).toMatchObject({ attempts: 2, failed: decision });
    expect(await settle(id, 'drop')).toMatchObject({ outcome: 'dropped', decision, already: false });
    expect(await settle(id, 'drop')).toMatchObject({ outcome: 'dropped', already: true });
    expect(await list()).toEqual({ deadLetters: [], unreadable: [] });
    expect((await read(id)).history).toMatchObject([
      { outcome: 'set-aside' },
      { outcome: 'failed-again', decision },
      { outcome: 'dropped', decision },
    ]);
    // The messages behind it are handled.
    const key = jobStatusKey('acme', jobId);
    await expect
      .poll(async () => (await gateway.readModels.jobStatus.get(key, { fromLeader: true }))?.document.revision, poll)
      .toBe(4);
  });

  test('a letter whose document cannot be read is named, and so is one that nobody has', async () => {
    const user = 'operator';
    const pass = stand.passwords[user] ?? '';
    const client = await connect({ servers: stand.server.url, user, pass, inboxPrefix: inboxPrefix(user) });
    await client.request('$KV.dead-letters.indexer.CONTENT.5', '{"state":"unheard of"}');
    await client.close();
    expect((await list()).unreadable).toEqual([
      { id: 'indexer.CONTENT.5', reason: expect.stringContaining('indexer.CONTENT.5') },
    ]);
    expect((await read('indexer.CONTENT.5')).problems.map(({ part }) => part)).toContain('letter');
    await expect(settle('indexer.CONTENT.5', 'drop')).rejects.toMatchObject({ code: 'in_use' });
    await expect(read('indexer.CONTENT.6')).rejects.toMatchObject({ code: 'not_found' });
    await expect(settle('indexer.CONTENT.6', 'retry')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('the messages of each shown stream can be read with the rights of the housekeeper', async () => {
    for (const stream of ['EXPORTS', 'FACTS', 'CONTENT', 'SITES', 'DIRECTORY', 'ACCESS', 'VIEWS']) {
      const { problems } = await read(`projector.${stream}.4000`).catch((error: { code?: string }) => ({
        problems: [{ part: 'all', reason: error.code }],
      }));
      expect([stream, problems]).toEqual([stream, [{ part: 'all', reason: 'not_found' }]]);
    }
    const asked = await callService(housekeeper.previewSweep, at(), { ...given(), query: { limit: 50 } });
    expect(await asked.json()).toMatchObject({ totals: { objects: [], contents: 0 }, notJudged: [] });
  });
});
