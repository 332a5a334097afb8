import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { NamedFiles, ProjectFile, ProjectFiles } from '#shared/docs/project/project-files.ts';
import { projectFilesIn } from './publish-project.ts';

/** A docs project in a folder, read in place. Throws `NotAProject` when the folder has no `docs.json` or `mint.json`. */
export async function folderProject(folder: string): Promise<ProjectFiles> {
  const files: ProjectFile[] = [];
  for (const path of await projectFilesIn(folder)) {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    for await (const chunk of createReadStream(join(folder, path)) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      sizeBytes += chunk.length;
    }
    files.push({ path, sha256: hash.digest('hex'), sizeBytes });
  }
  return { files, read: (path, maxBytes) => readStart(join(folder, path), maxBytes) };
}

/** The same project by names alone: a file is read when it is asked for. */
export async function namesInFolder(folder: string): Promise<NamedFiles> {
  const paths = await projectFilesIn(folder);
  return { files: paths.map((path) => ({ path })), read: (path, maxBytes) => readStart(join(folder, path), maxBytes) };
}

async function readStart(file: string, maxBytes: number): Promise<Uint8Array> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(Math.min(size, maxBytes)), position: 0 });
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
