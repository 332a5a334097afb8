import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type { ContentList, PublishedContent } from '#shared/interfaces/http/content.ts';
import { isReplaced } from '#shared/docs/reference/remote-files.ts';
import { type ApiClient, retryWhileAway } from './api-client.ts';

/** Packs a docs project's folder and publishes it; resolves once its content version is in the log. `added`: files that are not in the folder. */
export async function publishProject(
  client: ApiClient,
  domain: string,
  folder: string,
  label?: string,
  added: ReadonlyMap<string, Uint8Array> = new Map(),
): Promise<PublishedContent> {
  const archive = await packProject(folder, added);
  return client.json<PublishedContent>(`/v1/domains/${encodeURIComponent(domain)}/content`, {
    method: 'PUT',
    query: { version: label },
    headers: { 'content-type': 'application/gzip' },
    body: Readable.toWeb(archive) as ReadableStream<Uint8Array>,
  });
}

/** A docs project's folder as a `.tar.gz` stream, with its files in order of their paths. Throws `NotAProject` when there is no `docs.json` or `mint.json`. */
async function packProject(folder: string, added: ReadonlyMap<string, Uint8Array>): Promise<Readable> {
  const own = (await projectFilesIn(folder)).filter((path) => !isReplaced(path, added));
  const paths = [...own, ...added.keys()].sort();
  const read = async (path: string): Promise<Uint8Array> => added.get(path) ?? (await readFile(join(folder, path)));
  const archive = pack();
  const gzip = createGzip({ level: 6 });
  void writeEntries(paths, read, archive).catch((error: unknown) =>
    archive.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  archive.on('error', (error: Error) => gzip.destroy(error));
  return Readable.from(archive.pipe(gzip));
}

async function writeEntries(
  paths: readonly string[],
  read: (path: string) => Promise<Uint8Array>,
  archive: ReturnType<typeof pack>,
): Promise<void> {
  for (const path of paths) {
    const body = Buffer.from(await read(path));
    const written = new Promise<void>((resolve, reject) => {
      archive.entry({ name: path, size: body.length, mode: 0o644, mtime: new Date(0) }, body, (error) =>
        error ? reject(error) : resolve(),
      );
    });
    await written;
  }
  archive.finalize();
}

/** Folders that never belong to a docs project. The publisher also ignores files by `.mintignore`. */
const neverPacked = new Set(['.git', 'node_modules', '.bindery', '.DS_Store', '.idea', '.vscode']);

/** The project has a symbolic link to a file that does not belong to it; the message names both. */
class LinkLeadsOut extends Error {
  override name = 'LinkLeadsOut';
}

/** The folder is not a docs project; the message names it. */
class NotAProject extends Error {
  override name = 'NotAProject';
}

/**
 * Sorted paths of all files of a docs project's folder. Throws `NotAProject` when it has no `docs.json` or `mint.json`, and `LinkLeadsOut` for a
 * symbolic link to a file outside: a project of somebody else could publish the author's own files with it.
 */
export async function projectFilesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder).catch(() => undefined);
  if (entries === undefined) throw new NotAProject(`${folder} is not a folder that can be read.`);
  if (!entries.includes('docs.json') && !entries.includes('mint.json')) {
    throw new NotAProject(`${folder} has no docs.json (or mint.json): name the folder that has it.`);
  }
  return await listFiles(folder, '', await repositoryOf(folder));
}

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

/** Indexing a large site on a busy machine takes minutes. */
const deadlineMs = 300_000;

/** Resolves once the assistant searches this content version of the domain. */
export async function whenSearched(client: ApiClient, domain: string, contentVersion: string): Promise<void> {
  const startedAt = performance.now();
  for (let passedMs = 0; passedMs < deadlineMs; passedMs = performance.now() - startedAt) {
    const contents = await retryWhileAway(() =>
      client.json<ContentList>(`/v1/domains/${encodeURIComponent(domain)}/content`),
    );
    if (contents.searched === contentVersion) return;
    // The interval grows with the elapsed time.
    await delay(Math.min(500, Math.max(50, passedMs / 10)));
  }
  throw new Error(`${contentVersion} was not indexed within ${deadlineMs / 1000} s; the indexer's log says why.`);
}
