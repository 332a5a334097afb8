import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { disconnectSignal } from '#shared/http/client-connection.ts';

const keepAliveMs = 15_000;
/** A client that reads nothing for this long counts as gone. */
const drainMs = 30_000;
/** As much is written at once. */
const mostAtOnce = 16_000;

/** The open answer to one client. */
type ClientStream = {
  /** Aborts when the client is gone. */
  gone: AbortSignal;
  /**
   * Writes, together with what else comes before the process turns to something else: the network takes one piece with less work than many. A
   * promise: the client is behind, and this resolves when there is room for more. Does nothing once the client is gone.
   */
  write(bytes: string): Promise<void> | undefined;
  end(): void;
};

/** Takes over a response whose head has been written. */
export function clientStream(response: ServerResponse, keepAlive: string): ClientStream {
  const gone = disconnectSignal(response);
  let waiting = '';
  let room: Promise<void> | undefined;
  const timer = setInterval(() => {
    // While a write waits for room there is nothing to keep alive.
    if (!response.writableNeedDrain && !response.writableEnded) response.write(keepAlive);
  }, keepAliveMs);
  response.once('close', () => {
    clearInterval(timer);
  });

  function flush(): void {
    const bytes = waiting;
    waiting = '';
    if (bytes === '' || gone.aborted || response.destroyed) return;
    if (!response.write(bytes)) room ??= drained().finally(() => (room = undefined));
  }

  async function drained(): Promise<void> {
    const signal = AbortSignal.any([gone, AbortSignal.timeout(drainMs)]);
    await once(response, 'drain', { signal }).catch(() => response.destroy());
  }

  return {
    gone,
    write(bytes) {
      if (bytes === '' || gone.aborted || response.destroyed) return undefined;
      if (waiting === '') process.nextTick(flush);
      waiting += bytes;
      if (waiting.length >= mostAtOnce) flush();
      return room;
    },
    end() {
      clearInterval(timer);
      flush();
      response.end();
    },
  };
}
