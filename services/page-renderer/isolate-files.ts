import { blobKey } from '#shared/contracts/stored-objects.ts';
import { maxIsolatedBytes } from '#shared/docs/render/isolate/isolate-file.ts';
import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import { ChildDied, ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import { retryUnavailable } from '#shared/runtime/retry.ts';
import type { StoredFile } from '#shared/export/bundle/pack-export.ts';
import type { RendererContext } from './context.ts';
import { inFreshChild, runChild } from './render-pages.ts';

type Context = Pick<RendererContext, 'objectStore' | 'pool' | 'freshPool' | 'pageDeadlineMs' | 'retry'>;

/**
 * What takes the place of files that could run something, by path. A file that no child can read within its deadline and memory, twice, is
 * replaced by what says so: it cannot stop the export. Rejects when a file is gone, and with the reason of `signal`.
 */
export async function isolateFiles(
  context: Context,
  organization: string,
  files: readonly StoredFile[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, { body: Uint8Array }>> {
  const made = new Map<string, { body: Uint8Array }>();
  for (const file of files) {
    const source = await sourceOf(context, organization, file, signal);
    made.set(file.path, { body: await isolated(context, organization, file.path, source, signal) });
  }
  return made;
}

async function sourceOf(
  { objectStore, retry }: Context,
  organization: string,
  { path, sha256, sizeBytes }: StoredFile,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  if (sizeBytes > maxIsolatedBytes) return undefined;
  const source = await retryUnavailable(retry, signal, () =>
    objectStore.get(blobKey(organization, sha256), { signal }),
  );
  if (source === undefined) throw new Error(`the file ${path} of the content version is gone`);
  return source;
}

async function isolated(
  context: Context,
  organization: string,
  path: string,
  source: Uint8Array | undefined,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const options = { deadlineMs: context.pageDeadlineMs, affinity: organization, signal };
  const run = async (pool: ChildPool, from: Uint8Array | undefined): Promise<Uint8Array> => {
    const { files } = await runChild(pool, { kind: 'isolated-file', path, source: from }, options);
    const [file] = files;
    if (file === undefined) throw new Error(`the child gave nothing for ${path}`);
    return file.body;
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
