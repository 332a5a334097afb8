import { Readable } from 'node:stream';
import { type Extract, type ExtractEvents, extract } from 'tar-stream';
import type { ArchiveEntryHeader } from './archive-names.ts';

type Entry = ExtractEvents['entry'][1];

export type TarEntry = { header: ArchiveEntryHeader; body: Readable };

/**
 * The entries of a tar archive, one at a time. tar-stream's own iterator never ends when a body is given up half read, so its events are
 * used: a body may be read whole, in part or not at all, and `next` skips the rest. Whoever feeds `sink` calls `end`, with the error if
 * the archive could not be read; it comes out of `next` and of the body that is being read.
 */
export type TarEntries = {
  sink: Extract;
  /** Undefined after the last one. */
  next(): Promise<TarEntry | undefined>;
  end(error?: Error): void;
};

export function tarEntries(): TarEntries {
  const sink = extract();
  let arriving = Promise.withResolvers<TarEntry | undefined>();
  let current: { entry: Entry; body: Readable; goOn: () => void } | undefined;
  let ended: { error: Error | undefined } | undefined;

  function settle(): void {
    if (ended === undefined) return;
    arriving.promise.catch(() => {}); // Nobody may ask for a further entry.
    if (ended.error === undefined) arriving.resolve(undefined);
    else arriving.reject(ended.error);
  }

  sink.on('entry', (header, entry, goOn) => {
    const body = bodyOf(entry);
    current = { entry, body, goOn };
    arriving.resolve({ header, body });
  });

  return {
    sink,
    next() {
      if (current !== undefined) {
        const { entry, body, goOn } = current;
        current = undefined;
        arriving = Promise.withResolvers();
        settle();
        body.destroy();
        entry.resume();
        goOn();
      }
      return arriving.promise;
    },
    end(error) {
      ended = { error };
      settle();
      if (error !== undefined) current?.body.destroy(error);
    },
  };
}

/** A stream of Node over one of tar-stream, whose own destruction would destroy the whole archive. */
function bodyOf(entry: Entry): Readable {
  const body = new Readable({
    read() {
      entry.resume();
    },
  });
  entry.on('data', (chunk: unknown) => {
    if (!body.destroyed && !body.push(chunk)) entry.pause();
  });
  entry.on('end', () => {
    if (!body.destroyed) body.push(null);
  });
  // Errors reach the body through `end`. Nobody may be reading it then.
  entry.on('error', () => {});
  body.on('error', () => {});
  return body;
}
