import { tcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** Proxy that delays each piece of an answer by `delayMs`, and counts those that it has passed on. */
export type SlowProxy = TcpProxy & { delayMs: number; answers: number };

export async function slowProxy(serverPort: number): Promise<SlowProxy> {
  const delayed = { delayMs: 0, answers: 0 };
  const proxy = await tcpProxy(serverPort, {
    answer(bytes, client) {
      setTimeout(() => {
        if (client.writable) client.write(bytes);
        delayed.answers += 1;
      }, delayed.delayMs);
    },
  });
  return Object.assign(delayed, proxy);
}
