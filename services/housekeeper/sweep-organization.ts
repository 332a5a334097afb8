import { inParallel } from '#shared/export-objects/in-parallel.ts';
import type { ObjectEntry } from '#shared/object-store/object-store.ts';
import type { HousekeeperContext } from './context.ts';
import { markOrganization } from './mark-organization.ts';
import { isMarked, type Marks, noMarks, type SweptKind, sweptKinds } from './marks.ts';
import { countSwept, type SweptObjects } from './swept-objects.ts';

type Parts = Pick<HousekeeperContext, 'bus' | 'objectStore' | 'logger' | 'jobSources'>;

export type SweepLimits = {
  /** By the object store's clock: what was stored or stored again since then stays. */
  storedBefore: Date;
  /** By the log's: jobs that ended before need nothing. */
  endedSince: Date;
  /** Count, but remove nothing. */
  dryRun: boolean;
};

const batchSize = 2_000;
const callsAtOnce = 8;

/**
 * Removes what nobody needs of one organization, in the memory of its marks and one batch of keys.
 *
 * While this runs others go on working, so the order matters. Candidates are listed first; then everything is marked again, so that what
 * a new job took up meanwhile is seen; then each candidate's age is looked at once more right before it is removed. Whoever relies on an
 * object that exists already stores it again when it is old (`shared/object-store/reusable.ts`), and is seen by that. Segments are an
 * exception: one that is missing is rendered again.
 */
export async function sweepOrganization(
  parts: Parts,
  organization: string,
  limits: SweepLimits,
  signal: AbortSignal,
): Promise<SweptObjects> {
  const marks = noMarks();
  const swept: SweptObjects = {};
  await markOrganization(parts, organization, limits.endedSince, marks, signal);
  for (const kind of sweptKinds) {
    for await (const candidates of candidatesOf(parts, organization, kind, limits, marks, signal)) {
      await markOrganization(parts, organization, limits.endedSince, marks, signal);
      const unneeded = candidates.filter(({ key }) => !isMarked(marks, key));
      for (const group of removalOrder(unneeded)) {
        await inParallel(group, callsAtOnce, async (entry) => {
          if (await removeIfOld(parts, entry, limits, signal)) countSwept(swept, kind, entry.sizeBytes);
        });
      }
    }
  }
  return swept;
}

/** What is old and not marked so far, in batches. */
async function* candidatesOf(
  { objectStore }: Parts,
  organization: string,
  kind: SweptKind,
  { storedBefore }: SweepLimits,
  marks: Marks,
  signal: AbortSignal,
): AsyncGenerator<ObjectEntry[]> {
  let batch: ObjectEntry[] = [];
  for await (const entry of objectStore.list(`${kind}/${organization}/`, { signal })) {
    if (!isOlder(entry.modifiedAt, storedBefore) || isMarked(marks, entry.key)) continue;
    batch.push(entry);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** A sidecar says that there is nothing to render, so it goes before its segment. */
export function removalOrder(entries: readonly ObjectEntry[]): ObjectEntry[][] {
  const isSidecar = ({ key }: ObjectEntry) => key.startsWith('segments/') && key.endsWith('.json');
  return [entries.filter(isSidecar), entries.filter((entry) => !isSidecar(entry))];
}

async function removeIfOld(
  { objectStore }: Parts,
  { key }: ObjectEntry,
  { storedBefore, dryRun }: SweepLimits,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted();
  if (dryRun) return true;
  const head = await objectStore.head(key, { signal });
  if (head === undefined || !isOlder(head.modifiedAt, storedBefore)) return false;
  await objectStore.remove(key, { signal });
  return true;
}

/** A store that does not say when counts as young. */
function isOlder(modifiedAt: Date, than: Date): boolean {
  return modifiedAt.getTime() > 0 && modifiedAt < than;
}
