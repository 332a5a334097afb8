import type { Clock } from '#shared/clock/clock.ts';
import type { FactLog } from '#shared/event-log/fact-log.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import type { ChildPool } from '#shared/sandbox/child-pool.ts';
import type { Logger } from '#shared/telemetry/logger.ts';
import type { ProjectTexts } from './project-texts.ts';
import type { PlannedSites } from './planned-sites.ts';

/** What a renderer works with. */
export type RendererContext = {
  objectStore: ObjectStore;
  facts: FactLog;
  /** Children that render. */
  pool: ChildPool;
  /** Gives a new pool of one child that nothing was rendered in, with that much memory. */
  freshPool: (memoryLimitMb?: number) => ChildPool;
  sites: PlannedSites;
  texts: ProjectTexts;
  clock: Clock;
  logger: Logger;
  random: (length: number) => string;
  instance: string;
  pageDeadlineMs: number;
  /** How long bus or object store may be away before an attempt fails. */
  giveUpAfterMs: number;
};
