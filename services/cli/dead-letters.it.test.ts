import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ExportCommit } from '#shared/aggregates/export-job/export-job.ts';
import { deadLetterKey, type LetterDecision } from '#shared/contracts/dead-letters.ts';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import type { Delivery, DurableReader } from '#shared/messaging/queue/durable-reader.ts';
import type { StoredCommit } from '#shared/messaging/log/event-log.ts';
import { openLogAudit } from '#shared/messaging/nats/log-audit.ts';
import { inboxPrefix } from '#shared/messaging/subjects/permissions.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { NewerMessage, Poison } from '#shared/runtime/failures.ts';
import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { exportCommit, exportRequested, exportState } from '../../test/support/make-commit.ts';
import { leadingOrchestrator } from '../../test/support/leading-orchestrator.ts';
import { runProjections } from '../../test/support/run-projections.ts';
import { startTestBus, type TestBus } from '../../test/support/start-bus.ts';
import { testObjectStore } from '../../test/support/test-object-store.ts';
import { type LetterStores, settleLetter } from '#shared/messaging/queue/settle-letter.ts';
import { rebuildProjection } from './commands/projections.ts';

const mainFile = fileURLToPath(new URL('main.ts', import.meta.url));
const newJobId = () => `se_${randomBytes(11).toString('hex')}`;
const poll = { timeout: 60_000 };

const decision = (action: LetterDecision['action'], why: string): LetterDecision => ({
  id: `dd_${randomBase62(22)}`,
  action,
  why,
  by: 'anna@ops-1',
  at: new Date().toISOString(),
});

/** A durable reader whose program cannot parse some messages. */
function blind<T>(
  reader: DurableReader<T>,
  problemOf: (delivery: Delivery<T>) => Poison | undefined,
): DurableReader<T> {
  const seen = (delivery: Delivery<T>): Delivery<T> => {
    const problem = problemOf(delivery);
    return problem === undefined ? delivery : { ...delivery, value: undefined, problem };
  };
  return {
    ...reader,
    async next(options) {
      const delivery = await reader.next(options);
      return delivery === undefined ? undefined : seen(delivery);
    },
    more: async (count) => (await reader.more(count)).map(seen),
    async *reread(subject, from) {
      for await (const delivery of reader.reread(subject, from)) yield seen(delivery);
    },
  };
}

