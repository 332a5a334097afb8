import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export type LoopbackServer = { url: string; port: number; close: () => Promise<void> };

/** Lets a server listen on a free port of loopback. `close` also ends its connections. */
export async function onLoopback(server: Server): Promise<LoopbackServer> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}
