import type { HousekeeperContext } from '#services/housekeeper/context.ts';
import { keptJobsIn } from '#services/housekeeper/kept-jobs.ts';
import { dayMs, systemClock } from '#shared/runtime/time-and-ids.ts';
import { testLogger } from './test-logger.ts';

/** Context of chores. By default objects are kept for 90 days, and the publisher does nothing. */
export function housekeeperContext(
  parts: Pick<HousekeeperContext, 'bus' | 'objectStore'> & Partial<HousekeeperContext>,
): HousekeeperContext {
  return {
    clock: systemClock,
    logger: testLogger,
    keptJobs: keptJobsIn(parts.bus, parts.objectStore),
    endContent: async () => {},
    keepObjectsMs: 90 * dayMs,
    dryRun: false,
    ...parts,
  };
}
