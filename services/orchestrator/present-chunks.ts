import { mostChunksAtOnce, type PresentChunk } from '#shared/aggregates/export-job/decide.ts';
import type { ExportPlan } from '#shared/contracts/stored-objects.ts';
import { readSegmentDigest, storedSegment } from '#shared/export/export-objects.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

/** Concurrent reads. An export without a change checks all chunks, and waits for the store. */
const atOnce = 16;
/** Number of chunks, spread over the site, that are checked first: a new site has none of them, and the others are not checked. */
const lookedForFirst = 8;

/**
 * Chunks of a plan whose segments are stored already, by number. A task, a renderer and a fact for each of them would be the largest cost of an
 * export after a small change. Renderers check the chunks of a larger plan, and repeat the check for those that are handed out. Rejects with
 * `ObjectStoreUnavailable`.
 */
export async function presentChunks(
  objectStore: ObjectStore,
  { organization, chunks }: Pick<ExportPlan, 'organization' | 'chunks'>,
): Promise<PresentChunk[]> {
  const present = async (numbers: readonly number[]): Promise<PresentChunk[]> => {
    const found = await inParallel(numbers, atOnce, async (number): Promise<PresentChunk[]> => {
      const chunk = chunks[number];
      if (chunk === undefined) return [];
      const digest = await storedSegment(objectStore, organization, chunk.key, readSegmentDigest);
      return digest === undefined
        ? []
        : [{ chunk: number, pageCount: chunk.kind === 'pages' ? chunk.paths.length : 0 }];
    });
    return found.flat();
  };
  const numbers = [...chunks.keys()].slice(0, mostChunksAtOnce);
  const apart = Math.max(1, Math.floor(numbers.length / lookedForFirst));
  const isFirst = (number: number): boolean => number % apart === 0;
  const first = await present(numbers.filter(isFirst));
  if (first.length === 0) return [];
  const others = await present(numbers.filter((number) => !isFirst(number)));
  return [...first, ...others].sort((a, b) => a.chunk - b.chunk);
}
