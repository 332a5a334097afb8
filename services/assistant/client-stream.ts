import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { disconnectSignal } from '#shared/http/client-connection.ts';

const keepAliveMs = 15_000;
/** A client that reads nothing for this long counts as gone. */
const drainMs = 30_000;

/** The open answer to one client. */
type ClientStream = {
  /** Aborts when the client is gone. */
  gone: AbortSignal;
  /** Resolves when there is room for more; does nothing once the client is gone. */
  write(bytes: string): Promise<void>;
  end(): void;
};

/** Takes over a response whose head has been written. */
export function clientStream(response: ServerResponse, keepAlive: string): ClientStream {
  const gone = disconnectSignal(response);
  const timer = setInterval(() => {
    // While a write waits for room there is nothing to keep alive.
    if (!response.writableNeedDrain && !response.writableEnded) response.write(keepAlive);
  }, keepAliveMs);
  response.once('close', () => {
    clearInterval(timer);
  });
  return {
    gone,
    async write(bytes) {
      if (bytes === '' || gone.aborted || response.destroyed) return;
      if (response.write(bytes)) return;
      const signal = AbortSignal.any([gone, AbortSignal.timeout(drainMs)]);
      await once(response, 'drain', { signal }).catch(() => response.destroy());
    },
    end() {
      clearInterval(timer);
      response.end();
    },
  };
}
