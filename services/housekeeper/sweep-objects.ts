import { type BusParts, BusUnavailable } from '#shared/messaging/bus.ts';
import { contentLogSubject, directoryLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import { type ObjectEntry, type ObjectStore, ObjectStoreUnavailable } from '#shared/storage/object-store.ts';
import type { HousekeeperContext } from './context.ts';
import { isMarked, markOrganization, type Marks, noMarks, type SweptKind, sweptKinds } from './marks.ts';

type Parts = Pick<
  HousekeeperContext,
  'bus' | 'objectStore' | 'clock' | 'logger' | 'jobSources' | 'keepObjectsMs' | 'dryRun'
>;

/**
 * Removes the objects that no kept job and no content version needs, one organization after the other. One that cannot be judged keeps all
 * it has and does not hold up the others; the chore rejects in the end.
 */
export async function sweepObjects(parts: Parts, signal: AbortSignal): Promise<Map<string, SweptObjects>> {
  const { objectStore, clock, logger, keepObjectsMs, dryRun } = parts;
  const before = (time: Date) => new Date(time.getTime() - keepObjectsMs);
  const limits: SweepLimits = {
    storedBefore: before(await storeTime(objectStore, clock)),
    endedSince: before(clock.now()),
    dryRun,
  };
  const sweptBy = new Map<string, SweptObjects>();
  const failed: string[] = [];
  for (const organization of await organizationsOf(parts.bus)) {
    try {
      const swept = await sweepOrganization(parts, organization, limits, signal);
      if (Object.keys(swept).length === 0) continue;
      sweptBy.set(organization, swept);
      logger.info({ organization, ...swept }, `objects that nobody needs ${dryRun ? 'would be' : 'were'} removed`);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof BusUnavailable || error instanceof ObjectStoreUnavailable) throw error;
      logger.error({ err: error, organization }, 'the objects of an organization could not be judged and stay');
      failed.push(organization);
    }
  }
  if (failed.length > 0) throw new Error(`The objects of these organizations were not swept: ${failed.join(', ')}.`);
  return sweptBy;
}

/** Every organization that may have objects, sorted: by the logs that are kept for good. */
export async function organizationsOf({
  content,
  directory,
}: Pick<BusParts, 'content' | 'directory'>): Promise<string[]> {
  const subjects = [
    ...(await directory.subjects(directoryLogSubject('*'))),
    ...(await content.subjects(contentLogSubject('*', '*'))),
  ];
  return [...new Set(subjects.map((subject) => subject.split('.')[1] ?? ''))].filter(Boolean).toSorted();
}

type SweepParts = Pick<HousekeeperContext, 'bus' | 'objectStore' | 'logger' | 'jobSources'>;

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
 * object that exists already stores it again when it is old (`isStoredRecently`), and is seen by that. Segments are an
 * exception: one that is missing is rendered again.
 */
export async function sweepOrganization(
  parts: SweepParts,
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
  { objectStore }: SweepParts,
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
  { objectStore }: SweepParts,
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

/** How many objects of each kind were removed, and of what size; kinds of which none were are left out. */
export type SweptObjects = Partial<Record<SweptKind, { objects: number; bytes: number }>>;

export function countSwept(swept: SweptObjects, kind: SweptKind, bytes: number): void {
  const before = swept[kind] ?? { objects: 0, bytes: 0 };
  swept[kind] = { objects: before.objects + 1, bytes: before.bytes + bytes };
}

type UploadParts = Pick<HousekeeperContext, 'objectStore' | 'clock' | 'logger' | 'sweepUploadsAfterMs'>;

/** Gives up the uploads that writers began and never finished: stores without lifecycle rules would keep their parts for ever. */
export async function sweepUploads({ objectStore, clock, logger, sweepUploadsAfterMs }: UploadParts): Promise<void> {
  const now = await storeTime(objectStore, clock);
  const swept = await objectStore.sweepUnfinishedUploads(new Date(now.getTime() - sweepUploadsAfterMs));
  if (swept > 0) logger.info({ uploads: swept }, 'unfinished uploads were given up');
}

/** The time by the object store's clock. Ages of objects and uploads count by it: a clock of ours that is ahead would make them older. */
export async function storeTime(objectStore: Pick<ObjectStore, 'clockSkewMs'>, clock: Clock): Promise<Date> {
  const skewMs = await objectStore.clockSkewMs();
  return new Date(clock.now().getTime() + skewMs);
}
