import { tcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** Proxy that closes a connection at a chosen moment, as a dying server would. */
export type CuttingProxy = TcpProxy & {
  /** Closes a connection once, after the next piece from the server that has this text. Resolves when it is closed. */
  cutAfter(text: string): Promise<void>;
};

export async function cuttingProxy(serverPort: number): Promise<CuttingProxy> {
  let cut: { text: string; done: () => void } | undefined;
  const proxy = await tcpProxy(serverPort, {
    answer(bytes, client, end) {
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
    },
  });
  return {
    ...proxy,
    cutAfter: (text) =>
      new Promise((resolve) => {
        cut = { text, done: resolve };
      }),
  };
}
