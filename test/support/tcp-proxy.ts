import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** Proxy on loopback in front of a server on loopback. */
export type TcpProxy = { port: number; close(): Promise<void> };

type Watched = {
  /** Called with each piece that a client sends, before it is passed on. */
  onRequest?: (bytes: Buffer) => void;
  /** Passes a piece of an answer on to the client, in place of the proxy. `end` closes both connections. */
  answer: (bytes: Buffer, client: Socket, end: () => void) => void;
};

export async function tcpProxy(serverPort: number, { onRequest = () => {}, answer }: Watched): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1');
    const end = (): void => [client, server].forEach((socket) => socket.destroy());
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        // `end` still sends the bytes that were written before.
        (socket === server ? client : server).end();
      });
    }
    client.on('data', (bytes) => {
      onRequest(bytes);
      server.write(bytes);
    });
    server.on('data', (bytes) => answer(bytes, client, end));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
