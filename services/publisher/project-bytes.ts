import { readBlob } from '#shared/export/read-blob.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { ListedFile } from '#shared/interfaces/http/listed-files.ts';
import { type ObjectStore, unlessDamaged } from '#shared/storage/object-store.ts';
import type { HeldFiles } from './held-files.ts';
import type { ReceivedProject } from './project-files.ts';
import type { ReceivedFile } from './unpacked-files.ts';

/** A project to be published: all of its files, those that were sent, and those that the domain has. */
export type ArrivingProject = { files: readonly ListedFile[]; received: ReceivedProject; held: HeldFiles };

type ProjectBytes = {
  read: (file: ListedFile, maxBytes: number) => Promise<Uint8Array>;
  /** Throws `contents_missing` if bytes were needed that were neither sent nor stored. */
  check: () => void;
  /** The files among these that were sent, each with its place in the sent bytes. */
  toStore: (files: readonly ListedFile[]) => ReceivedFile[];
};

/** The bytes of a project's files: those that were sent, and those that the domain has, if the caller sent a list. */
export function bytesOf(
  objectStore: ObjectStore,
  organization: string,
  { files, received, held }: ArrivingProject,
  signal: AbortSignal,
): ProjectBytes {
  const sent = new Map(received.files.map((file) => [file.sha256, file]));
  const sizes = received.listed === undefined ? new Map<string, number>() : held.sizes;
  checkSizes(files, (sha256) => sent.get(sha256)?.sizeBytes ?? sizes.get(sha256));
  let isLacking = false;
  return {
    async read({ sha256 }, maxBytes) {
      const here = sent.get(sha256);
      if (here !== undefined) return received.read(here, maxBytes);
      const stored = sizes.has(sha256)
        ? await unlessDamaged(readBlob(objectStore, organization, sha256, { signal }))
        : undefined;
      if (stored !== undefined) return stored.subarray(0, maxBytes);
      isLacking = true;
      throw new Error('its bytes were not sent');
    },
    check() {
      if (isLacking) throw contentsMissing();
    },
    toStore(needed) {
      isLacking ||= needed.some(({ sha256 }) => !sent.has(sha256) && !sizes.has(sha256));
      return needed.flatMap(({ sha256 }) => sent.get(sha256) ?? []);
    },
  };
}

/** Refuses a list that gives a file another size than the known one. */
export function checkSizes(files: readonly ListedFile[], sizeOf: (sha256: string) => number | undefined): void {
  const wrong = files.find(({ sha256, sizeBytes }) => (sizeOf(sha256) ?? sizeBytes) !== sizeBytes);
  if (wrong === undefined) return;
  const { path, sizeBytes } = wrong;
  const sentence = `The list of files gives ${JSON.stringify(path)} ${sizeBytes} bytes, but the file of that hash has another size. Make the list again.`;
  throw new ApiError('invalid_project', sentence);
}

export const contentsMissing = (): ApiError => new ApiError('contents_missing');
