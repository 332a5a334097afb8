import { createHash } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { deploymentTypes } from '#shared/contracts/stored-objects.ts';
import { archivePathProblem, ArchiveRefused } from '#shared/export/bundle/archive-names.ts';
import { type ArchiveBudgets, type ArchiveFile, readArchive } from '#shared/export/bundle/read-archive.ts';
import {
  compareWithManifest,
  type FoundFile,
  manifestPath,
  maxManifestBytes,
} from '#shared/export/bundle/verify-bundle.ts';
import { sha256Hex } from '#shared/contracts/identifiers.ts';
import { jsonIn, sha256Of } from '#shared/runtime/canonical-json.ts';
import { errorCode } from '#shared/runtime/failures.ts';
import { firstProblem, problemText } from '#shared/runtime/problem-text.ts';
import { BundleRefused } from './bundle-refused.ts';
import { type NewContent, type PartedBytes, readContent, type StoredBytes } from './content-folder.ts';
import type { EarlierVersion } from './earlier-version.ts';
import { configPath } from './hosted-types.ts';
import type { VersionList } from './version-list.ts';
import { readRegularFile } from './read-regular-file.ts';

const whatToDo = 'Copy or export it again; a folder that is still being copied is taken once it is whole';

export type UnpackedBundle = { manifest: VersionList['manifest']; found: Map<string, PartedBytes> };

const mostEntries = 1_000_000;
/** Limit of the unpacked size as a multiple of the packed size. Text compresses 3 to 30 times. */
const mostRatio = 200;
const unpackedByPacked = 10;

/** Size limit of `config.js`, the only file that is read although the manifest does not list it. */
export const mostConfigBytes = 1024 * 1024;

const oneName = z.string().max(300);

const manifestSchema = z.looseObject({
  domain: oneName,
  label: oneName.optional(),
  contentVersion: oneName.optional(),
  deployment: z.enum(deploymentTypes),
});

/**
 * Unpacks a bundle into `content` and checks every file against the manifest. Throws `BundleRefused` with the reason if its contents differ from its
 * manifest. `sha256`: digest of the archive, in case it is replaced while it is read. `earlier`: a version whose files are not written again.
 */
export async function unpackBundle(
  file: string,
  content: NewContent,
  maxBytes: number,
  { sha256, earlier }: { sha256?: string | undefined; earlier?: EarlierVersion | undefined } = {},
): Promise<UnpackedBundle> {
  const whole = createHash('sha256');
  const packed = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      whole.update(chunk);
      done(null, chunk);
    },
  });
  const { body } = await readRegularFile(file, maxBytes);
  // The rejection needs no handling here, because `packed` emits the error, too.
  pipeline(body, packed).catch(() => {});
  const archive = readArchive(packed, budgetsOf(maxBytes), { portableNames: true, oneMember: true });
  const unpacked = await checked(withoutTopFolder(archive), content, storing(content, earlier));
  if (sha256 !== undefined && whole.digest('hex') !== sha256)
    throw new BundleRefused('the bundle changed while it was unpacked');
  return unpacked;
}

/** Takes an unpacked bundle into `content`, and checks it in the same way, with the size limit of an archive of `maxBytes`. */
export async function copyBundle(unpacked: string, content: NewContent, maxBytes: number): Promise<UnpackedBundle> {
  return await checked(filesOfFolder(unpacked, budgetsOf(maxBytes)), content, storing(content));
}

/** Takes an unpacked bundle that no other program changes. Its files are linked, so that they use no disk space twice. */
export async function linkBundle(unpacked: string, content: NewContent): Promise<UnpackedBundle> {
  const store = storing(content);
  const files = filesOfFolder(unpacked, budgetsOf(Number.MAX_SAFE_INTEGER));
  return await checked(files, content, async (file) => {
    const from = join(unpacked, file.path);
    const found = await measured(file.body);
    if (await content.putLink(from, found)) return found;
    return await store({ ...file, ...(await readRegularFile(from, Number.MAX_SAFE_INTEGER)) });
  });
}

/** Files of a stored bundle that its manifest does not list, or not completely. */
export type OwnFiles = {
  manifest: StoredBytes;
  config?: StoredBytes | undefined;
  /** Files that are stored in parts, by path. */
  parted: ReadonlyMap<string, PartedBytes>;
};

/** Checks a stored bundle against its manifest. Throws `BundleRefused`. */
export async function checkBundle(folder: string, own: OwnFiles, content: NewContent): Promise<UnpackedBundle> {
  try {
    return await checked(storedFiles(folder, own), content, async ({ path, body }) => ({
      ...own.parted.get(path),
      ...(await measured(body)),
    }));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new BundleRefused('a file of the stored bundle is lost', { cause: error });
  }
}

async function* storedFiles(folder: string, { manifest, config, parted }: OwnFiles): AsyncGenerator<ArchiveFile, void> {
  const open = (path: string, bytes: PartedBytes): ArchiveFile => ({
    path,
    size: bytes.size,
    body: readContent(folder, bytes),
  });
  const bytes = await buffer(readContent(folder, manifest));
  for (const { path, size, sha256 } of filesOfManifest(bytes)) yield open(path, parted.get(path) ?? { size, sha256 });
  if (config !== undefined) yield open(configPath, config);
  yield open(manifestPath, manifest);
}

const filesSchema = z.object({
  files: z.array(z.object({ path: z.string(), size: z.int().min(0), sha256: sha256Hex })),
});

/** The files that a manifest lists; empty if it is damaged, which the comparison reports. */
const filesOfManifest = (bytes: Buffer) => filesSchema.safeParse(jsonIn(bytes.toString('utf8'))).data?.files ?? [];

