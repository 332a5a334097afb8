import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { startTestBus, type TestBus } from '../../test/support/start-bus.ts';
import { type LiveGateways, liveGateways } from './live-gateways.ts';

describeWithServers(['nats-server'], 'gateways that count each other over NATS', () => {
  let bus: TestBus;
  beforeAll(async () => {
    bus = await startTestBus();
  });
  afterAll(() => bus.stop());

  test('need just the rights of a gateway; the number stays while the server is away', async () => {
    const open = async (name: string): Promise<LiveGateways> => {
      const { presence } = await bus.connect('gateway', name);
      return liveGateways(presence, name, systemClock);
    };
    const [one, two] = [await open('one'), await open('two')];
    for (const gateway of [one, two]) await expect.poll(() => gateway.count()).toBe(2);
    await bus.server.kill();
    expect([one.count(), two.count()]).toEqual([2, 2]);
    await bus.server.restart();
    const three = await open('three');
    for (const gateway of [one, two, three]) await expect.poll(() => gateway.count()).toBe(3);
    three.stop();
    for (const gateway of [one, two]) await expect.poll(() => gateway.count()).toBe(2);
    one.stop();
    two.stop();
  });
});
