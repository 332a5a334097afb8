import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import type { ReportContext } from '#shared/messaging/task-queue.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { PlannedSites, ProjectTexts } from './planned-sites.ts';

/** What a renderer works with. */
export type RendererContext = ReportContext & {
  objectStore: ObjectStore;
  /** Children that render. */
  pool: ChildPool;
  /** Opens a pool of one new child. */
  freshPool: () => ChildPool;
  sites: PlannedSites;
  texts: ProjectTexts;
  pageDeadlineMs: number;
};
