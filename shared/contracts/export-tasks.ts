import { z } from 'zod';
import { domainSlug, jobId, organizationId, rendererVersion, sha256Hex } from './identifiers.ts';
import { storedMessage } from './upcast.ts';

const common = {
  version: z.literal(1),
  /** `<job>.<chunk>.<attempt>`: the same task submitted twice is stored once. */
  taskId: z.string().min(1).max(120),
  organization: organizationId,
  jobId,
  domain: domainSlug,
  planHash: sha256Hex,
  attempt: z.int().min(1),
  /** True for a replay, which does not reuse stored segments, closing segments and bundles, but makes them again. */
  anew: z.literal(true).optional(),
  traceparent: z.string().optional(),
};

/** Hash of the previous plan of this documentation. Its bundle and closing segment probably contain most parts of the new ones. */
const after = sha256Hex.optional();

/** A task to render and store one chunk of the plan, or the closing segment (`tasks.render.<rendererVersion>`). */
export const renderTaskSchema = z.discriminatedUnion('kind', [
  z.object({
    ...common,
    kind: z.literal('chunk'),
    rendererVersion,
    chunk: z.int().min(0),
    /** True if each page is rendered in a new child process, to find the one that kills renderers. */
    pagesAlone: z.boolean(),
  }),
  z.object({
    ...common,
    kind: z.literal('closing'),
    rendererVersion,
    after,
    /** True after a segment of the plan was lost: parts that are kept for closing segments may be made from other bytes, so all sidecars are read. */
    segmentsLost: z.literal(true).optional(),
  }),
]);

export type RenderTask = z.infer<typeof renderTaskSchema>;
export const storedRenderTask = storedMessage(renderTaskSchema, {});

/** A task to join all segments of a plan into the bundle (`tasks.bundle`). */
export const bundleTaskSchema = z.object({ ...common, kind: z.literal('bundle'), after });

export type BundleTask = z.infer<typeof bundleTaskSchema>;
export const storedBundleTask = storedMessage(bundleTaskSchema, {});

/** The report that a worker sends every second (`presence.<service>.<instance>`). A gateway sends it as well, with no slots. */
export const presenceReportSchema = z.object({
  service: z.string(),
  instance: z.string(),
  time: z.iso.datetime({ precision: 3 }),
  /** Version of a renderer. Other workers leave it out. */
  rendererVersion: z.string().optional(),
  slots: z.int().min(0),
  freeSlots: z.int().min(0),
  /** `taskId`s of tasks in flight. */
  tasks: z.array(z.string()),
  /** Time for which this worker has had each of the tasks, in milliseconds, in the same order. Earlier versions leave it out. */
  heldMs: z.array(z.int().min(0)).optional(),
  /** True if the worker is stopping and takes no new task. */
  draining: z.boolean(),
});

export type PresenceReport = z.infer<typeof presenceReportSchema>;

/** Tasks of exports that have ended, which their workers give up (`withdrawn.<service>`). */
export const withdrawalSchema = z.object({ taskIds: z.array(z.string()) });

export type Withdrawal = z.infer<typeof withdrawalSchema>;
