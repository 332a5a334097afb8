import type { BundleTask, RenderTask } from '#shared/contracts/export-tasks.ts';

/**
 * Work that exactly one worker should take. The queue may be thrown away and refilled from the log: tasks carry no truth.
 * A submit with the `taskId` of a task submitted within the last two minutes is stored once.
 */
export type TaskQueue = {
  submitRender(task: RenderTask): Promise<void>;
  submitBundle(task: BundleTask): Promise<void>;
};
