import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Bytes that were sent to a server and read from it, and its requests by method. `streams`: open connections with server-sent events. */
export type StoreTraffic = {
  sentBytes: number;
  readBytes: number;
  requests: Readonly<Record<string, number>>;
  streams: number;
};

/** Proxy on loopback that counts the bytes to and from an HTTP server, and the requests. */
export type CountingProxy = { port: number; traffic(): StoreTraffic; reset(): void; close(): Promise<void> };

export async function countingProxy(serverPort: number): Promise<CountingProxy> {
  const sockets = new Set<Socket>();
  const streams = new Set<Socket>();
  let sentBytes = 0;
  let readBytes = 0;
  let requests: Record<string, number> = {};
  const proxy = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1');
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    }
    server.on('close', () => streams.delete(server));
    client.on('data', (bytes) => {
      sentBytes += bytes.length;
      // A client writes the head of a request at once.
      const method = /^([A-Z]+) \/\S* HTTP/.exec(bytes.toString('latin1', 0, 2_000))?.[1];
      if (method !== undefined) requests[method] = (requests[method] ?? 0) + 1;
    });
    server.on('data', (bytes) => {
      readBytes += bytes.length;
      if (/^HTTP\/1\.1 200 [^]*^content-type: text\/event-stream/im.test(bytes.toString('latin1', 0, 2_000)))
        streams.add(server);
    });
    client.pipe(server);
    server.pipe(client);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    traffic: () => ({ sentBytes, readBytes, requests: { ...requests }, streams: streams.size }),
    reset() {
      [sentBytes, readBytes, requests] = [0, 0, {}];
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
