import type { ContentState } from '#shared/aggregates/content/content.ts';
import { isKnown } from '#shared/aggregates/content/decide.ts';
import type { ContentId } from '#shared/contracts/identifiers.ts';
import {
  type ArrivedFiles,
  arrivedFilesKey,
  arrivedFilesPrefix,
  arrivedFilesSchema,
  blobKey,
  type VersionFiles,
  versionFilesKey,
  versionFilesSchema,
} from '#shared/contracts/stored-objects.ts';
import type { ListedFile } from '#shared/interfaces/http/listed-files.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import {
  isStoredRecently,
  type ObjectEntry,
  type ObjectStore,
  type ReadOptions,
  unlessDamaged,
} from '#shared/storage/object-store.ts';
import { BrokenObject, getJson } from '#shared/storage/stored-json.ts';

type Domain = Omit<ContentId, 'contentVersion'>;

/**
 * The files that a caller need not send again. Only those of the domain's latest content count, and those that arrived for this domain: nobody learns from
 * an answer that another domain or organization has a file, or gets it by its hash.
 */
export type HeldFiles = {
  /** The content version that has these files. They are kept while it is in the log, so a publication that relies on them checks that it still is. */
  contentVersion: string | undefined;
  /** Sizes of stored files by hash. */
  sizes: ReadonlyMap<string, number>;
  /** Hashes of the files of the content version. */
  ofContent: ReadonlySet<string>;
  /** All files of the content version by path. */
  files: ReadonlyMap<string, { sha256: string; sizeBytes: number; isStored: boolean }>;
  /** True for a file that the content has, but that no page needed. Its bytes are not stored. */
  isUnneeded: (file: ListedFile) => boolean;
};

/** Limit of records that are read, newest first. An upload that is interrupted repeatedly leaves more. The largest record has 15 MB. */
const mostRecords = 20;
const mostRecordBytes = 32 * 1024 * 1024;

export async function heldFiles(
  { objectStore, clock }: { objectStore: ObjectStore; clock: Clock },
  domain: Domain,
  state: ContentState | undefined,
  options: ReadOptions,
): Promise<HeldFiles> {
  const sizes = new Map<string, number>();
  const recent: ObjectEntry[] = [];
  for await (const record of objectStore.list(arrivedFilesPrefix(domain), options))
    if (isStoredRecently(record, clock)) recent.push(record);
  recent.sort((a, b) => b.modifiedAt.getTime() - a.modifiedAt.getTime());
  let recordBytes = 0;
  for (const { key, sizeBytes: bytes } of recent.slice(0, mostRecords)) {
    recordBytes += bytes;
    if (recordBytes > mostRecordBytes) break;
    const arrived = await unlessBroken(getJson(objectStore, key, arrivedFilesSchema, options));
    for (const [sha256, sizeBytes] of arrived?.files ?? []) sizes.set(sha256, sizeBytes);
  }
  const all = new Map<string, { sha256: string; sizeBytes: number; isStored: boolean }>();
  const ofContent = new Set<string>();
  const latest = state?.latest;
  const contentVersion = latest !== undefined && isKnown(state, latest) ? latest : undefined;
  if (contentVersion !== undefined) {
    const key = versionFilesKey({ ...domain, contentVersion });
    const files = await unlessBroken(getJson(objectStore, key, versionFilesSchema, options));
    for (const [path, sha256, sizeBytes, isStored] of files?.files ?? []) {
      all.set(path, { sha256, sizeBytes, isStored });
      if (!isStored) continue;
      sizes.set(sha256, sizeBytes);
      ofContent.add(sha256);
    }
  }
  const isUnneeded = ({ path, sha256 }: ListedFile): boolean => {
    const known = all.get(path);
    return known?.sha256 === sha256 && !known.isStored;
  };
  return { contentVersion, sizes, ofContent, files: all, isUnneeded };
}

const looksAtOnce = 32;

/**
 * `held` without files that the store lacks, and the files of `named` that the store lacks. Only a publication that repairs a content needs this,
 * because looking for all files costs more than a small change.
 */
export async function withoutGone(
  objectStore: ObjectStore,
  organization: string,
  held: HeldFiles,
  named: Iterable<string>,
  options: ReadOptions,
): Promise<{ held: HeldFiles; gone: ReadonlySet<string> }> {
  const gone = new Set<string>();
  await inParallel([...new Set([...held.ofContent, ...named])], looksAtOnce, async (sha256) => {
    const found = await unlessDamaged(objectStore.head(blobKey(organization, sha256), options));
    if (found === undefined) gone.add(sha256);
  });
  const sizes = new Map([...held.sizes].filter(([sha256]) => !gone.has(sha256)));
  const ofContent = new Set([...held.ofContent].filter((sha256) => !gone.has(sha256)));
  return { held: { ...held, sizes, ofContent }, gone };
}

/** Hashes of listed files whose bytes have to be sent, each once. Pure. */
export function missingOf(listed: readonly ListedFile[], { sizes, isUnneeded }: HeldFiles): string[] {
  const missing = listed.filter((file) => !sizes.has(file.sha256) && !isUnneeded(file));
  return [...new Set(missing.map(({ sha256 }) => sha256))];
}

/** Records the files of a content version, for the next publication. `isStored` tells if the bytes of a file are stored. */
export async function recordFiles(
  objectStore: ObjectStore,
  content: ContentId,
  files: readonly ListedFile[],
  isStored: (file: ListedFile) => boolean,
  options: ReadOptions,
): Promise<void> {
  const record: VersionFiles = {
    version: 1,
    files: files.map((file) => [file.path, file.sha256, file.sizeBytes, isStored(file)]),
  };
  await putJson(objectStore, versionFilesKey(content), record, options);
}

/** Records files that were stored before their upload was cut. */
export async function recordArrived(
  objectStore: ObjectStore,
  domain: Domain,
  files: readonly Pick<ListedFile, 'sha256' | 'sizeBytes'>[],
  options: ReadOptions,
): Promise<void> {
  const record: ArrivedFiles = { version: 1, files: files.map(({ sha256, sizeBytes }) => [sha256, sizeBytes]) };
  await putJson(objectStore, arrivedFilesKey(domain, sha256Of(JSON.stringify(record))), record, options);
}

const putJson = (objectStore: ObjectStore, key: string, value: unknown, options: ReadOptions): Promise<void> =>
  objectStore.put(key, Buffer.from(JSON.stringify(value)), { contentType: 'application/json', ...options });

/** A broken record counts as none, so its files are sent again. */
async function unlessBroken<T>(reading: Promise<T | undefined>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (error instanceof BrokenObject) return undefined;
    throw error;
  });
}
