import { z } from 'zod';
import { domainSlug } from '../identifiers.ts';
import { conversationsKeptDays } from '../insights.ts';

/** Query of `GET /v1/assistant/{domain}/insights`. */
export const insightsQuerySchema = z.strictObject({
  /** Today and the days before it (UTC); 30 by default. Conversations are kept no longer than the most. */
  days: z.coerce.number().int().min(1).max(conversationsKeptDays).optional(),
  /** The most entries of each list; 20 by default. */
  limit: z.coerce.number().int().min(1).max(100).optional(),
});

const count = z.int().min(0);

/** Answer of `GET /v1/assistant/{domain}/insights`. */
export const insightsSchema = z
  .object({
    domain: domainSlug,
    from: z.iso.date(),
    to: z.iso.date(),
    /** `unanswered`: the documentation had nothing to say; `unfinished`: the answer was cut. */
    questions: z.object({ total: count, answered: count, unanswered: count, unfinished: count }),
    ratings: z.object({ up: count, down: count }),
    /** Questions without an answer, those with the same words together, the most frequent first. */
    unanswered: z.array(z.object({ question: z.string(), count, lastAskedAt: z.iso.datetime(), threadId: z.string() })),
    /** Pages that answers rest on, those with the most answers first; `up` and `down`: how those answers were rated. */
    pages: z.array(z.object({ path: z.string(), title: z.string(), answers: count, up: count, down: count })),
    /** Answers that readers did not like, the newest first. */
    ratedDown: z.array(
      z.object({
        question: z.string(),
        comment: z.string().optional(),
        threadId: z.string(),
        messageId: z.string(),
        answeredAt: z.iso.datetime(),
      }),
    ),
    /** Days with questions, oldest first. */
    days: z.array(z.object({ day: z.iso.date(), questions: count, unanswered: count })),
  })
  .meta({ title: 'Insights' });

export type Insights = z.infer<typeof insightsSchema>;
