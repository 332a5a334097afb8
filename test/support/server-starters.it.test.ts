import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { describeWithServers } from './describe-with-servers.ts';
import { startNatsServer } from './start-bus.ts';
import { startRedis } from './start-redis.ts';
import { startVersityGateway } from './start-versitygw.ts';

async function firstBytes(port: number): Promise<string> {
  const socket = createConnection({ host: '127.0.0.1', port });
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return chunk.toString();
}

describeWithServers(['nats-server'], 'a nats-server for tests', () => {
  test('greets with JetStream, comes back on its port after a kill, and leaves nothing', async () => {
    const server = await startNatsServer({ configText: 'max_payload: 2MB\n' });
    expect(await firstBytes(server.port)).toMatch(
      /^INFO .*"jetstream":true.*"max_payload":2097152|^INFO .*"max_payload":2097152.*"jetstream":true/,
    );
    const firstPid = server.pid;
    await server.kill();
    await server.restart();
    expect(server.pid).not.toBe(firstPid);
    expect(await firstBytes(server.port)).toMatch(/^INFO /);
    await server.stop();
    await expect(firstBytes(server.port)).rejects.toThrow('ECONNREFUSED');
    await expect(access(dirname(server.storeDir))).rejects.toThrow('ENOENT');
  });

  test('reports the output of a server that does not start', async () => {
    await expect(startNatsServer({ configText: 'no_such_setting: 1\n' })).rejects.toThrow('no_such_setting');
  });
});

describeWithServers(['versitygw'], 'an S3 server for tests', () => {
  test('answers, and again after a kill', async () => {
    const server = await startVersityGateway();
    expect((await fetch(server.endpoint)).status).toBe(403);
    await server.kill();
    await server.restart();
    expect((await fetch(server.endpoint)).status).toBe(403);
    await server.stop();
  });
});

describeWithServers(['redis-server'], 'a Redis for tests', () => {
  test('answers, is silent while paused, and stops while paused', async () => {
    const server = await startRedis();
    const socket = createConnection({ host: '127.0.0.1', port: server.port });
    socket.write('PING\r\n');
    expect(String(((await once(socket, 'data')) as [Buffer])[0])).toBe('+PONG\r\n');
    await server.pause();
    socket.write('PING\r\n');
    await server.resume();
    expect(String(((await once(socket, 'data')) as [Buffer])[0])).toBe('+PONG\r\n');
    socket.destroy();
    await server.pause();
    await server.stop();
  });
});
