import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import v8 from 'node:v8';
import { messageOf } from '#shared/runtime/failures.ts';
import { lockFile, packageFolders } from '#shared/runtime/installed-packages.ts';
import { type ChildProgram, startChild } from './child.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
/**
 * The folder is beside the packages: a process that can write there can change the code anyway, children may read it, and a new installation empties
 * it.
 */
const snapshotFolder = join(packageFolders[0], '.cache', 'bindery-children');

/** Part of a `Logger`. */
type StartLog = { info(line: string): void; warn(line: string): void };

/**
 * Returns the program with a start-up snapshot: the heap of a process that has loaded its modules. Children that start from it take a fifth of the
 * time, and less memory. The snapshot is built once for the same sources, packages and Node version, which takes some seconds. If that fails, a
 * warning gives the reason, and children load their modules instead. `signal` cancels the build.
 */
export async function withSnapshot(
  program: ChildProgram,
  logger: StartLog,
  signal?: AbortSignal,
): Promise<ChildProgram> {
  try {
    const snapshot = await snapshotOf(program);
    if (existsSync(snapshot)) await tryKept(program, snapshot);
    else {
      logger.info(`building the snapshot from which children of ${nameOf(program)} start`);
      await build(program, snapshot, signal);
    }
    return { ...program, snapshot };
  } catch (error) {
    const why = messageOf(error);
    if (signal?.aborted !== true) {
      logger.warn(`children of ${nameOf(program)} load their modules at each start, which takes longer: ${why}`);
    }
    return program;
  }
}

/**
 * Does the same as `withSnapshot` for a service that starts. It does not wait for a missing snapshot: children load their modules until it is built.
 */
export async function withSnapshotSoon(
  program: ChildProgram,
  logger: StartLog,
  signal: AbortSignal,
): Promise<ChildProgram> {
  const snapshot = await snapshotOf(program).catch(() => undefined);
  if (snapshot === undefined || existsSync(snapshot)) return withSnapshot(program, logger, signal);
  void withSnapshot(program, logger, signal);
  return { ...program, snapshot };
}

/** Removes a damaged snapshot, which would otherwise be found again at the next start. */
async function tryKept(program: ChildProgram, snapshot: string): Promise<void> {
  const now = new Date();
  // The folder may be read-only; then its files are not removed either.
  await utimes(snapshot, now, now).catch(() => undefined);
  try {
    await checkSeal(snapshot);
    await tryStart({ ...program, snapshot });
  } catch (error) {
    await rm(snapshot, { force: true });
    throw error;
  }
}

const sealBytes = 32;

const sealOf = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** Appends the SHA-256 of a file to it. Node ignores bytes after the end of a snapshot. */
async function seal(file: string): Promise<void> {
  await appendFile(file, sealOf(await readFile(file)));
}

/**
 * Rejects when a snapshot's bytes do not match its digest. Node would start from a changed snapshot too, and the child's behaviour would be
 * undefined.
 */
async function checkSeal(snapshot: string): Promise<void> {
  const bytes = await readFile(snapshot);
  const end = Math.max(0, bytes.length - sealBytes);
  if (!sealOf(bytes.subarray(0, end)).equals(bytes.subarray(end))) throw new Error('their snapshot is damaged');
}

const snapshotOf = async (program: ChildProgram): Promise<string> =>
  join(snapshotFolder, `${nameOf(program)}-${await digestOf(program)}.blob`);

const nameOf = ({ entry }: ChildProgram): string => basename(fileURLToPath(entry)).replace(/\.[jt]s$/, '');

/** Digest of everything that determines the content of the snapshot and which processes can start from it. 24 hex digits. */
async function digestOf({ entry, addons = false }: ChildProgram): Promise<string> {
  const own = fileURLToPath(entry);
  const hash = createHash('sha256');
  const engine = [process.version, process.platform, process.arch, v8.cachedDataVersionTag()];
  hash.update(JSON.stringify([own, addons, ...engine]));
  const folders = new Set([join(root, 'shared'), dirname(own)]);
  for (const folder of folders) {
    const names = (await readdir(folder, { recursive: true })).filter(isSource).sort();
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name))));
    for (const [at, text] of texts.entries()) hash.update(`${names[at]}\0${text.length}\0`).update(text);
  }
  for (const file of [join(root, 'package.json'), lockFile]) hash.update(await readFile(file));
  return hash.digest('hex').slice(0, 24);
}

const isSource = (name: string): boolean => /\.(ts|css|js)$/.test(name) && !/\.(test|contract|d)\.ts$/.test(name);

const buildWithinMs = 60_000;

/**
 * Builds in a separate process, because the bundler would keep its memory. The snapshot gets its final name only after a child has started from it.
 */
async function build(program: ChildProgram, snapshot: string, signal: AbortSignal | undefined): Promise<void> {
  await mkdir(snapshotFolder, { recursive: true });
  const folder = await mkdtemp(join(snapshotFolder, 'making-'));
  try {
    const builder = fileURLToPath(new URL('./build-snapshot.ts', import.meta.url));
    const made = join(folder, 'blob');
    const args = [builder, fileURLToPath(program.entry), made, ...(program.addons === true ? ['addons'] : [])];
    await promisify(execFile)(process.execPath, args, { timeout: buildWithinMs, env: { TZ: 'UTC' }, signal });
    await seal(made);
    await tryStart({ ...program, snapshot: made });
    await rename(made, snapshot);
    await removeUnused(nameOf(program));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const keptUnusedMs = 7 * 24 * 60 * 60 * 1000;
/** Far longer than a build may take. */
const keptUnfinishedMs = 10 * 60 * 1000;

/**
 * Removes unused snapshots, and leftovers of interrupted builds. A process of an older version may still run; it then starts its children without a
 * snapshot.
 */
async function removeUnused(name: string): Promise<void> {
  for (const file of await readdir(snapshotFolder)) {
    const isUnfinished = file.startsWith('making-');
    if (!isUnfinished && !file.startsWith(`${name}-`)) continue;
    const path = join(snapshotFolder, file);
    // Another process may have removed it meanwhile.
    const usedAt = (await stat(path).catch(() => undefined))?.mtimeMs ?? Infinity;
    const keptMs = isUnfinished ? keptUnfinishedMs : keptUnusedMs;
    if (Date.now() - usedAt > keptMs) await rm(path, { recursive: true, force: true });
  }
}

const tryMemoryMb = 512;
const startWithinMs = 20_000;

/** Rejects when a child cannot start from the snapshot. */
async function tryStart(program: ChildProgram): Promise<void> {
  const ready = Promise.withResolvers<void>();
  const child = startChild({ ...program, memoryLimitMb: tryMemoryMb }, ({ kind }) => {
    if (kind === 'ready') ready.resolve();
  });
  const timer = setTimeout(() => child.kill(), startWithinMs);
  void child.ended.then(ready.reject);
  try {
    await ready.promise;
  } finally {
    clearTimeout(timer);
    child.kill();
    await child.ended;
  }
}