describeWithServers(['nats-server'], 'messages that were set aside', () => {
  let stand: TestBus;
  let gateway: BusOf<'gateway'>;
  let orchestrator: BusOf<'orchestrator'>;
  let projector: BusOf<'projector'>;
  let operator: BusOf<'operator'>;
  let stores: LetterStores;
  let client: NatsConnection;

  beforeAll(async () => {
    stand = await startTestBus();
    [gateway, orchestrator, projector, operator] = await Promise.all([
      stand.connect('gateway'),
      stand.connect('orchestrator'),
      stand.connect('projector'),
      stand.connect('operator'),
    ]);
    const access = { url: stand.server.url, user: 'operator', password: stand.passwords.operator ?? '' };
    stores = { letters: operator.deadLetters, logs: await openLogAudit(access) };
    const pass = stand.passwords.orchestrator ?? '';
    const user = 'orchestrator';
    client = await connect({ servers: stand.server.url, user, pass, inboxPrefix: inboxPrefix(user) });
  });
  afterAll(async () => {
    await client.close();
    await stand.stop();
  });

  let jobId: string;
  let subject: string;
  beforeEach(() => {
    jobId = newJobId();
    subject = exportLogSubject('acme', jobId);
  });

  const status = async (id = jobId) =>
    (await gateway.readModels.jobStatus.get(jobStatusKey('acme', id), { fromLeader: true }))?.document.revision;
  const letterOf = (service: string, { sequence }: { sequence: number }) => deadLetterKey(service, 'EXPORTS', sequence);
  const letter = async (id: string) => (await stores.letters.get(id, { fromLeader: true }))?.document;

  async function append(previous?: StoredCommit<ExportCommit>, id = jobId): Promise<StoredCommit<ExportCommit>> {
    const writer = previous === undefined ? gateway : orchestrator;
    const commit = exportCommit(exportState({ jobId: id, phase: 'rendering' }), previous);
    return writer.exports.append(commit, { sequence: previous?.sequence ?? 0 });
  }

  /** A commit that no program can read, and the valid commit that it replaces. */
  async function appendBroken(previous: StoredCommit<ExportCommit>): Promise<StoredCommit<ExportCommit>> {
    const commit = exportCommit(exportState({ jobId, phase: 'rendering' }), previous);
    const answer = await client.request(subject, JSON.stringify({ ...commit, revision: 'two' }));
    return { commit, sequence: answer.json<{ seq: number }>().seq };
  }

  const startProjector = (bus: BusOf<'projector'> = projector) => runProjections(bus, { instance: randomBase62(8) });

  function bindery(...args: string[]): Promise<{ stdout: string; stderr: string; code: number }> {
    const env = {
      ...process.env,
      BINDERY_NATS_URL: stand.server.url,
      BINDERY_NATS_PASSWORD_OPERATOR: stand.passwords.operator ?? '',
    };
    return new Promise((resolve) => {
      execFile(process.execPath, [mainFile, 'dead', ...args], { env }, (error, stdout, stderr) =>
        resolve({ stdout, stderr, code: typeof error?.code === 'number' ? error.code : 0 }),
      );
    });
  }

  test('messages behind a dropped one are handled, and a rebuild drops it as well', async () => {
    const stop = startProjector();
    const first = await append();
    const broken = await appendBroken(first);
    const third = await append(broken);
    const fourth = await append(third);
    const id = letterOf('projector', broken);
    await expect.poll(() => letter(id), poll).toMatchObject({ state: 'aside', cause: 'poison', isOrdered: true });
    const other = newJobId();
    await append(await append(undefined, other), other);
    await expect.poll(() => status(other), poll).toBe(2);
    expect(await status()).toBe(1);
    // There is one letter, not one for each message.
    expect(await letter(letterOf('projector', third))).toBeUndefined();

    const listed = await bindery('list');
    expect(listed.stdout).toContain(`${id}  ${subject}`);
    expect(listed.stdout).toContain('waits for you');
    const shown = await bindery('show', id);
    expect(shown.stdout).toContain('wrong at "revision"');
    expect(shown.stdout).toContain('"revision": "two"');
    expect(shown.stdout).toContain('2 messages wait behind it');
    expect(shown.stdout).toContain(`message ${fourth.sequence}: RenderingFinished`);

    const dropped = await bindery('drop', id, '--why', 'a bad deployment wrote it', '--by', 'anna@ops-1');
    expect(dropped).toMatchObject({ stdout: '1 letter settled\n', code: 0 });
    await expect.poll(() => status(), poll).toBe(4);
    expect((await bindery('drop', id, '--why', 'again')).stderr).toContain('dropped before, by anna@ops-1');
    expect((await bindery('retry', id, '--why', 'again')).stderr).toContain('dropped before');
    expect((await bindery('list')).stdout).toBe('Nothing is set aside.\n');
    const history = await bindery('list', '--history', '--json');
    const records = JSON.parse(history.stdout).records.filter((one: { subject: string }) => one.subject === subject);
    expect(records).toMatchObject([
      { outcome: 'set-aside', sequence: broken.sequence },
      { outcome: 'dropped', decision: { by: 'anna@ops-1', why: 'a bad deployment wrote it' } },
    ]);

    await append(fourth);
    await expect.poll(() => status(), poll).toBe(5);
    await rebuildProjection(operator, 'exports', { id: `rb_${randomBase62(22)}`, now: new Date() });
    expect(await status()).toBe(5);
    await stop();
  });

  test('a retried message and those behind it are handled in order, once the fault is mended', async () => {
    let isMended = false;
    const fault = () => new Poison('The disk of the projector is upside down.');
    const isFaulty = (commit?: ExportCommit) => !isMended && commit?.subject === subject && commit.revision === 2;
    const stop = startProjector({
      ...projector,
      exports: {
        ...projector.exports,
        async *history(of) {
          for await (const stored of projector.exports.history(of)) {
            if (isFaulty(stored.commit)) throw fault();
            yield stored;
          }
        },
      },
      projectionReaders: {
        ...projector.projectionReaders,
        exports: async (generation) =>
          blind(await projector.projectionReaders.exports(generation), ({ value }) =>
            isFaulty(value) ? fault() : undefined,
          ),
      },
    });
    const second = await append(await append());
    await append(await append(second));
    const id = letterOf('projector', second);
    await expect.poll(() => letter(id), poll).toMatchObject({ reason: 'The disk of the projector is upside down.' });

    const tooEarly = await settleLetter(stores, id, decision('retry', 'perhaps'));
    expect(tooEarly).toMatchObject({ outcome: 'failed-again', reason: 'The disk of the projector is upside down.' });
    expect(await letter(id)).toMatchObject({ state: 'aside', failed: { by: 'anna@ops-1', why: 'perhaps' } });
    expect(await status()).toBe(1);

    isMended = true;
    expect(await settleLetter(stores, id, decision('retry', 'turned it'))).toMatchObject({
      outcome: 'retried',
      already: false,
    });
    expect(await status()).toBe(4);
    expect(await letter(id)).toBeUndefined();
    expect(await settleLetter(stores, id, decision('retry', 'twice'))).toMatchObject({
      outcome: 'retried',
      already: true,
      decision: { why: 'turned it' },
    });
    await stop();
  });

  test('a decision outlives the command that made it, and the service that began it', async () => {
    const stop = startProjector();
    const broken = await appendBroken(await append());
    await append(broken);
    const id = letterOf('projector', broken);
    await expect.poll(() => letter(id), poll).toMatchObject({ state: 'aside' });
    await stop();

    const halfway = settleLetter(stores, id, decision('drop', 'first'), 200);
    await expect(halfway).rejects.toThrow('Your decision is kept');
    await expect(settleLetter(stores, id, decision('retry', 'no'), 200)).rejects.toThrow(
      /^anna@ops-1 decided at \S+ to drop /,
    );
    // Another process took the decision and died.
    const stored = await stores.letters.get(id, { fromLeader: true });
    if (stored === undefined) throw new Error('The letter is there.');
    await stores.letters.put(id, { ...stored.document, takenBy: 'a dead one' });

    const repeated = settleLetter(stores, id, decision('drop', 'second'));
    const stopNext = startProjector();
    expect(await repeated).toMatchObject({ outcome: 'dropped', decision: { why: 'first' } });
    expect(await status()).toBe(3);
    await stopNext();
    await expect(settleLetter(stores, 'projector.EXPORTS.999999', decision('drop', 'x'))).rejects.toThrow(
      'There is no dead letter "projector.EXPORTS.999999"',
    );
  });

  test('a request of a newer version waits for the upgrade, and is then handled automatically', async () => {
    const objectStore = testObjectStore();
    const leadWith = (isOld: boolean) => {
      const exportReader = async () =>
        blind(await orchestrator.exportReader(), (delivery) =>
          isOld && delivery.subject === subject
            ? new NewerMessage('This program does not know data.events.0.version.')
            : undefined,
        );
      return leadingOrchestrator({ bus: stand, objectStore }, { bus: { ...orchestrator, exportReader } });
    };
    const request = (id: string) =>
      gateway.exports.append(exportCommit(exportState({ jobId: id }), undefined, [exportRequested({ jobId: id })]), {
        sequence: 0,
      });
    const active = (id: string) => orchestrator.activeJobs.get(`acme.${id}`, { fromLeader: true });

    const old = await leadWith(true);
    // A leader fills a new index from the log, and would find the request there.
    await expect.poll(() => orchestrator.activeJobsMark.isSet(), poll).toBe(true);
    const newer = await request(jobId);
    const id = letterOf('orchestrator', newer);
    await expect.poll(() => letter(id), poll).toMatchObject({ cause: 'newer', isOrdered: false });
    const other = newJobId();
    await request(other);
    await expect.poll(async () => (await active(other)) !== undefined || (await ended(other)), poll).toBe(true);
    expect(await active(jobId)).toBeUndefined();
    await old.stop();

    const upgraded = await leadWith(false);
    await expect.poll(async () => (await active(jobId)) !== undefined || (await ended(jobId)), poll).toBe(true);
    await expect.poll(() => letter(id), poll).toBeUndefined();
    const records = (await stores.logs.stored('DEAD', 'dead.orchestrator.EXPORTS')).map(({ text }) => JSON.parse(text));
    expect(records.filter((record) => record.subject === subject)).toMatchObject([
      { outcome: 'set-aside' },
      { outcome: 'retried' },
    ]);
    await upgraded.stop();
    await objectStore.close();

    // The content of the job does not exist, so it fails as soon as it is handled.
    async function ended(job: string): Promise<boolean> {
      const last = await gateway.exports.last(exportLogSubject('acme', job), { fromLeader: true });
      return last?.commit.data.state.phase === 'failed';
    }
  });
});
