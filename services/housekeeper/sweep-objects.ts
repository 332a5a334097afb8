import { BusUnavailable } from '#shared/bus/bus-unavailable.ts';
import { ObjectStoreUnavailable } from '#shared/object-store/object-store-unavailable.ts';
import type { HousekeeperContext } from './context.ts';
import { organizationsOf } from './organizations-of.ts';
import { storeTime } from './store-time.ts';
import { type SweepLimits, sweepOrganization } from './sweep-organization.ts';
import type { SweptObjects } from './swept-objects.ts';

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
