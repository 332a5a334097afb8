import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { projectFilesIn } from './project-folder.ts';

/** A docs project's folder as a `.tar.gz` stream, files in order of their paths. Throws `NotAProject` when there is no `docs.json` or `mint.json`. */
export async function packProject(folder: string): Promise<Readable> {
  const paths = await projectFilesIn(folder);
  const archive = pack();
  const gzip = createGzip({ level: 6 });
  void writeEntries(folder, paths, archive).catch((error: unknown) =>
    archive.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  archive.on('error', (error: Error) => gzip.destroy(error));
  return Readable.from(archive.pipe(gzip));
}

async function writeEntries(folder: string, paths: readonly string[], archive: ReturnType<typeof pack>): Promise<void> {
  for (const path of paths) {
    const body = await readFile(join(folder, path));
    const written = new Promise<void>((resolve, reject) => {
      archive.entry({ name: path, size: body.length, mode: 0o644, mtime: new Date(0) }, body, (error) =>
        error ? reject(error) : resolve(),
      );
    });
    await written;
  }
  archive.finalize();
}
