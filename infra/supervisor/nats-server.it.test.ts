import { expect, onTestFinished, test, vi } from 'vitest';
import { requireServer } from '#infra/setup/find-server.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { freePorts } from './free-ports.ts';
import { runNatsServer } from './nats-server.ts';

describeWithServers(['nats-server'], 'a nats-server that is kept running', () => {
  const dying = async () => {
    const folder = newFolder();
    const [port = 0] = await freePorts(1);
    const ends = Promise.withResolvers<string>();
    const nats = await runNatsServer({
      binary: requireServer('nats-server'),
      folder,
      port,
      configText: `host: 127.0.0.1\nport: ${port}\n`,
      onExit: ends.resolve,
    });
    onTestFinished(async () => {
      vi.useRealTimers();
      await nats.stop();
    });
    // With fake timers, only this test triggers the restart.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const first = nats.pid() ?? 0;
    process.kill(first, 'SIGKILL');
    expect(await ends.promise).toMatch(/^nats-server ended \(SIGKILL\)/);
    expect(nats.pid()).toBeUndefined();
    return { nats, first };
  };

  test('is restarted when it is killed', async () => {
    const { nats, first } = await dying();
    vi.runAllTimers();
    expect(nats.pid()).toBeGreaterThan(0);
    expect(nats.pid()).not.toBe(first);
  });

  test('is not restarted when it is stopped first', async () => {
    const { nats } = await dying();
    await nats.stop();
    vi.runAllTimers();
    expect(nats.pid()).toBeUndefined();
  });
});