export const budgetsOf = (maxBytes: number): ArchiveBudgets => ({
  packedBytes: maxBytes,
  unpackedBytes: maxBytes * unpackedByPacked,
  entries: mostEntries,
  ratio: mostRatio,
});

async function checked(
  files: AsyncIterable<ArchiveFile>,
  content: NewContent,
  keep: (file: ArchiveFile) => Promise<PartedBytes>,
): Promise<UnpackedBundle> {
  const found = new Map<string, PartedBytes>();
  const read = async (): Promise<void> => {
    for await (const file of files) found.set(file.path, await keep(file));
  };
  await refusing(read());
  return await compared(found, content);
}

/** Returns the outcome of `reading`, and converts `ArchiveRefused` to `BundleRefused`. */
export async function refusing<T>(reading: Promise<T>): Promise<T> {
  return await reading.catch((error: unknown) => {
    throw error instanceof ArchiveRefused
      ? new BundleRefused(`the bundle is refused: ${error.message}`, { cause: error })
      : error;
  });
}

/** Compares all files of a bundle with its manifest. Throws `BundleRefused` for each difference. */
export async function compared(found: Map<string, PartedBytes>, content: NewContent): Promise<UnpackedBundle> {
  const manifest = found.get(manifestPath);
  if (manifest === undefined || manifest.size > maxManifestBytes)
    throw new BundleRefused(`the bundle has no ${manifestPath}: it is not an export, or was cut`);
  if ((found.get(configPath)?.size ?? 0) > mostConfigBytes)
    throw new BundleRefused(
      `${configPath} has more than ${mostConfigBytes} bytes, but it may have only the settings of a site`,
    );
  const bytes = await content.read(manifest);
  const [problem, ...others] = compareWithManifest(found, bytes);
  if (problem !== undefined) {
    const more = others.length > 0 ? `, and ${others.length} more differences` : '';
    throw new BundleRefused(`the bundle does not match its manifest: ${problem}${more}. ${whatToDo}`);
  }
  return { found, manifest: factsOf(jsonIn(bytes.toString('utf8')), sha256Of(bytes)) };
}

/** The facts that a host needs of a manifest with this digest. Throws `BundleRefused`. */
export function factsOf(manifest: unknown, sha256: string): VersionList['manifest'] {
  const said = manifestSchema.safeParse(manifest, { error: problemText });
  if (!said.success)
    throw new BundleRefused(
      `the bundle is not what a documentation host serves: ${firstProblem(said.error, 'the manifest')} in ${manifestPath}. ${whatToDo}`,
    );
  const { domain, label, contentVersion, deployment } = said.data;
  return {
    ...{ sha256, domain, deployment },
    ...(label !== undefined && { label }),
    ...(contentVersion !== undefined && { contentVersion }),
  };
}

async function* withoutTopFolder(files: AsyncIterable<ArchiveFile>): AsyncGenerator<ArchiveFile, void> {
  let top: string | undefined;
  for await (const file of files) {
    const slash = file.path.indexOf('/');
    const folder = file.path.slice(0, slash + 1);
    top ??= folder;
    if (slash < 0 || folder !== top)
      throw new BundleRefused(`the bundle has ${JSON.stringify(file.path)} outside of its one top folder`);
    yield { ...file, path: file.path.slice(slash + 1) };
  }
}

async function* filesOfFolder(folder: string, budgets: ArchiveBudgets): AsyncGenerator<ArchiveFile, void> {
  let bytes = 0;
  let entries = 0;
  for await (const file of filesBelow(folder, '')) {
    bytes += file.size;
    entries += 1;
    if (bytes > budgets.unpackedBytes || entries > budgets.entries)
      throw new BundleRefused(
        `the bundle has more than ${budgets.unpackedBytes} bytes or ${budgets.entries} files: BINDERY_MAX_BUNDLE_MB limits it`,
      );
    yield file;
  }
}

async function* filesBelow(folder: string, below: string): AsyncGenerator<ArchiveFile, void> {
  for (const name of (await readdir(join(folder, below))).sort()) {
    const path = below === '' ? name : `${below}/${name}`;
    const problem = archivePathProblem(path);
    if (problem !== undefined) throw new BundleRefused(`${JSON.stringify(path)} ${problem}: a bundle has no such file`);
    const entry = await lstat(join(folder, path));
    if (entry.isDirectory()) yield* filesBelow(folder, path);
    else if (entry.isFile()) yield { path, ...(await readRegularFile(join(folder, path), Number.MAX_SAFE_INTEGER)) };
    else throw new BundleRefused(`${JSON.stringify(path)} is neither a file nor a folder: a bundle has nothing else`);
  }
}

/** Files up to this size are held in memory until they are written. */
const mostHeldBytes = 1024 * 1024;

/** Returns a function that stores a file of a bundle, unless `earlier` has the same. */
function storing(content: NewContent, earlier?: EarlierVersion): (file: ArchiveFile) => Promise<PartedBytes> {
  return async ({ path, size, body }) => {
    if (size > mostHeldBytes) return await content.putStream(body);
    return await content.put(await buffer(body), earlier?.bundled.get(path)?.bytes.sha256);
  };
}

async function measured(body: Readable): Promise<FoundFile> {
  const hash = createHash('sha256');
  let size = 0;
  const meter = new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      hash.update(chunk);
      size += chunk.length;
      done();
    },
  });
  await pipeline(body, meter);
  return { size, sha256: hash.digest('hex') };
}
