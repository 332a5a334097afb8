import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keyUseKey } from '#shared/interfaces/read-models.ts';
import { failingFast } from '../bus-outage.ts';
import { describeWithServers } from '../../../test/support/describe-with-servers.ts';
import { startTestBus, type TestBus } from '../../../test/support/start-bus.ts';
import { keyUses } from './key-uses.ts';

describeWithServers(['nats-server'], 'last uses of keys over NATS', () => {
  let bus: TestBus;
  beforeAll(async () => {
    bus = await startTestBus();
  });
  afterAll(() => bus.stop());

  test('work with just the rights of a gateway; a use outlasts the server, and its gateway', async () => {
    let time = Date.parse('2026-03-01T10:00:00.000Z');
    const clock = { now: () => new Date(time) };
    // A gateway that has not noticed yet that the bus is gone.
    const unnoticed = {
      orGone: <T>(ask: (cut: () => AbortSignal) => Promise<T>) => ask(() => new AbortController().signal),
    };
    const open = async (name: string) => {
      const { keyUses: store } = await bus.connect('gateway', name);
      return { store, uses: keyUses(failingFast(store, unnoticed), clock, pino({ level: 'silent' })) };
    };
    const [one, two] = [await open('one'), await open('two')];
    const ids = Array.from({ length: 500 }, (_, at) => `key_${String(at).padStart(16, '0')}`);
    for (const id of ids) one.uses.note('acme', id);
    await one.uses.flush();
    expect((await two.uses.lastUses('acme', ids)).size).toBe(500);
    expect((await two.uses.lastUses('globex', ids)).size).toBe(0);

    await bus.server.kill();
    time += 61_000;
    two.uses.note('acme', 'key_0000000000000000');
    await bus.server.restart();
    // The first flushes may still fail; none of them loses the use.
    const stored = async () => {
      await two.uses.flush();
      return (await one.store.get(keyUseKey('acme', 'key_0000000000000000')))?.document.lastUsedAt;
    };
    await expect.poll(stored).toBe('2026-03-01T10:01:01.000Z');

    time += 1_000;
    two.uses.note('acme', 'key_0000000000000001');
    await two.uses.close();
    expect((await one.store.get(keyUseKey('acme', 'key_0000000000000001')))?.document.lastUsedAt).toBe(
      '2026-03-01T10:01:02.000Z',
    );
    await one.uses.close();
  });
});
