import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packTar } from './archives.ts';
import { listAllFiles } from './list-all-files.ts';

/** The bundle of a site whose files are in the folder. Its manifest is replaced by one with all of them. */
export async function packedFolder(folder: string): Promise<Buffer<ArrayBuffer>> {
  listAllFiles(folder);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return await packTar(Object.fromEntries(files.map((file) => [`site/${relative(folder, file)}`, readFileSync(file)])));
}
