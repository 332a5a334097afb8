import { loadConfig } from '#shared/runtime/config.ts';
import { createLogger } from '#shared/runtime/telemetry.ts';
import { dayMs, systemClock } from '#shared/runtime/time-and-ids.ts';
import { openObjectStore } from '#shared/storage/open-object-store.ts';
import { retentionSettings } from './config.ts';
import type { HousekeeperContext } from './context.ts';
import type { ContentId } from '#shared/contracts/identifiers.ts';
import { endContents } from './end-contents.ts';
import { keptJobsIn } from './kept-jobs.ts';
import { sweepObjects, type SweptObjects } from './sweep-objects.ts';

/** The objects that a round would remove, and the content versions that it would end. `notJudged`: organizations that keep everything. */
export type SweepPreview = { objects: Map<string, SweptObjects>; contents: ContentId[]; notJudged: string[] };

/**
 * A dry run of a round. `notJudged`: organizations whose logs or archived histories cannot be read; a round removes nothing of theirs. Settings come
 * from the environment.
 */
export async function previewSweep(
  bus: HousekeeperContext['bus'],
  environment: Record<string, string | undefined>,
  signal: AbortSignal = new AbortController().signal,
): Promise<SweepPreview> {
  const config = loadConfig(retentionSettings, environment);
  const objectStore = await openObjectStore(config);
  const keepObjectsMs = config.keepObjectsDays * dayMs;
  try {
    return await dryRound({ bus, objectStore, keepObjectsMs, clock: systemClock }, signal);
  } finally {
    await objectStore.close();
  }
}

/** A dry run with the parts of a running housekeeper. It changes nothing, whatever its parts may do. */
export async function dryRound(
  {
    bus,
    objectStore,
    keepObjectsMs,
    clock,
  }: Pick<HousekeeperContext, 'bus' | 'objectStore' | 'keepObjectsMs' | 'clock'>,
  signal: AbortSignal,
): Promise<SweepPreview> {
  const logger = createLogger('housekeeper', 'preview');
  logger.level = 'silent';
  const context: HousekeeperContext = {
    ...{ bus, objectStore, keepObjectsMs, clock, logger },
    keptJobs: keptJobsIn(bus, objectStore),
    endContent: async () => {},
    dryRun: true,
  };
  const notJudged = new Set<string>();
  const objects = await sweepObjects(context, signal, notJudged);
  const contents = await endContents(context, signal, notJudged);
  return { objects, contents, notJudged: [...notJudged].toSorted() };
}
