import { z } from 'zod';
import { generations } from '#shared/read-model/generation.ts';
import { timestamp } from './identifiers.ts';

/** What is folded from one stream on its own, and so is rebuilt on its own. */
export const projectionNames = ['exports', 'content', 'directory', 'access'] as const;

export type ProjectionName = (typeof projectionNames)[number];

/**
 * Bucket `projections`, key `<projection>`, written by the projector alone: which generation is read. No document means the blue one.
 * The other generation is being rebuilt, or kept for a while after a flip, or empty.
 */
export const projectionPointerSchema = z.object({
  live: z.enum(generations),
  /** asked: whatever the other generation holds is to go. filling: it is empty or being filled. */
  rebuild: z.object({ id: z.string(), startedAt: timestamp, state: z.enum(['asked', 'filling']) }).optional(),
  /** The other generation was read until the last flip, and is written until then. */
  keptUntil: timestamp.optional(),
  lastRebuild: z
    .object({
      id: z.string(),
      startedAt: timestamp,
      finishedAt: timestamp,
      documentCount: z.int().min(0),
      differentCount: z.int().min(0),
      /** The first of the documents that were not the same in the generation that was read before: `<store>/<key>`. */
      different: z.array(z.string()).max(20),
    })
    .optional(),
});

export type ProjectionPointer = z.infer<typeof projectionPointerSchema>;

/** Bucket `rebuilds`, key `<projection>`, written by an operator: the wish for one rebuild. The same id again is the same wish. */
export const rebuildRequestSchema = z.object({ id: z.string().min(1), askedAt: timestamp });

export type RebuildRequest = z.infer<typeof rebuildRequestSchema>;
