import assert from 'node:assert';
import { readSync } from 'node:fs';
import { type FileHandle, mkdir, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { blobKey } from '#shared/contracts/stored-objects.ts';
import { fileListName, type ListedFile, mostListBytes, readFileList } from '#shared/interfaces/http/listed-files.ts';
import { mostProjectFiles } from '#shared/docs/project/project-files.ts';
import type { MadeFile } from '#shared/docs/reference/site-reference.ts';
import { ChildDied, type ChildProgram, ChildRequestFailed, ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import { briefly, type ChildPool, childPool } from '#shared/docs/sandbox/child-pool.ts';
import { answerer } from '#shared/docs/sandbox/child-request.ts';
import { ArchiveRefused } from '#shared/export/bundle/archive-names.ts';
import type { ArchiveBudgets } from '#shared/export/bundle/read-archive.ts';
import { errorCode, messageOf, Unavailable } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { type Clock, dayMs } from '#shared/runtime/time-and-ids.ts';
import { isStoredRecently, type ObjectStore, unlessDamaged } from '#shared/storage/object-store.ts';
import type { UnpackRequest } from './unpack-child.ts';
import { type ReceivedFile, unpackedFiles, type UnpackQuestion, unpackQuestion } from './unpacked-files.ts';
import { uploadPlaces } from './upload-places.ts';

/** A received docs project. Its files are concatenated in one file on disk, under a name of ours and never one from the archive. */
export type ReceivedProject = {
  /** The files that were sent, without the list. */
  files: readonly ReceivedFile[];
  /** All files of the project, if the archive begins with their list (`listed-files.ts`). Those that were sent are as the list says. */
  listed?: readonly ListedFile[] | undefined;
  /** The bytes of a file, or its first `maxBytes`. */
  read(file: ReceivedFile, maxBytes?: number): Promise<Uint8Array>;
  stream(file: ReceivedFile): Readable;
  /** Removes the bytes, and frees the place of this upload. */
  remove(): Promise<void>;
};

export type StoredFiles = Pick<ReceivedProject, 'files' | 'read' | 'stream'>;

/** Receives the uploads of docs projects. */
export type Uploads = {
  /**
   * Unpacks and hashes an archive as it arrives, in a child process. The caller removes the project. Throws `ArchiveRefused`, `unavailable` when too
   * many arrive at once, `Unavailable` when the disk is full, the error of `packed`, or the signal's reason; nothing is left on disk then. Before that,
   * `keepArrived` gets the files that were complete, if the archive began with a list.
   */
  receive(
    organization: string,
    packed: Readable,
    signal: AbortSignal,
    keepArrived?: (arrived: StoredFiles) => Promise<void>,
  ): Promise<ReceivedProject>;
  close(): Promise<void>;
};

const projectBudgets: ArchiveBudgets = {
  packedBytes: 500 * 1024 * 1024,
  unpackedBytes: 2 * 1024 * 1024 * 1024,
  entries: mostProjectFiles,
  ratio: 1_000,
};

/** Limit of processor time. 2 GB take 20 s. */
const unpackDeadlineMs = 60_000;
/** Limit of wall-clock time in which a client must have sent its archive. */
const uploadWithinMs = 15 * 60_000;

/** The program of the children of `openUploads`. */
export const archiveReader: ChildProgram = { entry: new URL('./unpack-child.ts', import.meta.url) };

/** Uploads that are unpacked below `folder`, up to `places` at once. */
export function openUploads(options: { folder: string; places: number; program?: ChildProgram }): Uploads {
  const { program = archiveReader } = options;
  const places = uploadPlaces(options.places);
  const pool = childPool({ ...program, ...briefly, slots: options.places, parked: 1 });
  return {
    async receive(organization, packed, signal, keepArrived) {
      const giveBack = places.take(organization);
      const undo: (() => Promise<void>)[] = [];
      const remove = async (): Promise<void> => {
        giveBack();
        for (const step of undo.splice(0).reverse()) await step();
      };
      // The next reader gets the error. Until then an error must not end the process.
      packed.on('error', () => undefined);
      try {
        const folder = await mkdtemp(join(options.folder, 'project-'));
        undo.push(() => rm(folder, { recursive: true, force: true }));
        const bytes = await open(join(folder, 'bytes'), 'wx+', 0o600);
        undo.push(() => bytes.close());
        const unpacked = unpackedFiles(projectBudgets);
        const access: Pick<ReceivedProject, 'read' | 'stream'> = {
          read: (file, maxBytes = file.sizeBytes) => readAt(bytes, file.offset, Math.min(file.sizeBytes, maxBytes)),
          stream: ({ offset, sizeBytes }) =>
            bytes.createReadStream({ start: offset, end: offset + sizeBytes - 1, autoClose: false }),
        };
        await unpackInChild(pool, { organization, packed, bytes, unpacked, signal }).catch(async (error: unknown) => {
          const [list, ...arrived] = unpacked.complete();
          // Files that cannot be kept are sent again by the client.
          if (list?.path === fileListName) await keepArrived?.({ files: arrived, ...access }).catch(() => undefined);
          throw error;
        });
        const [list, ...others] = unpacked.all();
        if (list?.path !== fileListName) return { files: withoutTopFolder(unpacked.all()), ...access, remove };
        const listed = await readList(list, access);
        checkSent(others, listed);
        return { files: others, listed: withoutTopFolder(listed), ...access, remove };
      } catch (error) {
        await remove();
        throw diskProblem(error);
      } finally {
        packed.destroy();
      }
    },
    close: () => pool.close(),
  };
}

async function readList(file: ReceivedFile, { read }: Pick<ReceivedProject, 'read'>): Promise<ListedFile[]> {
  if (file.sizeBytes > mostListBytes)
    throw new ArchiveRefused(`the list of files is larger than ${mostListBytes} bytes`);
  const text = Buffer.from(await read(file)).toString();
  return readFileList(text, { files: projectBudgets.entries, bytes: projectBudgets.unpackedBytes });
}

/** Throws `ArchiveRefused` unless each file that was sent is in the list with its own hash and size. */
function checkSent(files: readonly ReceivedFile[], listed: readonly ListedFile[]): void {
  const listedAt = new Map(listed.map((file) => [file.path, file]));
  for (const { path, sha256, sizeBytes } of files) {
    const said = listedAt.get(path);
    if (said === undefined)
      throw new ArchiveRefused(`the archive has ${JSON.stringify(path)}, which its list of files does not name`);
    if (said.sha256 === sha256 && said.sizeBytes === sizeBytes) continue;
    throw new ArchiveRefused(
      `${JSON.stringify(path)} has other bytes than the list of files says: make the list again, from the files as they are now`,
    );
  }
}

async function unpackInChild(
  pool: ChildPool,
  {
    organization,
    packed,
    bytes,
    unpacked: files,
    signal,
  }: {
    organization: string;
    packed: Readable;
    bytes: FileHandle;
    unpacked: ReturnType<typeof unpackedFiles>;
    signal: AbortSignal;
  },
): Promise<void> {
  const parts = packed[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  /** An error of this process or of the client's connection. The child is only told that there was one. */
  let problem: { cause: unknown } | undefined;
  let written: Promise<unknown> = Promise.resolve();
  /** Appends bytes to those of earlier questions. After a failed write nothing more is written, because it would be at a wrong place. */
  const keep = async (bytesOfFiles: Uint8Array): Promise<null> => {
    await writeAt(bytes, files.written(), bytesOfFiles);
    files.wrote(bytesOfFiles);
    return null;
  };
  const answer = async (question: UnpackQuestion): Promise<unknown> => {
    if (question.kind === 'keep') files.take(question.files, question.bytes);
    try {
      if (question.kind === 'keep') {
        const writing = written.then(() => keep(question.bytes));
        written = writing;
        return await writing;
      }
      const part = await parts.next();
      return part.done === true ? null : part.value;
    } catch (error) {
      const cause = diskProblem(error);
      problem ??= { cause };
      throw cause;
    }
  };
  const request: UnpackRequest = { budgets: projectBudgets };
  const all = { schema: z.undefined(), verify: () => void files.all() };
  // Two questions are answered at once, so that files that have arrived are kept while the next part is awaited: the client may be slow, or gone.
  const answers = answerer(unpackQuestion, answer, { atOnce: 2 });
  const limits = { deadlineMs: unpackDeadlineMs, withinMs: uploadWithinMs };
  const run = { ...limits, expects: all, signal, affinity: organization, answers };
  await pool.run(request, run).catch((error: unknown) => {
    throw problem === undefined || signal.aborted ? refusalOf(error) : problem.cause;
  });
  // The child's response does not matter: bytes that were not written are missing.
  if (problem !== undefined) throw problem.cause;
}

const diskTakesNothing = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO']);

/** A full disk may have space later, so that error becomes `Unavailable`. Other errors are returned unchanged. */
function diskProblem(error: unknown): unknown {
  if (!diskTakesNothing.has(errorCode(error) ?? '')) return error;
  return new Unavailable(`The disk for uploads cannot be written: ${messageOf(error)}`, { cause: error });
}

function refusalOf(error: unknown): unknown {
  if (error instanceof ChildRequestFailed && error.originalName === 'ArchiveRefused') {
    return new ArchiveRefused(error.message, { cause: error });
  }
  if (error instanceof ChildTimedOut || error instanceof ChildDied) {
    return new ArchiveRefused(`the archive cannot be unpacked: ${error.message}`, { cause: error });
  }
  return error;
}

async function writeAt(file: FileHandle, position: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length);
  for (let done = 0; done < length; ) {
    // The few kilobytes of most files were just written, and reading them in another thread takes longer.
    const bytesRead =
      length <= waitedBytes
        ? readSync(file.fd, bytes, done, length - done, position + done)
        : (await file.read(bytes, done, length - done, position + done)).bytesRead;
    assert(bytesRead > 0, 'the file with the bytes of a project is cut short');
    done += bytesRead;
  }
  return bytes;
}

/** Size above which files are read by other threads. */
const waitedBytes = 256 * 1024;

const configFiles = ['docs.json', 'mint.json'];

/** Paths without the one folder that all are in, if the project starts there, as in `tar czf p.tar.gz my-docs`. Pure. */
function withoutTopFolder<F extends { path: string }>(files: readonly F[]): F[] {
  const paths = new Set(files.map(({ path }) => path));
  if (configFiles.some((name) => paths.has(name))) return [...files];
  const top = files[0]?.path.split('/')[0] ?? '';
  const startsThere = configFiles.some((name) => paths.has(`${top}/${name}`));
  if (!startsThere || files.some(({ path }) => !path.startsWith(`${top}/`))) return [...files];
  return files.map((file) => ({ ...file, path: file.path.slice(top.length + 1) }));
}

const filesAtOnce = 16;
/** Size above which files are not held in memory. */
const mostHeldBytes = 8 * 1024 * 1024;

/** Stores files under their hashes; a file that was stored recently is not stored again. `stored` gets each file that is there. */
export async function storeFiles(
  objectStore: ObjectStore,
  clock: Clock,
  organization: string,
  project: StoredFiles,
  signal: AbortSignal,
  stored: (file: ReceivedFile) => void = () => {},
): Promise<void> {
  const different = [...new Map(project.files.map((file) => [file.sha256, file])).values()];
  await inParallel(different, filesAtOnce, async (file) => {
    signal.throwIfAborted();
    await storeFile(objectStore, clock, blobKey(organization, file.sha256), project, file, signal);
    stored(file);
  });
}

/** Stores files that were made from the project's files in the same way. */
export async function storeMadeFiles(
  objectStore: ObjectStore,
  clock: Clock,
  organization: string,
  made: readonly MadeFile[],
  signal: AbortSignal,
): Promise<void> {
  await inParallel(made, filesAtOnce, async ({ sha256, text }) => {
    signal.throwIfAborted();
    const key = blobKey(organization, sha256);
    if (!isStoredRecently(await unlessDamaged(objectStore.head(key, { signal })), clock))
      await objectStore.put(key, Buffer.from(text), { signal });
  });
}

async function storeFile(
  objectStore: ObjectStore,
  clock: Clock,
  key: string,
  project: StoredFiles,
  file: ReceivedFile,
  signal: AbortSignal,
): Promise<void> {
  if (isStoredRecently(await unlessDamaged(objectStore.head(key, { signal })), clock)) return;
  if (file.sizeBytes <= mostHeldBytes) await objectStore.put(key, await project.read(file), { signal });
  else await objectStore.putStream(key, project.stream(file), { signal });
}

const longestUploadMs = dayMs;

/** Makes the folder for uploads, and removes files that killed publishers left in it more than a day before `now`. */
export async function prepareUploadFolder(folder: string, now: Date): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    // Another publisher may remove the same files; a missing one is fine.
    const modifiedMs = await stat(path).then(
      (found) => found.mtimeMs,
      () => now.getTime(),
    );
    if (now.getTime() - modifiedMs > longestUploadMs) await rm(path, { recursive: true, force: true });
  }
}
