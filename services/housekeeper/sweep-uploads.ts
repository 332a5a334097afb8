import type { HousekeeperContext } from './context.ts';
import { storeTime } from './store-time.ts';

type Parts = Pick<HousekeeperContext, 'objectStore' | 'clock' | 'logger' | 'sweepUploadsAfterMs'>;

/** Gives up the uploads that writers began and never finished: stores without lifecycle rules would keep their parts for ever. */
export async function sweepUploads({ objectStore, clock, logger, sweepUploadsAfterMs }: Parts): Promise<void> {
  const now = await storeTime(objectStore, clock);
  const swept = await objectStore.sweepUnfinishedUploads(new Date(now.getTime() - sweepUploadsAfterMs));
  if (swept > 0) logger.info({ uploads: swept }, 'unfinished uploads were given up');
}
