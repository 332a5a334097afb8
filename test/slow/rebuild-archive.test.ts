import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { callOffRebuild, rebuildProjection } from '#services/cli/commands/projections.ts';
import { archivedJobKey } from '#shared/contracts/stored-objects.ts';
import { jobStatusKey, listPartKey } from '#shared/interfaces/read-models.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { exportCommit, exportRequested, exportState } from '../support/make-commit.ts';
import { runProjections } from '../support/run-projections.ts';
import { startTestBus, type TestBus } from '../support/start-bus.ts';
import { testObjectStore } from '../support/test-object-store.ts';

const jobOf = (letter: string) => `se_${letter.repeat(22)}`;
const keyOf = (letter: string) => archivedJobKey('acme', jobOf(letter));

describeWithServers(['nats-server'], 'a rebuild that reads the archive', () => {
  let stand: TestBus;
  let projector: BusOf<'projector'>;
  let operator: BusOf<'operator'>;
  let objectStore: ObjectStore;
  let stopProjector: () => Promise<void>;

  beforeEach(async () => {
    stand = await startTestBus();
    [projector, operator] = await Promise.all([stand.connect('projector'), stand.connect('operator')]);
    objectStore = testObjectStore();
    const gateway = await stand.connect('gateway');
    const jobId = jobOf('l');
    const first = exportCommit(exportState({ jobId }), undefined, [exportRequested({ jobId })]);
    await gateway.exports.append(first, { sequence: 0 });
  });
  afterEach(async () => {
    await stopProjector();
    await stand.stop();
  });

  function startProjector(archive: Pick<ObjectStore, 'list' | 'get' | 'head'> = objectStore) {
    stopProjector = runProjections(projector, { archive });
  }
  const request = (id: string) => ({ id, now: new Date() });

  /** The object of a job with one commit, as the housekeeper stores it. */
  async function archive(letter: string, changes: (text: string) => string = (text) => text) {
    const jobId = jobOf(letter);
    const commit = exportCommit(exportState({ jobId }), undefined, [exportRequested({ jobId })]);
    const messages = [{ sequence: 1, text: changes(JSON.stringify(commit)) }];
    const body = { version: 1, subject: exportLogSubject('acme', jobOf(letter)), messages };
    await objectStore.put(keyOf(letter), Buffer.from(JSON.stringify(body)));
  }

  /** The jobs whose request is in the live audit, and those with a status. */
  const rebuiltJobs = async () => {
    const pointer = await operator.projections.pointers.get('exports');
    const { auditExports, jobStatus } = projector.generations[pointer?.document.live ?? 'blue'];
    const stored = await auditExports.get(listPartKey('acme', '2026-03-01', 0), { fromLeader: true });
    const inAudit = stored?.document.entries.map(({ jobId = '' }) => jobStatusKey('acme', jobId)) ?? [];
    return { inAudit: inAudit.toSorted(), withStatus: await jobStatus.keys() };
  };

  test('leaves out objects that are no whole history, says which and why, and takes all others', async () => {
    await archive('a');
    await objectStore.put(
      keyOf('b'),
      Buffer.from('{"version":1,"subject":"x","messages":[{"sequence":1,"text":"{}"}]}'),
    );
    await objectStore.put(keyOf('c'), Buffer.from('{'));
    await archive('d', (text) => text.replace('"acme"', '"acne"'));
    await archive('e', (text) => text.replace('ExportRequested', 'Unheard-of'));
    await archive('f');
    await objectStore.put(keyOf('g'), (await objectStore.get(keyOf('f'))) ?? Buffer.from(''));
    await archive('z');
    startProjector();
    const rebuilt = await rebuildProjection(operator, 'exports', request('r1'));
    expect(rebuilt.setAsideCount).toBe(5);
    expect(rebuilt.setAside?.map(({ key }) => key).toSorted()).toEqual(['b', 'c', 'd', 'e', 'g'].map(keyOf));
    expect(rebuilt.setAside?.find(({ key }) => key === keyOf('d'))?.reason).toMatch(/bytes of the commit/);
    expect(await rebuiltJobs()).toEqual({
      inAudit: ['a', 'f', 'l', 'z'].map((letter) => jobStatusKey('acme', jobOf(letter))),
      withStatus: [jobStatusKey('acme', jobOf('l'))],
    });
  });

  const whole = () => ({ list: objectStore.list.bind(objectStore), head: objectStore.head.bind(objectStore) });

  /** An archive that is never read to its end: its first object does not come until the reader gives up. */
  function endlessArchive() {
    const reading = Promise.withResolvers<void>();
    const get: ObjectStore['get'] = (_key, { signal } = {}) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
        reading.resolve();
      });
    return { reading: reading.promise, archive: { ...whole(), get } };
  }

  test('can be called off: the live generation stays, the filled one is emptied, and the next rebuild starts from the beginning', async () => {
    await archive('a');
    const { reading, archive: endless } = endlessArchive();
    startProjector(endless);
    const rebuilding = rebuildProjection(operator, 'exports', request('r1')).catch((error: Error) => error.message);
    await reading;
    expect(await callOffRebuild(operator, 'exports', request('r2'))).toEqual({ rebuildId: 'r1' });
    expect(await rebuilding).toMatch(/was called off/);
    const { live, rebuild } = (await operator.projections.pointers.get('exports'))?.document ?? {};
    expect([live, rebuild]).toEqual(['blue', undefined]);
    expect(await projector.generations.green.jobStatus.keys()).toEqual([]);
    expect((await rebuiltJobs()).withStatus).toEqual([jobStatusKey('acme', jobOf('l'))]);
    expect(await callOffRebuild(operator, 'exports', request('r3'))).toEqual({ rebuildId: undefined });

    await stopProjector();
    startProjector();
    expect(await rebuildProjection(operator, 'exports', request('r4'))).toMatchObject({ live: 'green' });
  });

  test('gives way to a newer request', async () => {
    await archive('a');
    const { reading, archive: endless } = endlessArchive();
    let isEndless = true;
    startProjector({
      ...endless,
      get: (key, options) => (isEndless ? endless : objectStore).get(key, options),
    });
    const first = rebuildProjection(operator, 'exports', request('r1')).catch((error: Error) => error.message);
    await reading;
    isEndless = false;
    expect(await rebuildProjection(operator, 'exports', request('r2'))).toMatchObject({ id: 'r2', live: 'green' });
    expect(await first).toMatch(/was replaced by another one/);
    expect((await rebuiltJobs()).inAudit).toHaveLength(2);
  });

  test('ends with its projector, however long the archive takes', async () => {
    await archive('a');
    const { reading, archive: endless } = endlessArchive();
    startProjector(endless);
    const rebuilding = rebuildProjection(operator, 'exports', request('r1'));
    await reading;
    await stopProjector();
    startProjector();
    await vi.waitFor(async () => expect(await rebuilding).toMatchObject({ id: 'r1' }), 60_000);
  });
});
