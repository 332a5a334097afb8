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
  traceparent: z.string().optional(),
};

/** One chunk of the plan, or the closing segment, to be rendered and stored (`tasks.render.<rendererVersion>`). */
export const renderTaskSchema = z.discriminatedUnion('kind', [
  z.object({
    ...common,
    kind: z.literal('chunk'),
    rendererVersion,
    chunk: z.int().min(0),
    /** Each page in a fresh child, to find the one that kills renderers. */
    pagesAlone: z.boolean(),
  }),
  z.object({ ...common, kind: z.literal('closing'), rendererVersion }),
]);

export type RenderTask = z.infer<typeof renderTaskSchema>;
export const storedRenderTask = storedMessage(renderTaskSchema, {});

/** All segments of a plan to be joined into the bundle (`tasks.bundle`). */
export const bundleTaskSchema = z.object({ ...common, kind: z.literal('bundle') });

export type BundleTask = z.infer<typeof bundleTaskSchema>;
export const storedBundleTask = storedMessage(bundleTaskSchema, {});

/** What a worker says of itself every second (`presence.<service>.<instance>`). A gateway does as well, with no slots. */
export const presenceReportSchema = z.object({
  service: z.string(),
  instance: z.string(),
  time: z.iso.datetime({ precision: 3 }),
  /** What a renderer renders with; other workers leave it out. */
  rendererVersion: z.string().optional(),
  slots: z.int().min(0),
  freeSlots: z.int().min(0),
  /** `taskId`s in hand. */
  tasks: z.array(z.string()),
  /** It takes no new task: it is going away. */
  draining: z.boolean(),
});

export type PresenceReport = z.infer<typeof presenceReportSchema>;
