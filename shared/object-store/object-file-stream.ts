import { Readable } from 'node:stream';
import { type OpenObject, readFully } from './object-file.ts';

const CHUNK_BYTES = 256 * 1024;

/** The bytes of an open object from `start` up to `end` (not included). Closes the file at its end or when destroyed. */
export function objectFileStream({ handle }: OpenObject, start: number, end: number): Readable {
  let position = start;

  async function readNext(stream: Readable): Promise<void> {
    try {
      const to = Math.min(position + CHUNK_BYTES, end);
      const bytes = position < to ? await readFully(handle, position, to) : null;
      position = to;
      if (!stream.destroyed) stream.push(bytes);
    } catch (error) {
      stream.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async function close(error: Error | null, done: (error?: Error | null) => void): Promise<void> {
    try {
      await handle.close();
      done(error);
    } catch (failure) {
      done(error ?? (failure instanceof Error ? failure : new Error(String(failure))));
    }
  }

  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      void readNext(this);
    },
    destroy(error, done) {
      void close(error, done);
    },
  });
}
