import type { BusOf } from '#shared/messaging/bus.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { ExportMeasures } from './measure-exports.ts';
import type { PlanMaker } from './plan-maker.ts';
import type { WorkerPool } from './worker-pool.ts';

/** Dependencies of the orchestrator, as leader or spare. */
export type OrchestratorContext = {
  bus: BusOf<'orchestrator'>;
  objectStore: ObjectStore;
  clock: Clock;
  logger: Logger;
  /** `length` random base62 digits. */
  random: (length: number) => string;
  /** Names this process: holder of the lease, source of its commits. */
  instance: string;
  /** The renderer version of our own code. */
  rendererVersion: string;
  renderers: WorkerPool;
  bundlers: WorkerPool;
  measures: ExportMeasures;
  plans: PlanMaker;
  taskLostAfterMs: number;
  /** Time without a renderer of a version, while others are live, after which its jobs are planned again. */
  rendererGoneAfterMs: number;
  /** Time in which workers cannot reach the objects of a job, after which the job fails. */
  refusedForMs: number;
  exportDeadlineMs: number;
};
