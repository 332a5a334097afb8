import type { Bus } from '#shared/bus/bus.ts';
import { systemClock } from '#shared/clock/clock.ts';
import { loadConfig } from '#shared/config/load-config.ts';
import { objectStoreFromConfig } from '#shared/object-store/object-store-from-config.ts';
import { openObjectStore } from '#shared/object-store/open-object-store.ts';
import { createLogger } from '#shared/telemetry/logger.ts';
import { retentionSettings } from './config.ts';
import type { ContentId } from './context.ts';
import { endContents } from './end-contents.ts';
import { jobSourcesOf } from './job-sources.ts';
import { sweepObjects } from './sweep-objects.ts';
import type { SweptObjects } from './swept-objects.ts';

const dayMs = 86_400_000;

/** What a round would remove now and which content versions it would end; nothing happens. Settings come from the environment. */
export async function previewSweep(
  bus: Bus,
  environment: Record<string, string | undefined>,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ objects: Map<string, SweptObjects>; contents: ContentId[] }> {
  const config = loadConfig(retentionSettings, environment);
  const objectStore = await openObjectStore(objectStoreFromConfig(config));
  const logger = createLogger('housekeeper', 'preview');
  logger.level = 'error';
  const parts = {
    bus,
    objectStore,
    clock: systemClock,
    logger,
    jobSources: jobSourcesOf(bus, objectStore),
    keepObjectsMs: config.keepObjectsDays * dayMs,
    endContent: async () => {},
    dryRun: true,
  };
  try {
    return { objects: await sweepObjects(parts, signal), contents: await endContents(parts, signal) };
  } finally {
    await objectStore.close();
  }
}
