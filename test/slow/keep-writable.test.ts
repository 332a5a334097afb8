import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { requireServer } from '#infra/setup/find-server.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { provision } from '#shared/messaging/nats/provision.ts';
import { exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { natsConfig, serverUsers } from '#shared/messaging/subjects/permissions.ts';
import { exportCommit, exportState } from '../support/make-commit.ts';
import { describeWithSmallDisk, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { type EmbeddedNats, runNatsServer } from '#infra/supervisor/nats-server.ts';

const poll = { timeout: 60_000, interval: 200 };

describeWithSmallDisk('a nats-server whose disk was full', () => {
  let disk: SmallDisk;
  let nats: EmbeddedNats;
  let gateway: BusOf<'gateway'>;
  let news: string[];

  beforeEach(async () => {
    news = [];
    disk = mountSmallDisk(64);
    const [port = 0] = await freePorts(1);
    const passwords = Object.fromEntries(serverUsers.map((user) => [user, randomBytes(8).toString('hex')]));
    nats = await runNatsServer({
      binary: requireServer('nats-server'),
      folder: disk.folder,
      port,
      configText: natsConfig({ port, storeDir: `${disk.folder}/store`, passwords }),
      onExit: (line) => news.push(line),
      supervisorPassword: passwords.supervisor,
    });
    await provision({ url: nats.url, password: passwords.provisioner ?? '', rendererVersions: [] });
    gateway = await connectBus({
      url: nats.url,
      service: 'gateway',
      password: passwords.gateway ?? '',
      instance: 'test',
    });
  });
  afterEach(async () => {
    await gateway.close();
    await nats.stop();
    disk.remove();
  });

  const jobIdOf = (n: number) => `se_${String(n).padStart(22, '0')}`;
  const request = (n: number) =>
    gateway.exports.append(exportCommit(exportState({ jobId: jobIdOf(n) })), { sequence: 0 });

  test('is not ready until there is room, is then restarted automatically, and loses no accepted message', async () => {
    await gateway.check();
    const first = nats.pid();
    disk.fill();
    const accepted: number[] = [];
    const refusal = await (async () => {
      for (let n = 1; ; n += 1) {
        try {
          await request(n);
          accepted.push(n);
        } catch (error) {
          return error;
        }
      }
    })();
    expect(refusal).toMatchObject({ name: 'BusUnavailable' });
    await expect(gateway.check()).rejects.toThrow(/store/);
    await expect.poll(() => news, poll).toEqual([expect.stringContaining('its disk is full: make room in')]);
    expect(nats.pid()).toBe(first);

    disk.free();
    await expect.poll(() => news.slice(1), poll).toEqual([expect.stringContaining('although there is room')]);
    await expect.poll(() => gateway.check().then(() => 'ready', String), poll).toBe('ready');
    expect(nats.pid()).not.toBe(first);
    await request(1_000_000);
    for (const n of [...accepted, 1_000_000]) {
      const last = await gateway.exports.last(exportLogSubject('acme', jobIdOf(n)), { fromLeader: true });
      expect(last?.commit.revision).toBe(1);
    }
    expect(news).toHaveLength(2);
  }, 180_000);
});
