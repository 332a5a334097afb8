import { blobKey } from '#shared/contracts/stored-objects.ts';
import { isIsolated, maxIsolatedBytes } from '#shared/docs/render/isolate/isolated-types.ts';
import type { RenderRequest } from '#shared/docs/render/render-request.ts';
import { maxSpecificationBytes } from '#shared/docs/reference/specification-limits.ts';
import {
  longestRestrictingKey,
  mayRestrict,
  unreadDescription,
} from '#shared/docs/reference/published/unread-description.ts';
import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import { ChildDied, ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import type { StoredFile } from '#shared/export/bundle/pack-export.ts';
import { readBlob } from '#shared/export/read-blob.ts';
import type { RendererContext } from './context.ts';
import { inFreshChild, runChild } from './render-pages.ts';

type Context = Pick<RendererContext, 'objectStore' | 'pool' | 'freshPool' | 'pageDeadlineMs' | 'retry'>;

/** Rules for files of a project that are changed for the bundle. */
export type FileRules = {
  allowTenantScripts: boolean;
  groups: readonly string[];
  /** Parts to leave out of API descriptions, by path. */
  leftOut: ReadonlyMap<string, readonly string[]>;
};

/**
 * Replacements of files, by path: API descriptions with parts that not everybody may read and, if the project's scripts are not allowed, files that
 * can run scripts. A file that no child can read within its deadline and memory, twice, is replaced by a notice, so that it cannot stop the export.
 * Rejects when a file is gone, and with the reason of `signal`.
 */
export async function changedFiles(
  context: Context,
  organization: string,
  files: readonly StoredFile[],
  { allowTenantScripts, groups, leftOut }: FileRules,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, { body: Uint8Array }>> {
  const made = new Map<string, { body: Uint8Array }>();
  for (const file of files) {
    const { path } = file;
    const without = leftOut.get(path);
    const isChanged = !allowTenantScripts && isIsolated(path);
    if (without === undefined && !isChanged) continue;
    const mostBytes = without === undefined ? maxIsolatedBytes : maxSpecificationBytes;
    if (without !== undefined && file.sizeBytes > mostBytes) {
      // A larger description has no pages. If it may restrict some, it is replaced as a whole.
      if (await mayRestrictIn(context, organization, file, signal)) made.set(path, { body: unreadDescription });
      continue;
    }
    const source = file.sizeBytes > mostBytes ? undefined : await sourceOf(context, organization, file, signal);
    const requestOf = (from: Uint8Array | undefined): FileRequest =>
      without === undefined
        ? { kind: 'isolated-file', path, source: from }
        : { kind: 'description', path, source: from, readers: { groups, leftOut: without } };
    const body = await bodyOf(context, organization, requestOf, source, signal);
    if (body !== undefined) made.set(path, { body });
  }
  return made;
}

type FileRequest = Extract<RenderRequest, { kind: 'isolated-file' | 'description' }>;

async function sourceOf(
  { objectStore, retry }: Context,
  organization: string,
  { path, sha256 }: StoredFile,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const source = await retryUnavailable(retry, signal, () => readBlob(objectStore, organization, sha256, { signal }));
  if (source === undefined) throw new Error(`the file ${path} of the content version is gone`);
  return source;
}

/** True if a file of any size names a key that restricts parts of a description. */
async function mayRestrictIn(
  { objectStore }: Context,
  organization: string,
  { path, sha256 }: StoredFile,
  signal: AbortSignal,
): Promise<boolean> {
  const stream = await objectStore.getStream(blobKey(organization, sha256), { signal });
  if (stream === undefined) throw new Error(`the file ${path} of the content version is gone`);
  let end: Uint8Array = new Uint8Array();
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    const bytes = Buffer.concat([end, chunk]);
    if (mayRestrict(bytes)) return true;
    end = bytes.subarray(-longestRestrictingKey);
  }
  return false;
}

/** Undefined if the file stays unchanged. */
async function bodyOf(
  context: Context,
  organization: string,
  requestOf: (source: Uint8Array | undefined) => FileRequest,
  source: Uint8Array | undefined,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const options = { deadlineMs: context.pageDeadlineMs, affinity: organization, signal };
  const run = async (pool: ChildPool, from: Uint8Array | undefined): Promise<Uint8Array | undefined> => {
    const { files } = await runChild(pool, requestOf(from), options);
    return files[0]?.body;
  };
  const attempts = [
    () => run(context.pool, source),
    () => inFreshChild(context, (pool) => run(pool, source)),
    () => run(context.pool, undefined),
  ];
  let last: unknown;
  for (const attempt of attempts) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ChildTimedOut || error instanceof ChildDied)) throw error;
      last = error;
    }
  }
  throw last;
}
