import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSlowClients } from '../../test/support/docs-host-load.ts';
import { closeSlowest } from './slow-clients.ts';

const most = 50;
let server: Server;
let port: number;

beforeEach(async () => {
  // The server has no timeouts of its own, so only `closeSlowest` closes connections.
  server = createServer({ headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 }, (request, response) => {
    if (request.url !== '/slow') response.end('read');
  });
  closeSlowest(server, most);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

test.each([
  ['at once', false],
  ['after an answer', true],
])('of clients that send headers slowly %s, the newest ones stay', async (_when, afterAnswer) => {
  const clients = await openSlowClients(port, 4 * most, afterAnswer);
  await expect.poll(() => clients.open()).toBe(most);
  if (afterAnswer) expect(clients.answered()).toBe(4 * most);
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('read');
  clients.end();
});

const opened = async (text: string): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  // The connection that waited longest is closed.
  socket.on('error', () => {});
  socket.write(text);
  return socket;
};

test('the newest clients stay of those whose bodies do not arrive', async () => {
  const asking = 'POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n';
  const clients = await Promise.all(Array.from({ length: 2 * most }, () => opened(asking)));
  const areOpen = () => clients.filter(({ readyState }) => readyState === 'open').length;
  await expect.poll(areOpen).toBe(most);
  for (const socket of clients) socket.destroy();
});

test('an answer under way is never cut, also beside another on its connection', async () => {
  const answering = await opened('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  const both = await opened('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(both, 'data');
  const clients = await openSlowClients(port, 4 * most, false);
  await expect.poll(() => clients.open()).toBe(most);
  expect([answering.readyState, both.readyState]).toEqual(['open', 'open']);
  for (const socket of [answering, both]) socket.destroy();
  clients.end();
});
