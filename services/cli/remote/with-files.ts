import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { isReplaced } from '#shared/docs/reference/remote-files.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';

/** A project with these files, which replace its own copies of the same addresses. */
export function withFiles(project: ProjectFiles, files: ReadonlyMap<string, Uint8Array>): ProjectFiles {
  if (files.size === 0) return project;
  return {
    files: [
      ...project.files.filter(({ path }) => !isReplaced(path, files)),
      ...[...files].map(([path, bytes]) => ({ path, sha256: sha256Of(bytes), sizeBytes: bytes.length })),
    ].sort((a, b) => (a.path < b.path ? -1 : 1)),
    read: (path, maxBytes) => {
      const bytes = files.get(path);
      return bytes === undefined ? project.read(path, maxBytes) : Promise.resolve(bytes.subarray(0, maxBytes));
    },
  };
}
