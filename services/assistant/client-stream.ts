import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { disconnectSignal } from '#shared/http/client-connection.ts';

const keepAliveMs = 15_000;
/** A client that reads nothing for this time counts as disconnected. */
const drainMs = 30_000;
/** Size at which the write buffer is flushed. */
const mostAtOnce = 16_000;

/** The open response to one client. */
type ClientStream = {
  /** Aborts when the client disconnects. */
  gone: AbortSignal;
  /**
   * Buffers the text and writes it together with everything else from this tick of the event loop: one large write costs less than many small ones.
   * Returns a promise if the client is behind; it resolves when there is room for more. Does nothing once the client is gone.
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
    // A write that waits for room makes a keep-alive unnecessary.
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
