import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { analyzeProject, projectPool } from '#shared/docs-project/analyze-project.ts';
import { InvalidProject } from '#shared/docs-project/invalid-project.ts';
import type { ProjectFile, ProjectFiles } from '#shared/docs-project/project-files.ts';
import { projectFilesIn } from './project-folder.ts';

/** `pages` is 0 when the project cannot be published at all. */
export type ProjectCheck = { publishable: boolean; pages: number; diagnostics: Diagnostic[] };

/**
 * What publication would say about a docs project's folder, read in a child process as there. Throws `NotAProject` when the folder has no
 * `docs.json` or `mint.json`.
 */
export async function checkProject(folder: string): Promise<ProjectCheck> {
  const project = await folderProject(folder);
  const pool = projectPool({ slots: 1 });
  try {
    const { pages, diagnostics } = await analyzeProject(pool, project, { organization: 'local' });
    return { publishable: true, pages: pages.length, diagnostics };
  } catch (error) {
    if (!(error instanceof InvalidProject)) throw error;
    const { code, file, message } = error;
    return { publishable: false, pages: 0, diagnostics: [{ severity: 'error', code, file, message }] };
  } finally {
    await pool.close();
  }
}

async function folderProject(folder: string): Promise<ProjectFiles> {
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
