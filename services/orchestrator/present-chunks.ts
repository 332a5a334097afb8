import type { PresentChunk } from '#shared/aggregates/export-job/decide.ts';
import { readSegmentDigest, storedSegment } from '#shared/export/export-objects.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { PlanAnswer } from './plan-maker.ts';

/** Concurrent reads. An export without a change checks all chunks, and waits for the store. */
const atOnce = 16;
/** Number of chunks, spread over the site, that are checked first: a new site has none of them, and the others are not checked. */
const lookedForFirst = 8;

/**
 * Chunks of a plan whose segments are stored already, by number. A task, a renderer and a fact for each of them would be the largest cost of an
 * export after a small change. `joined`: keys of the segments of an earlier bundle, which the bundler has read whole. These segments exist unless
 * they were swept since, so only a sample of them is checked; the bundler finds any that is missing. Rejects with `ObjectStoreUnavailable`.
 */
export async function presentChunks(
  objectStore: ObjectStore,
  organization: string,
  chunks: PlanAnswer['chunks'],
  joined: ReadonlySet<string> = new Set(),
): Promise<PresentChunk[]> {
  const named = chunks.map(({ key, pageCount }, chunk) => ({ key, found: { chunk, pageCount } }));
  const present = async (some: typeof named): Promise<typeof named> => {
    const digests = await inParallel(some, atOnce, ({ key }) =>
      storedSegment(objectStore, organization, key, readSegmentDigest),
    );
    return some.filter((_, at) => digests[at] !== undefined);
  };
  const apart = Math.max(1, Math.floor(named.length / lookedForFirst));
  const first = named.filter(({ found }) => found.chunk % apart === 0);
  const others = named.filter(({ found }) => found.chunk % apart !== 0);
  const there = await present(first);
  if (there.length === 0) return [];
  const isSwept = first.some((one) => joined.has(one.key) && !there.includes(one));
  const trusted = others.filter(({ key }) => joined.has(key) && !isSwept);
  there.push(...trusted, ...(await present(others.filter((one) => !trusted.includes(one)))));
  return there.map(({ found }) => found).sort((a, b) => a.chunk - b.chunk);
}
