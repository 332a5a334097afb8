import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { ProjectFile, ProjectFiles } from '#shared/docs/project/project-files.ts';
import { lockFile } from '#shared/docs/reference/remote-files.ts';

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

/** Folders that never belong to a docs project. The publisher also ignores files by `.mintignore`. */
const neverPacked = new Set(['.git', 'node_modules', '.bindery', '.DS_Store', '.idea', '.vscode']);

/** The project has a symbolic link to a file that does not belong to it; the message names both. */
class LinkLeadsOut extends Error {
  override name = 'LinkLeadsOut';
  /** Exit code of a command that this ends. */
  readonly exitStatus = 2;
}

/** The folder is not a docs project; the message names it. */
class NotAProject extends Error {
  override name = 'NotAProject';
  /** Exit code of a command that this ends. */
  readonly exitStatus = 2;
}

/**
 * Sorted paths of all files of a docs project's folder. Throws `NotAProject` when it has no `docs.json` or `mint.json`, and `LinkLeadsOut` for a
 * symbolic link to a file outside: with such a link, a project from somebody else could publish private files of its user.
 */
export async function projectFilesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder).catch(() => undefined);
  if (entries === undefined) throw new NotAProject(`${folder} is not a folder that can be read.`);
  if (!entries.includes('docs.json') && !entries.includes('mint.json')) {
    throw new NotAProject(`${folder} has no docs.json (or mint.json): name the folder that has it.`);
  }
  return await listFiles(folder, '', await repositoryOf(folder));
}

/** Sorted paths of the files below a folder of a project. Throws as `projectFilesIn`. */
export async function filesBelow(folder: string, path: string): Promise<string[]> {
  return await listFiles(folder, path, await repositoryOf(folder));
}

/** False for names that never belong to a docs project. */
export const isPacked = (path: string): boolean =>
  !path.startsWith(lockFile) && !path.split('/').some((name) => neverPacked.has(name));

/** The folder with the repository of a project, to which its links may lead: the nearest one with `.git`, else the project itself. */
async function repositoryOf(folder: string): Promise<string> {
  const project = await realpath(folder);
  for (let at = project; ; at = dirname(at)) {
    if ((await stat(join(at, '.git')).catch(() => undefined)) !== undefined) return at;
    if (at === dirname(at)) return project;
  }
}

async function listFiles(folder: string, prefix: string, repository: string): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
    if (neverPacked.has(entry.name)) continue;
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    if (path.startsWith(lockFile)) continue;
    // A link to a file counts as the file. A link to a folder is left out, because it may be circular.
    const isLink = entry.isSymbolicLink() && (await stat(join(folder, path)).catch(() => undefined))?.isFile() === true;
    if (isLink) await checkLink(join(folder, path), repository);
    const isFile = entry.isFile() || isLink;
    if (entry.isDirectory()) paths.push(...(await listFiles(folder, path, repository)));
    else if (isFile) paths.push(path);
  }
  return paths.sort();
}

/** A link must not lead out of the repository, nor to the parts of it that are never packed: `.git` may hold a password. */
async function checkLink(link: string, repository: string): Promise<void> {
  const target = await realpath(link);
  const below = relative(repository, target).split(sep);
  if (below[0] !== '..' && !below.some((name) => neverPacked.has(name))) return;
  throw new LinkLeadsOut(
    `${link} is a symbolic link to ${target}, which is not a file of this project or its repository. Replace the link by a copy of the file, or remove it.`,
  );
}
