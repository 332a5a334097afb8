import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { packTar } from './archives.ts';

/** Writes a manifest with all files of an unpacked site, because the folder's own manifest lists only those of the closing segment. */
export function listAllFiles(folder: string): void {
  const manifest = join(folder, '_bindery/manifest.json');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => file !== manifest && !file.endsWith('_bindery/config.js'))
    .map((file) => {
      const body = readFileSync(file);
      return { path: relative(folder, file), size: body.length, sha256: sha256Of(body) };
    });
  writeFileSync(manifest, JSON.stringify({ ...(JSON.parse(readFileSync(manifest, 'utf8')) as object), files }));
}

/** The bundle of a site whose files are in the folder. Its manifest is replaced by one that lists all files. */
export async function packedFolder(folder: string): Promise<Buffer<ArrayBuffer>> {
  listAllFiles(folder);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return await packTar(Object.fromEntries(files.map((file) => [`site/${relative(folder, file)}`, readFileSync(file)])));
}
