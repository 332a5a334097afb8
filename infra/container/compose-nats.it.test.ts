import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { requireServer } from '#infra/setup/find-server.ts';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { openedAtOnce } from '#shared/messaging/nats/connection.ts';
import { hasRights } from '#shared/messaging/nats/rights.ts';
import { natsConfig, rightsSubject, serverUsers } from '#shared/messaging/subjects/permissions.ts';
import { describeWithServers } from '../../test/support/describe-with-servers.ts';
import { newFolder } from '../../test/support/new-folder.ts';
import { startServerProcess } from '../../test/support/server-process.ts';

type Compose = { services: { nats: { entrypoint: [string, string]; command: [string] } } };

describeWithServers(['nats-server'], 'nats-server as the Compose file starts it', () => {
  test('reloads its configuration when a new version has written it, and ends on SIGTERM', async () => {
    const folder = newFolder();
    const [port = 0] = await freePorts(1);
    const file = join(folder, 'nats.conf');
    const config = natsConfig({ passwords: Object.fromEntries(serverUsers.map((user) => [user, 'password'])), port });
    await writeFile(file, config.replace(JSON.stringify(rightsSubject()), '"rights.before"'));
    const compose = load(await readFile(join(import.meta.dirname, '../../docker-compose.yml'), 'utf8')) as Compose;
    const { entrypoint, command } = compose.services.nats;
    const script = command[0]
      .replaceAll('$$', '$')
      .replaceAll('/run/secrets/nats.conf', file)
      .replace('--store_dir /data', `--store_dir ${join(folder, 'data')}`);
    const server = await startServerProcess(
      {
        program: entrypoint[0],
        args: [entrypoint[1], script],
        env: { PATH: `${dirname(requireServer('nats-server'))}:${process.env.PATH}` },
      },
      /Server is ready/,
    );
    const has = async () => {
      const address = { url: `nats://127.0.0.1:${port}`, user: 'provisioner', password: 'password' };
      const connection = await openedAtOnce(address, 'test', 5_000);
      try {
        return await hasRights(connection);
      } finally {
        await connection.close();
      }
    };
    try {
      expect(await has()).toBe(false);
      await writeFile(file, config);
      await expect.poll(has).toBe(true);
    } finally {
      await server.kill('SIGTERM');
    }
    await expect(has()).rejects.toThrow(/refused/i);
  });
});
