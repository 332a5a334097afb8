import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

const KEEP_ALIVE_MS = 15_000;
/** A client that takes nothing for so long is treated as gone. */
const DRAIN_MS = 30_000;

/** The open answer to one client. */
export type ClientStream = {
  /** Aborts when the client is gone. */
  gone: AbortSignal;
  /** Answers when there is room for more; does nothing once the client is gone. */
  write(bytes: string): Promise<void>;
  end(): void;
};

/** Takes over a response whose head has been written. */
export function clientStream(response: ServerResponse, keepAlive: string): ClientStream {
  const gone = new AbortController();
  const timer = setInterval(() => {
    // While a write waits for room there is nothing to keep alive.
    if (!response.writableNeedDrain && !response.writableEnded) response.write(keepAlive);
  }, KEEP_ALIVE_MS);
  response.once('close', () => {
    clearInterval(timer);
    if (!response.writableFinished) gone.abort(new Error('The client went away.'));
  });
  response.once('error', (error) => gone.abort(error));
  return {
    gone: gone.signal,
    async write(bytes) {
      if (bytes === '' || gone.signal.aborted || response.destroyed) return;
      if (response.write(bytes)) return;
      const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(DRAIN_MS)]);
      await once(response, 'drain', { signal }).catch(() => response.destroy());
    },
    end() {
      clearInterval(timer);
      response.end();
    },
  };
}
