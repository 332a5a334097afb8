import { pipeline, Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type Extract, extract, type ExtractEvents } from 'tar-stream';
import { asError } from '#shared/runtime/failures.ts';
import { type ArchiveEntryHeader, archiveNames, ArchiveRefused } from './archive-names.ts';

/** A regular file of an archive. Unread bytes of `body` are skipped when the next file is requested. */
export type ArchiveFile = { path: string; size: number; body: Readable };

export type ReadArchiveOptions = {
  /** Refuses names that differ only in case or Unicode normalization; for bundles, which are unpacked on any system. */
  portableNames?: boolean;
  /** Refuses bytes after the first gzip member: some readers accept them, others silently ignore them. */
  oneMember?: boolean;
};

/**
 * Reads untrusted archives: docs projects and bundles, as `.tar.gz`. Yields regular files with clean relative paths, in the order of the archive, in
 * bounded memory. Folders are skipped, and a leading `./` is dropped. Fails with `ArchiveRefused` for any other entry; files were yielded before
 * that, so discard everything of an archive that fails. Fails with the error of `packed` if that fails. Stopping early destroys `packed`.
 */
export async function* readArchive(
  packed: Readable,
  budgets: ArchiveBudgets,
  options: ReadArchiveOptions = {},
): AsyncGenerator<ArchiveFile, void> {
  const meter = archiveMeter(budgets);
  const names = archiveNames({ portable: options.portableNames ?? false, entries: budgets.entries });
  const entries = tarEntries();
  pipeline(
    packed,
    counting((bytes) => meter.packed(bytes)),
    createGunzip({ rejectGarbageAfterEnd: options.oneMember ?? false }),
    counting((bytes) => meter.unpacked(bytes)),
    entries.sink,
    (error) => entries.end(error ? archiveError(error, meter.isEmpty()) : undefined),
  );
  try {
    for (let entry = await entries.next(); entry !== undefined; entry = await entries.next()) {
      meter.entry();
      const path = names.fileOf(entry.header);
      if (path !== undefined) yield { path, size: entry.header.size, body: entry.body };
    }
  } finally {
    packed.destroy();
    entries.sink.destroy();
  }
}

function counting(count: (bytes: number) => void): Transform {
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      try {
        count(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(asError(error));
      }
    },
  });
}

/** Errors of zlib and tar-stream are about the archive; other errors are passed on unchanged. */
function archiveError(error: Error, isEmpty: boolean): Error {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'Z_BUF_ERROR' && isEmpty) return new ArchiveRefused('the archive is empty: send a .tar.gz');
  if (code === 'Z_BUF_ERROR' || error.message === 'Unexpected end of data') {
    return new ArchiveRefused('the archive ends too early: it was cut during the transfer', { cause: error });
  }
  if (code === 'ERR_TRAILING_JUNK_AFTER_STREAM_END') {
    return new ArchiveRefused('the archive has more than one gzip member, or bytes after its end', { cause: error });
  }
  if (error.message === 'incorrect header check') {
    return new ArchiveRefused('the archive is not packed with gzip: send a .tar.gz', { cause: error });
  }
  if (code.startsWith('Z_') || /^(Invalid|Header exceeds)/.test(error.message)) {
    return new ArchiveRefused(`the archive is damaged or not a tar archive: ${error.message}`, { cause: error });
  }
  return error;
}

/** Limits on the cost of reading an archive. */
export type ArchiveBudgets = {
  packedBytes: number;
  /** Bytes of the tar archive, with its headers. */
  unpackedBytes: number;
  /** Entries of any kind, including folders that only occur in names. */
  entries: number;
  /** Ratio of unpacked to packed bytes, checked from 16 MiB on. Text has 3 to 30, zeros have 1,000. */
  ratio: number;
};

/** Below this a high ratio is harmless, and small projects with similar pages have one. */
const ratioFromBytes = 16 * 1024 * 1024;

/** Counts against the budgets; each call throws `ArchiveRefused` if one is exceeded. */
function archiveMeter(budgets: ArchiveBudgets) {
  let packed = 0;
  let unpacked = 0;
  let entries = 0;
  return {
    packed(bytes: number): void {
      packed += bytes;
      if (packed > budgets.packedBytes)
        throw new ArchiveRefused(`the archive is larger than ${size(budgets.packedBytes)}`);
    },
    unpacked(bytes: number): void {
      unpacked += bytes;
      if (unpacked > budgets.unpackedBytes) {
        throw new ArchiveRefused(`the archive unpacks to more than ${size(budgets.unpackedBytes)}`);
      }
      if (unpacked > ratioFromBytes && unpacked > packed * budgets.ratio) {
        throw new ArchiveRefused(`the archive unpacks to more than ${budgets.ratio} times its size`);
      }
    },
    entry(): void {
      entries += 1;
      if (entries > budgets.entries) throw new ArchiveRefused(`the archive has more than ${budgets.entries} entries`);
    },
    isEmpty: () => packed === 0,
  };
}

function size(bytes: number): string {
  return bytes >= 1_000_000 ? `${bytes / 1_000_000} MB` : `${bytes} bytes`;
}

type Entry = ExtractEvents['entry'][1];

type TarEntry = { header: ArchiveEntryHeader; body: Readable };

/**
 * The entries of a tar archive, one at a time. tar-stream's own iterator never ends if a body is abandoned half read, so its events are used: a body
 * may be read completely, in part or not at all, and `next` skips the rest. The writer of `sink` calls `end`, with the error if the archive could not
 * be read; `next` and the body in progress then fail with it.
 */
type TarEntries = {
  sink: Extract;
  /** Returns the next entry; undefined after the last one. */
  next(): Promise<TarEntry | undefined>;
  end(error?: Error): void;
};

function tarEntries(): TarEntries {
  const sink = extract();
  let arriving = Promise.withResolvers<TarEntry | undefined>();
  let current: { entry: Entry; body: Readable; goOn: () => void } | undefined;
  let ended: { error: Error | undefined } | undefined;

  function settle(): void {
    if (ended === undefined) return;
    arriving.promise.catch(() => {}); // The caller may stop before it asks for the next entry, and an unhandled rejection would end the process.
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

/** A stream around tar-stream's own, because destroying that one would destroy the whole archive. */
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
  // Errors reach the body through `end`. The body may have no reader then.
  entry.on('error', () => {});
  body.on('error', () => {});
  return body;
}
