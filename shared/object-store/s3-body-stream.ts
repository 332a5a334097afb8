import { addAbortSignal, Readable } from 'node:stream';
import { ObjectStoreUnavailable } from './object-store-unavailable.ts';
import { s3Error } from './s3-error.ts';

/**
 * The body of a download. Fails when the store is silent for `idleMs` while somebody waits for bytes (a reader that pauses is no silence)
 * or ends before `sizeBytes`, and when `signal` aborts; closes the connection when destroyed.
 */
export function s3BodyStream(
  body: Readable,
  key: string,
  sizeBytes: number | undefined,
  idleMs: number,
  signal: AbortSignal | undefined,
): Readable {
  const what = `send all of ${key}`;
  const chunks: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  let received = 0;
  // Nobody listens before the first read; the iterator throws what happened until then.
  body.on('error', () => {});

  async function readNext(stream: Readable): Promise<void> {
    const idle = setTimeout(
      () => body.destroy(new ObjectStoreUnavailable(`the object store did not ${what}: silent for ${idleMs} ms`)),
      idleMs,
    );
    try {
      const { value, done } = await chunks.next();
      if (stream.destroyed) return;
      if (done !== true) {
        received += value.length;
        stream.push(value);
      } else if (sizeBytes !== undefined && received !== sizeBytes) {
        stream.destroy(
          new ObjectStoreUnavailable(`the object store did not ${what}: ${received} of ${sizeBytes} bytes`),
        );
      } else {
        stream.push(null);
      }
    } catch (error) {
      const failure = s3Error(error, what);
      stream.destroy(failure instanceof Error ? failure : new Error(String(failure)));
    } finally {
      clearTimeout(idle);
    }
  }

  const stream = new Readable({
    read() {
      void readNext(this);
    },
    destroy(error, done) {
      body.destroy();
      done(error);
    },
  });
  return signal === undefined ? stream : addAbortSignal(signal, stream);
}
