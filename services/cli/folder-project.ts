import { createHash } from 'node:crypto';
import { createReadStream, type Dirent } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import {
  isTooLarge,
  mostProjectFiles,
  type ProjectFile,
  type ProjectFiles,
} from '#shared/docs/project/project-files.ts';
import { lockFile } from '#shared/docs/reference/remote-files.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { formatNumber } from '#shared/runtime/figures.ts';

/** A docs project in a folder, read in place, without files that vanish while it is read. Throws as `projectFilesIn`. */
export async function folderProject(folder: string): Promise<ProjectFiles> {
  const files: ProjectFile[] = [];
  for (const path of await projectFilesIn(folder)) {
    const digest = await digestOf(join(folder, path)).catch((error: unknown) => {
      if (isGone(error)) return undefined;
      throw error;
    });
    if (digest !== undefined) files.push({ path, ...digest });
  }
  return { files, read: (path, maxBytes) => readStart(join(folder, path), maxBytes) };
}

/** The digest of a file that no site has because of its size is made of its state: reading gigabytes would take longer than everything else. */
async function digestOf(file: string): Promise<Pick<ProjectFile, 'sha256' | 'sizeBytes'>> {
  const { size, mtimeMs } = await stat(file);
  if (isTooLarge({ sizeBytes: size })) return { sha256: sha256Of(`large ${size} ${mtimeMs}`), sizeBytes: size };
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    sizeBytes += chunk.length;
  }
  return { sha256: hash.digest('hex'), sizeBytes };
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

/** The folder has more files than a publication may have. */
class TooManyFiles extends Error {
  override name = 'TooManyFiles';
  /** Exit code of a command that this ends. */
  readonly exitStatus = 2;
}

/**
 * Sorted paths of all files of a docs project's folder. Files that vanish meanwhile are left out. Throws `NotAProject` when it has no `docs.json` or `mint.json`, `TooManyFiles` when it has more than 200,000 files, and `LinkLeadsOut` for a
 * symbolic link to a file outside: with such a link, a project from somebody else could publish private files of its user. `refuse` gets such a link
 * instead, which is then left out.
 */
export async function projectFilesIn(
  folder: string,
  most = mostProjectFiles,
  refuse: RefuseLink = refuseAll,
): Promise<string[]> {
  await requireProject(folder);
  return await allFiles(folder, '', most, refuse);
}

/** Throws `NotAProject` when a folder has no `docs.json` or `mint.json`. */
export async function requireProject(folder: string): Promise<void> {
  const entries = await readdir(folder).catch(() => undefined);
  if (entries === undefined) throw new NotAProject(`${folder} is not a folder that can be read.`);
  if (!entries.includes('docs.json') && !entries.includes('mint.json')) {
    throw new NotAProject(`${folder} has no docs.json (or mint.json): name the folder that has it.`);
  }
}

/** Sorted paths of the files below a folder of a project. Throws as `projectFilesIn`. */
export async function filesBelow(folder: string, path: string, refuse: RefuseLink = refuseAll): Promise<string[]> {
  return await allFiles(folder, path, mostProjectFiles, refuse);
}

/** Called with a link that leads out of the repository: its path in the project, and a sentence about it. */
export type RefuseLink = (path: string, why: string) => void;

const refuseAll: RefuseLink = (_path, why) => {
  throw new LinkLeadsOut(why);
};

/**
 * The reason why a file of a project must not be read: it is a link that leads out of the repository, or below a folder that is a link, which a project
 * never follows. Undefined if it may be read. Rejects if there is no such file.
 */
export async function whyForbidden(folder: string, path: string): Promise<string | undefined> {
  const [root, target] = await Promise.all([realpath(folder), realpath(join(folder, path))]);
  const file = join(root, path);
  if (target === file) return undefined;
  if ((await realpath(dirname(file))) !== dirname(file)) return `${file} is below a folder that is a symbolic link.`;
  return linkProblem(file, target, await repositoryOf(folder));
}

/** False for names that never belong to a docs project. */
export const isPacked = (path: string): boolean =>
  !path.startsWith(lockFile) && !path.split('/').some((name) => neverPacked.has(name));

/** The folder with the repository of a project, to which its links may lead: the nearest one with `.git`, else the project itself. */
export async function repositoryOf(folder: string): Promise<string> {
  const project = await realpath(folder);
  for (let at = project; ; at = dirname(at)) {
    if ((await stat(join(at, '.git')).catch(() => undefined)) !== undefined) return at;
    if (at === dirname(at)) return project;
  }
}

async function allFiles(folder: string, prefix: string, most: number, refuse: RefuseLink): Promise<string[]> {
  const paths: string[] = [];
  await listFiles(folder, prefix, { repository: await repositoryOf(folder), most, refuse }, paths);
  return paths.sort();
}

type Limits = { repository: string; most: number; refuse: RefuseLink };

async function listFiles(folder: string, prefix: string, limits: Limits, paths: string[]): Promise<void> {
  for (const entry of await readdir(join(folder, prefix), { withFileTypes: true }).catch(goneFolder)) {
    if (neverPacked.has(entry.name)) continue;
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    if (path.startsWith(lockFile)) continue;
    // A link to a file counts as the file. A link to a folder is left out, because it may be circular.
    const isLink = entry.isSymbolicLink() && (await stat(join(folder, path)).catch(() => undefined))?.isFile() === true;
    if (isLink) {
      const link = join(folder, path);
      const why = linkProblem(link, await realpath(link), limits.repository);
      if (why !== undefined) {
        limits.refuse(path, why);
        continue;
      }
    }
    const isFile = entry.isFile() || isLink;
    if (entry.isDirectory()) await listFiles(folder, path, limits, paths);
    else if (isFile) paths.push(path);
    if (paths.length > limits.most) {
      throw new TooManyFiles(
        `${folder} has more than ${formatNumber(limits.most)} files, which is the most that a publication may have. Name the folder of the documentation alone.`,
      );
    }
  }
}

/** A folder that vanished after it was listed has no files. */
function goneFolder(error: unknown): Dirent[] {
  if (isGone(error)) return [];
  throw error;
}

const isGone = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(String(errorCode(error)));

/** A link must not lead out of the repository, nor to the parts of it that are never packed: `.git` may hold a password. Pure. */
function linkProblem(link: string, target: string, repository: string): string | undefined {
  const below = relative(repository, target).split(sep);
  if (below[0] !== '..' && !below.some((name) => neverPacked.has(name))) return undefined;
  return `${link} is a symbolic link to ${target}, which is not a file of this project or its repository. Replace the link by a copy of the file, or remove it.`;
}
