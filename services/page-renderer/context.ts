import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import type { ReportContext } from '#shared/messaging/task-queue.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { PlannedSites, ProjectTexts } from './planned-sites.ts';

/** What a renderer says in `/metrics` of its work. */
export type RenderMeasures = {
  /** Pages with the same outcome. */
  pages(outcome: 'rendered' | 'reused' | 'failed', count: number): void;
  /** The time that a chunk took which was not there yet. */
  chunk(seconds: number): void;
};

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
  measures: RenderMeasures;
};
