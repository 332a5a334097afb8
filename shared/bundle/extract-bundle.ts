import { pipeline, type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type ArchiveBudgets, archiveMeter } from './archive-budgets.ts';
import { archiveNames } from './archive-names.ts';
import { ArchiveRefused } from './archive-refused.ts';
import { tarEntries } from './tar-entries.ts';

/** A regular file of an archive. What is not read of `body` is skipped when the next file is asked for. */
export type ArchiveFile = { path: string; size: number; body: Readable };

export type ReadArchiveOptions = {
  /** Refuse names that differ only in case or Unicode normalization; for bundles, which are unpacked anywhere. */
  portableNames?: boolean;
  /** Refuse bytes after the first gzip member, which some readers take and others silently leave out. */
  oneMember?: boolean;
};

/**
 * The one reader of archives that others made: docs projects and bundles, as `.tar.gz`. Gives regular files with clean relative paths, in
 * the order of the archive, in bounded memory; folders are skipped, and a leading `./` is dropped. Fails with `ArchiveRefused` when it
 * finds anything else (the files before it were given out already, so keep nothing of an archive that fails), and with the error of
 * `packed` when that fails. Stopping early destroys `packed`.
 */
export async function* readArchive(
  packed: Readable,
  budgets: ArchiveBudgets,
  options: ReadArchiveOptions = {},
): AsyncGenerator<ArchiveFile, void> {
  const meter = archiveMeter(budgets);
  const names = archiveNames({ portable: options.portableNames ?? false });
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
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
}

/** What zlib and tar-stream complain about is the sender's archive; everything else passes as it is. */
function archiveError(error: Error, isEmpty: boolean): Error {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'Z_BUF_ERROR' && isEmpty) return new ArchiveRefused('the archive is empty: send a .tar.gz');
  if (code === 'Z_BUF_ERROR' || error.message === 'Unexpected end of data') {
    return new ArchiveRefused('the archive ends too early: it was cut on its way', { cause: error });
  }
  if (code === 'ERR_TRAILING_JUNK_AFTER_STREAM_END') {
    return new ArchiveRefused('the archive has more than one gzip member, or bytes behind its end', { cause: error });
  }
  if (error.message === 'incorrect header check') {
    return new ArchiveRefused('the archive is not packed with gzip: send a .tar.gz', { cause: error });
  }
  if (code.startsWith('Z_') || /^(Invalid|Header exceeds)/.test(error.message)) {
    return new ArchiveRefused(`the archive is damaged or no tar archive: ${error.message}`, { cause: error });
  }
  return error;
}
