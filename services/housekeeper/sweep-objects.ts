import { partPrefix, segmentPrefix } from '#shared/contracts/stored-objects.ts';
import { contentLogSubject, directoryLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { Unavailable } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { ObjectEntry } from '#shared/storage/object-store.ts';
import type { HousekeeperContext } from './context.ts';
import { isMarked, markOrganization, type Marks, noMarks, type SweptKind, sweptKinds } from './mark-objects.ts';

/** Number and size of the removed objects by kind; kinds without removals are left out. */
export type SweptObjects = Partial<Record<SweptKind, { objects: number; bytes: number }>>;

/**
 * Collects the garbage of the object store by mark and sweep: removes the objects that no kept job and no content version needs, one organization
 * after the other. An organization that cannot be judged keeps all its objects, and the others are swept; in the end the chore rejects, or their
 * names are in `notJudged`.
 */
export async function sweepObjects(
  context: HousekeeperContext,
  signal: AbortSignal,
  notJudged?: Set<string>,
): Promise<Map<string, SweptObjects>> {
  const { clock, logger, keepObjectsMs, dryRun } = context;
  const before = (time: Date) => new Date(time.getTime() - keepObjectsMs);
  const limits: SweepLimits = { storedBefore: before(await storeTime(context)), endedSince: before(clock.now()) };
  const sweptBy = new Map<string, SweptObjects>();
  const failed: string[] = [];
  for (const organization of await organizationsOf(context)) {
    try {
      const swept = await sweepOrganization(context, organization, limits, signal);
      if (Object.keys(swept).length === 0) continue;
      sweptBy.set(organization, swept);
      logger.info({ organization, ...swept }, `objects that are not needed ${dryRun ? 'would be' : 'were'} removed`);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Unavailable) throw error;
      logger.error(
        { err: error, organization },
        'the needed objects of an organization could not be determined, so all are kept',
      );
      failed.push(organization);
    }
  }
  for (const organization of failed) notJudged?.add(organization);
  if (failed.length > 0 && notJudged === undefined)
    throw new Error(`The objects of these organizations were not swept: ${failed.join(', ')}.`);
  return sweptBy;
}

/** Every organization that may have objects, sorted. It is read from the logs that are never truncated. */
async function organizationsOf({ bus }: HousekeeperContext): Promise<string[]> {
  const subjects = [
    ...(await bus.directory.subjects(directoryLogSubject('*'))),
    ...(await bus.content.subjects(contentLogSubject('*', '*'))),
  ];
  return [...new Set(subjects.map((subject) => subject.split('.')[1] ?? ''))].filter(Boolean).toSorted();
}

type SweepLimits = {
  /** A time of the object store's clock. Objects that were stored since then, also again, stay. */
  storedBefore: Date;
  /** A time of the log's clock. Jobs that ended before it need no objects. */
  endedSince: Date;
};

const batchSize = 2_000;
const callsAtOnce = 8;

/**
 * Sweeps one organization, in the memory of its marks and one batch of keys.
 *
 * Other services work meanwhile, so the order matters. Candidates are listed first. Then everything is marked again, which finds objects that new
 * jobs have started to use. Then the age of each candidate is read once more right before its removal: a service that relies on an existing object
 * stores it again if it is old (`isStoredRecently`), which shows in its age. Segments are an exception: a missing one is rendered again.
 */
async function sweepOrganization(
  context: HousekeeperContext,
  organization: string,
  limits: SweepLimits,
  signal: AbortSignal,
): Promise<SweptObjects> {
  const marks = noMarks();
  const swept: SweptObjects = {};
  await markOrganization(context, organization, limits.endedSince, marks, signal);
  for (const kind of sweptKinds) {
    for await (const candidates of candidatesOf(context, organization, kind, limits, marks, signal)) {
      await markOrganization(context, organization, limits.endedSince, marks, signal);
      const unneeded = candidates.filter(({ key }) => !isMarked(marks, key));
      for (const group of removalOrder(unneeded)) {
        await inParallel(group, callsAtOnce, async (entry) => {
          if (await removeIfOld(context, entry, limits, signal)) countSwept(swept, kind, entry.sizeBytes);
        });
      }
    }
  }
  return swept;
}

/** Old objects that are not marked, in batches. */
async function* candidatesOf(
  { objectStore }: HousekeeperContext,
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

/** A sidecar says that its segment need not be rendered, and the facts of a part that its texts are there, so these are removed first. */
function removalOrder(entries: readonly ObjectEntry[]): ObjectEntry[][] {
  const isSidecar = ({ key }: ObjectEntry) =>
    (key.startsWith(segmentPrefix) || key.startsWith(partPrefix)) && key.endsWith('.json');
  return [entries.filter(isSidecar), entries.filter((entry) => !isSidecar(entry))];
}

async function removeIfOld(
  { objectStore, dryRun }: HousekeeperContext,
  { key }: ObjectEntry,
  { storedBefore }: SweepLimits,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted();
  if (dryRun) return true;
  const head = await objectStore.head(key, { signal });
  if (head === undefined || !isOlder(head.modifiedAt, storedBefore)) return false;
  await objectStore.remove(key, { signal });
  return true;
}

/** An object without a known age counts as young. */
function isOlder(modifiedAt: Date, than: Date): boolean {
  return modifiedAt.getTime() > 0 && modifiedAt < than;
}

function countSwept(swept: SweptObjects, kind: SweptKind, bytes: number): void {
  const before = swept[kind] ?? { objects: 0, bytes: 0 };
  swept[kind] = { objects: before.objects + 1, bytes: before.bytes + bytes };
}

/** Aborts unfinished uploads that began longer ago than `sweepAfterMs`: a store without lifecycle rules would keep their parts forever. */
export async function sweepUploads(context: HousekeeperContext, sweepAfterMs: number): Promise<void> {
  const now = await storeTime(context);
  const swept = await context.objectStore.sweepUnfinishedUploads(new Date(now.getTime() - sweepAfterMs));
  if (swept > 0) context.logger.info({ uploads: swept }, 'unfinished uploads were aborted');
}

/** The time by the object store's clock, which gives the ages of objects and uploads: if our clock is ahead it would make them older. */
async function storeTime({ objectStore, clock }: HousekeeperContext): Promise<Date> {
  const skewMs = await objectStore.clockSkewMs();
  return new Date(clock.now().getTime() + skewMs);
}
