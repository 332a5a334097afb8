import type { ServerResponse } from 'node:http';
import { finished, type Readable, Transform } from 'node:stream';

/**
 * A request's body as a separate stream. Its reader may stop early without ending the connection, which the response still needs; the rest of the
 * body is then read and discarded, as HTTP/1.1 requires. `check` gets every chunk and throws to stop. The stream fails when the client disconnects.
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
  // A reader still gets errors; without a reader they must not end the process.
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

/** Aborts when the connection ends before the response is complete. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.destroyed) controller.abort(new Error('The client disconnected.'));
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new Error('The client disconnected.'));
  });
  response.once('error', (error) => controller.abort(error));
  return controller.signal;
}
