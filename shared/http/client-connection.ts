import type { ServerResponse } from 'node:http';
import { finished, type Readable, Transform } from 'node:stream';

/**
 * A request's body as a stream of its own. Its reader may stop in the middle without ending the connection, which the answer still needs.
 * The rest of the body is then read and dropped, as HTTP/1.1 wants it. `check` sees every chunk and throws to stop. When the client goes
 * away, the stream fails.
 */
export function detachedBody(body: Readable, check: (chunk: Buffer) => void = () => {}): Readable {
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        check(chunk);
        done(null, chunk);
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
  // A reader gets errors anyway; without a reader they must not end the process.
  stream.on('error', () => {});
  stream.once('close', () => {
    body.unpipe(stream);
    body.resume();
  });
  finished(body, { writable: false }, (error) => {
    if (error) stream.destroy(error);
  });
  return body.pipe(stream);
}

/** Aborts when the connection ends before the answer is complete. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new Error('The client went away.'));
  });
  response.once('error', (error) => controller.abort(error));
  return controller.signal;
}
