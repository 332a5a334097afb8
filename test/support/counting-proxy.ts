import type { Socket } from 'node:net';
import { tcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** Bytes that were sent to a server and read from it, and its requests by method. `streams`: open connections with server-sent events. */
export type StoreTraffic = {
  sentBytes: number;
  readBytes: number;
  requests: Readonly<Record<string, number>>;
  streams: number;
};

/** Proxy that counts the bytes to and from an HTTP server, and the requests. */
export type CountingProxy = TcpProxy & { traffic(): StoreTraffic; reset(): void };

export async function countingProxy(serverPort: number): Promise<CountingProxy> {
  const streams = new Set<Socket>();
  let sentBytes = 0;
  let readBytes = 0;
  let requests: Record<string, number> = {};
  const proxy = await tcpProxy(serverPort, {
    onRequest(bytes) {
      sentBytes += bytes.length;
      // A client writes the head of a request at once.
      const method = /^([A-Z]+) \/\S* HTTP/.exec(bytes.toString('latin1', 0, 2_000))?.[1];
      if (method !== undefined) requests[method] = (requests[method] ?? 0) + 1;
    },
    answer(bytes, client) {
      readBytes += bytes.length;
      if (/^HTTP\/1\.1 200 [^]*^content-type: text\/event-stream/im.test(bytes.toString('latin1', 0, 2_000))) {
        streams.add(client);
        client.once('close', () => streams.delete(client));
      }
      client.write(bytes);
    },
  });
  return {
    ...proxy,
    traffic: () => ({ sentBytes, readBytes, requests: { ...requests }, streams: streams.size }),
    reset() {
      [sentBytes, readBytes, requests] = [0, 0, {}];
    },
  };
}
