import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';

/** Folders that never belong to a docs project; what else is ignored decides the server by `.mintignore`. */
const neverPacked = new Set(['.git', 'node_modules', '.bindery', '.DS_Store', '.idea', '.vscode']);

/** A folder that cannot be packed; the message names it. */
export class NotAProject extends Error {
  override name = 'NotAProject';
}

/** A docs project's folder as a `.tar.gz` stream, files in order of their paths. Throws `NotAProject` when there is no `docs.json` or `mint.json`. */
export async function packProject(folder: string): Promise<Readable> {
  const entries = await readdir(folder).catch(() => undefined);
  if (entries === undefined) throw new NotAProject(`${folder} is not a folder that can be read.`);
  if (!entries.includes('docs.json') && !entries.includes('mint.json')) {
    throw new NotAProject(`${folder} has no docs.json (or mint.json): name the folder that has it.`);
  }
  const archive = pack();
  const gzip = createGzip({ level: 6 });
  void writeEntries(folder, archive).catch((error: unknown) =>
    archive.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  archive.on('error', (error: Error) => gzip.destroy(error));
  return Readable.from(archive.pipe(gzip));
}

async function writeEntries(folder: string, archive: ReturnType<typeof pack>): Promise<void> {
  for (const path of await listFiles(folder, '')) {
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

async function listFiles(folder: string, prefix: string): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
    if (neverPacked.has(entry.name)) continue;
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    // A link to a file counts as the file; a link to a folder is left out, it may lead round in a circle.
    const isFile =
      entry.isFile() ||
      (entry.isSymbolicLink() && (await stat(join(folder, path)).catch(() => undefined))?.isFile() === true);
    if (entry.isDirectory()) paths.push(...(await listFiles(folder, path)));
    else if (isFile) paths.push(path);
  }
  return paths.sort();
}
