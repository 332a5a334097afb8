import type { BusOf } from '#shared/messaging/bus.ts';
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

/**
 * A dry run of a round: the objects that it would remove and the content versions that it would end. `notJudged`: organizations whose logs or
 * archived histories cannot be read; a round removes nothing of theirs. Settings come from the environment.
 */
export async function previewSweep(
  bus: BusOf<'housekeeper'>,
  environment: Record<string, string | undefined>,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ objects: Map<string, SweptObjects>; contents: ContentId[]; notJudged: string[] }> {
  const config = loadConfig(retentionSettings, environment);
  const objectStore = await openObjectStore(config);
  const logger = createLogger('housekeeper', 'preview');
  logger.level = 'silent';
  const context: HousekeeperContext = {
    bus,
    objectStore,
    clock: systemClock,
    logger,
    keptJobs: keptJobsIn(bus, objectStore),
    keepObjectsMs: config.keepObjectsDays * dayMs,
    endContent: async () => {},
    dryRun: true,
  };
  try {
    const notJudged = new Set<string>();
    const objects = await sweepObjects(context, signal, notJudged);
    const contents = await endContents(context, signal, notJudged);
    return { objects, contents, notJudged: [...notJudged].toSorted() };
  } finally {
    await objectStore.close();
  }
}
