import { createHash } from 'node:crypto';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';

/** A project whose files are given as path → content. */
export function memoryProject(contents: Readonly<Record<string, string | Uint8Array>>): ProjectFiles {
  const bytesOf = (content: string | Uint8Array): Uint8Array =>
    typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return {
    files: Object.entries(contents).map(([path, content]) => {
      const bytes = bytesOf(content);
      return { path, sha256: createHash('sha256').update(bytes).digest('hex'), sizeBytes: bytes.byteLength };
    }),
    read(path) {
      const content = Object.hasOwn(contents, path) ? contents[path] : undefined;
      return content === undefined
        ? Promise.reject(new Error(`there is no file "${path}"`))
        : Promise.resolve(bytesOf(content));
    },
  };
}
