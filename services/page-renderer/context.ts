import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import type { ReportContext } from '#shared/messaging/queue/task-queue.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { PlannedSites, ProjectTexts } from './planned-sites.ts';
import type { DigestStates } from './running-digest.ts';

/** Metrics of a renderer. */
export type RenderMeasures = {
  /** Counts pages by outcome. */
  pages(outcome: 'rendered' | 'reused' | 'failed', count: number): void;
  /** Records the time for a chunk that was not stored yet. */
  chunk(seconds: number): void;
};

/** Dependencies of a renderer. */
export type RendererContext = ReportContext & {
  objectStore: ObjectStore;
  /** Children that render. */
  pool: ChildPool;
  /** Opens a pool of one new child. */
  freshPool: () => ChildPool;
  sites: PlannedSites;
  texts: ProjectTexts;
  /** States of digests of earlier closing segments. */
  digests: DigestStates;
  pageDeadlineMs: number;
  measures: RenderMeasures;
};
