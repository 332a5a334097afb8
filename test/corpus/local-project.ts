import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { ProjectFiles } from '#shared/docs-project/project-files.ts';

/** A docs project in a folder on disk, every file read and hashed at once. */
export async function localProject(folder: string): Promise<ProjectFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const contents = new Map<string, Buffer>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    contents.set(relative(folder, file).split(sep).join('/'), await readFile(file));
  }
  const files = [...contents].map(([path, bytes]) => {
    return { path, sha256: createHash('sha256').update(bytes).digest('hex'), sizeBytes: bytes.byteLength };
  });
  return {
    files,
    read(path) {
      const bytes = contents.get(path);
      return bytes ? Promise.resolve(bytes) : Promise.reject(new Error(`there is no file "${path}"`));
    },
  };
}
