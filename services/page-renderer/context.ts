import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import type { FactLog } from '#shared/messaging/event-log.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { PlannedSites, ProjectTexts } from './planned-sites.ts';
import type { RetryPolicy } from '#shared/runtime/retry.ts';

/** What a renderer works with. */
export type RendererContext = {
  objectStore: ObjectStore;
  facts: FactLog;
  /** Children that render. */
  pool: ChildPool;
  /** Opens a pool of one new child. */
  freshPool: () => ChildPool;
  sites: PlannedSites;
  texts: ProjectTexts;
  clock: Clock;
  logger: Logger;
  random: (length: number) => string;
  instance: string;
  pageDeadlineMs: number;
  /** How long the bus or the object store may be away before an attempt fails. */
  retry: RetryPolicy;
};
