import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { requireServer } from '#infra/setup/find-server.ts';
import { natsConfig, rightsSubject, rightsVersion, serverUsers } from '#shared/messaging/subjects/permissions.ts';
import { describeWithServers } from '../../../test/support/describe-with-servers.ts';
import { type ServerProcess, startServerProcess } from '../../../test/support/server-process.ts';
import { inspectBus } from './inspect-bus.ts';
import { provision } from './provision.ts';

describeWithServers(['nats-server'], 'a server that still has the rights of an older version', () => {
  const config = natsConfig({ passwords: Object.fromEntries(serverUsers.map((user) => [user, `${user} password`])) });
  const password = 'provisioner password';
  let folder: string;
  let server: ServerProcess;
  let url: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bindery-rights-'));
    const older = config.replace(JSON.stringify(rightsSubject()), '"rights.before"');
    await writeFile(join(folder, 'nats.conf'), older);
    server = await startServerProcess(
      {
        program: requireServer('nats-server'),
        args: ['-c', join(folder, 'nats.conf'), '-p', '-1', '--store_dir', join(folder, 'store')],
      },
      /Listening for client connections on 127\.0\.0\.1:(\d+)[^]*Server is ready/,
    );
    url = `nats://127.0.0.1:${server.greeting[1]}`;
  });
  afterEach(async () => {
    await server.kill();
    await rm(folder, { recursive: true });
  });

  const inspected = async () =>
    (await inspectBus({ address: { url, user: 'provisioner', password }, oldestServer: [2, 12], rendererVersions: [] }))
      .filter(({ level }) => level === 'fault')
      .map(({ text }) => text);

  test('is not provisioned, and the doctor says why', async () => {
    await expect(provision({ url, password, rendererVersions: [], rightsWithinMs: 0 })).rejects.toThrow(
      /has the rights of an older version of Bindery\. .*nats-server --signal reload/,
    );
    expect(await inspected()).toEqual([expect.stringContaining('has the rights of an older version')]);
  });

  test('is provisioned once it has read its configuration again', async () => {
    const waits = Promise.withResolvers<void>();
    const ignore = () => {};
    const log = { info: ignore, error: ignore, warn: () => waits.resolve() };
    const provisioned = provision({ url, password, rendererVersions: [], log });
    await waits.promise;
    await writeFile(join(folder, 'nats.conf'), config);
    process.kill(server.pid, 'SIGHUP');
    await provisioned;
    expect(await inspected()).toEqual([]);
  });

  test('has the rights of earlier versions as well, so that a downgrade is possible', () => {
    for (let version = 1; version <= rightsVersion; version += 1)
      expect(config).toContain(JSON.stringify(rightsSubject(version)));
  });
});
