import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ArchiveBudgets } from '#shared/bundle/archive-budgets.ts';
import { readArchive } from '#shared/bundle/extract-bundle.ts';
import { withoutTopFolder } from './without-top-folder.ts';

/** `file` is where the bytes are on disk: a name of ours, never one that the archive chose. */
export type ReceivedFile = { path: string; sha256: string; sizeBytes: number; file: string };

export const projectBudgets: ArchiveBudgets = {
  packedBytes: 500 * 1024 * 1024,
  unpackedBytes: 2 * 1024 * 1024 * 1024,
  entries: 200_000,
  ratio: 1_000,
};

/** Unpacks a docs project into `folder` as it arrives, and hashes it. Throws `ArchiveRefused`; files may be left in the folder then. */
export async function receiveArchive(
  packed: Readable,
  folder: string,
  budgets: ArchiveBudgets = projectBudgets,
): Promise<ReceivedFile[]> {
  const received: ReceivedFile[] = [];
  for await (const { path, body } of readArchive(packed, budgets)) {
    const file = join(folder, String(received.length));
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        sizeBytes += chunk.length;
        done(null, chunk);
      },
    });
    await pipeline(body, measure, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
    received.push({ path, sha256: hash.digest('hex'), sizeBytes, file });
  }
  return withoutTopFolder(received);
}
