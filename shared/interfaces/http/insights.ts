import { z } from 'zod';
import { domainName, domainSlug } from '#shared/contracts/identifiers.ts';
import { conversationsKeptDays } from '#shared/contracts/insights.ts';

/** Query of `GET /v1/assistant/{domain}/insights`. */
export const insightsQuerySchema = z.strictObject({
  /** Number of days up to today (UTC); 30 by default. The maximum is the retention of conversations. */
  days: z.coerce.number().int().min(1).max(conversationsKeptDays).optional(),
  /** Limit of entries in each list; 20 by default. */
  limit: z.coerce.number().int().min(1).max(100).optional(),
});

const count = z.int().min(0);

/** Answer of `GET /v1/assistant/{domain}/insights`. */
export const insightsSchema = z
  .object({
    domain: domainSlug,
    from: z.iso.date(),
    to: z.iso.date(),
    /** `unanswered`: the documentation had no answer; `unfinished`: the answer was interrupted. */
    questions: z.object({ total: count, answered: count, unanswered: count, unfinished: count }),
    ratings: z.object({ up: count, down: count }),
    /** Questions without an answer, grouped by their words, the most frequent first. */
    unanswered: z.array(z.object({ question: z.string(), count, lastAskedAt: z.iso.datetime(), threadId: z.string() })),
    /** Pages that answers cite, those with the most answers first. `up` and `down`: ratings of those answers. */
    pages: z.array(z.object({ path: z.string(), title: z.string(), answers: count, up: count, down: count })),
    /** Answers with a negative rating, the newest first. */
    ratedDown: z.array(
      z.object({
        question: z.string(),
        comment: z.string().optional(),
        threadId: z.string(),
        messageId: z.string(),
        answeredAt: z.iso.datetime(),
      }),
    ),
    /** Calls of agents over the Model Context Protocol, with the words of their searches. Gateways of earlier versions do not send them. */
    agents: z
      .object({
        calls: count,
        /** Tools with the most calls first. */
        tools: z.array(z.object({ tool: z.string(), calls: count })),
        searches: count,
        /** Searches that found nothing. */
        empty: count,
        /** Searched words, the most frequent first. Words that may name a person are replaced by `…`. */
        queries: z.array(z.object({ query: z.string(), searches: count, empty: count })),
        /** Remarks of agents about pages, the newest first. */
        remarks: z.array(
          z.object({
            day: z.iso.date(),
            message: z.string(),
            path: z.string().optional(),
            rating: z.enum(['up', 'down']).optional(),
          }),
        ),
      })
      .optional(),
    /** Days with questions, oldest first. */
    days: z.array(z.object({ day: z.iso.date(), questions: count, unanswered: count })),
  })
  .meta({ title: 'Insights' });

export type Insights = z.infer<typeof insightsSchema>;

/** Query of `GET /v1/questions`. */
export const questionsQuerySchema = z.strictObject({
  /** Number of days up to today (UTC); 30 by default. */
  days: insightsQuerySchema.shape.days,
  /** One domain; by default all. */
  domain: domainName.optional(),
});

const outcomes = z.object({ total: count, answered: count, unanswered: count, unfinished: count });
const ratings = z.object({ up: count, down: count });

/** Answer of `GET /v1/questions`. Erased conversations do not count. */
export const questionsSchema = z
  .object({
    from: z.iso.date(),
    to: z.iso.date(),
    questions: outcomes,
    ratings,
    /** Domains with questions, those with the most first. */
    domains: z.array(z.object({ domain: domainSlug, questions: outcomes, ratings })),
    /** Days with questions, oldest first. */
    days: z.array(z.object({ day: z.iso.date(), questions: count, answered: count, unanswered: count })),
  })
  .meta({ title: 'Questions' });

export type Questions = z.infer<typeof questionsSchema>;
