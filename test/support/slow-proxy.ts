import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Proxy on loopback that delays each answer by `delayMs`. */
export type SlowProxy = {
  port: number;
  delayMs: number;
  /** Number of forwarded pieces of answers. */
  answers: number;
  close(): Promise<void>;
};

export async function slowProxy(serverPort: number): Promise<SlowProxy> {
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1');
    const end = () => [client, server].forEach((socket) => socket.destroy());
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => server.write(bytes));
    server.on('data', (bytes) => {
      setTimeout(() => {
        if (!client.destroyed) client.write(bytes);
        slow.answers += 1;
      }, slow.delayMs);
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const slow: SlowProxy = {
    port: (proxy.address() as AddressInfo).port,
    delayMs: 0,
    answers: 0,
    async close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
  return slow;
}
