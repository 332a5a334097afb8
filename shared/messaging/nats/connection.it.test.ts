import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requireServer } from '#infra/setup/find-server.ts';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { describeWithServers } from '../../../test/support/describe-with-servers.ts';
import { startServerProcess } from '../../../test/support/server-process.ts';
import { openConnection, trafficOf } from './connection.ts';

describeWithServers(['nats-server'], 'a connection to the bus', () => {
  test('comes back when a server that did not know its user any more knows it again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bindery-connection-'));
    const [port = 0] = await freePorts(1);
    const file = join(folder, 'nats.conf');
    const configure = (password: string) =>
      writeFile(
        file,
        `host: "127.0.0.1"\nport: ${port}\nauthorization { users = [{ user: "gateway", password: "${password}" }] }\n`,
      );
    await configure('first');
    const server = await startServerProcess(
      { program: requireServer('nats-server'), args: ['-c', file] },
      /Server is ready/,
    );
    const lines: string[] = [];
    const log = {
      info: (line: string) => void lines.push(line),
      warn: (line: string) => void lines.push(line),
      error: (_: object, line: string) => void lines.push(line),
    };
    const address = { url: `nats://127.0.0.1:${port}`, user: 'gateway', password: 'first' };
    const connection = await openConnection(address, 'test', log);
    let refusals = 0;
    void (async () => {
      for await (const status of connection.status()) refusals += Number(status.type === 'error');
    })();
    try {
      await configure('second');
      process.kill(server.pid, 'SIGHUP');
      // The client's own default is to give up at the second refusal.
      await expect.poll(() => refusals).toBeGreaterThanOrEqual(3);
      expect(trafficOf(connection)).toMatchObject({ connected: false, disconnects: 1 });
      await configure('first');
      process.kill(server.pid, 'SIGHUP');
      await expect.poll(() => trafficOf(connection).connected).toBe(true);
      await connection.flush();
      expect(lines.filter((line) => line.includes('does not know the user "gateway"'))).toHaveLength(1);
      expect(lines.at(-1)).toBe('the bus answers again');
    } finally {
      await connection.close();
      await server.kill();
      await rm(folder, { recursive: true });
    }
  });
});
