import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { endStalledConnections } from './stalled-connections.ts';

test('a request that is in flight when the server closes is answered, on a new connection and on a used one', async () => {
  const server = createServer((_request, response) => void response.end('whole'));
  endStalledConnections(server, 60_000);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const fresh = connect(port, '127.0.0.1');
  const used = connect(port, '127.0.0.1');
  used.write(request);
  await Promise.all([once(fresh, 'connect'), once(used, 'data')]);

  const closed = once(server, 'close');
  server.close();
  for (const socket of [fresh, used]) socket.write(request);
  const answers = await Promise.all([fresh, used].map(async (socket) => String((await once(socket, 'data'))[0])));
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
  await closed;
});

test('a server that closes ends connections without a request, and completes responses in flight', async () => {
  let answer = (): void => {};
  const isAsked = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    answer = () => void response.end('whole');
    isAsked.resolve();
  });
  endStalledConnections(server, 60_000);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const silent = connect(port, '127.0.0.1').resume();
  const unfinished = connect(port, '127.0.0.1').resume();
  unfinished.write('GET / HTTP/1.1\r\nHost:');
  await Promise.all([once(silent, 'connect'), once(unfinished, 'connect')]);
  const asking = fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } });
  await isAsked.promise;

  const closed = once(server, 'close');
  server.close();
  await Promise.all([once(silent, 'close'), once(unfinished, 'close')]);
  answer();
  expect(await (await asking).text()).toBe('whole');
  await closed;
});

test.each(['before', 'after'])(
  'a connection whose response has its head %s the server closes, and its end later, ends with the response',
  async (when) => {
    let response: ServerResponse | undefined;
    const isAsked = Promise.withResolvers<void>();
    const server = createServer((_request, asked) => {
      response = asked;
      if (when === 'before') asked.flushHeaders();
      isAsked.resolve();
    });
    // The keep-alive timeout is as long as that of proxies.
    server.keepAliveTimeout = 3_600_000;
    endStalledConnections(server, 3_600_000);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const silent = connect(port, '127.0.0.1').resume();
    const asking = connect(port, '127.0.0.1').resume();
    asking.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.all([once(silent, 'connect'), isAsked.promise]);

    const ends = Promise.all([once(server, 'close'), once(asking, 'close')]);
    server.close();
    await once(silent, 'close');
    response?.end('whole');
    await ends;
  },
);
