import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Proxy on loopback that closes a connection at a chosen moment, as a dying server would. */
export type CuttingProxy = {
  port: number;
  /** Closes a connection once, after the next piece from the server that has this text. Resolves when it is closed. */
  cutAfter(text: string): Promise<void>;
  close(): Promise<void>;
};

export async function cuttingProxy(serverPort: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let cut: { text: string; done: () => void } | undefined;
  const proxy = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1');
    const ends = [client, server];
    const end = () => ends.forEach((socket) => socket.destroy());
    for (const socket of ends) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => server.write(bytes));
    server.on('data', (bytes) => {
      if (cut === undefined || !bytes.includes(cut.text)) {
        client.write(bytes);
        return;
      }
      const { text, done } = cut;
      cut = undefined;
      client.end(bytes.subarray(0, bytes.indexOf(text) + text.length), () => {
        end();
        done();
      });
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    cutAfter: (text) =>
      new Promise((resolve) => {
        cut = { text, done: resolve };
      }),
    async close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
