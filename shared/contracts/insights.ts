import { z } from 'zod';
import { timestamp } from './identifiers.ts';

/** Retention of conversations, and of all data derived from them. */
export const conversationsKeptDays = 90;

const rating = z.enum(['up', 'down']);
const count = z.int().min(0);

/** One question and its outcome. Texts are cut, so that a part of a list stays small. */
const insightAnswerSchema = z.object({
  messageId: z.string(),
  answeredAt: timestamp,
  /** Tokens that the language model read and wrote. */
  tokens: count,
  /** Absent if the answer is not known, or if its thread was erased. */
  said: z
    .object({
      threadId: z.string(),
      question: z.string(),
      status: z.enum(['answered', 'unanswered', 'unfinished']),
      /** The pages that the answer cites, each once. */
      pages: z.array(z.object({ path: z.string(), title: z.string() })),
    })
    .optional(),
  /** The last rating. `revision`: the revision of the thread with it. */
  rated: z.object({ rating, comment: z.string().optional(), revision: z.int().min(1) }).optional(),
  /** Present if the thread was erased. Its texts must not be restored. */
  erased: z.literal(true).optional(),
});
export type InsightAnswer = z.infer<typeof insightAnswerSchema>;

/** Bucket `insights`, key `answers.<org>/<domain>.<yyyy-mm-dd>.<part>`: the answers of a day; key `days.<org>/<domain>`: the existing parts. */
export const insightAnswersDocumentSchema = z.object({ entries: z.array(insightAnswerSchema) });

/** A text that sorts answers by time. Pure. */
export const insightOrder = ({ answeredAt, messageId }: Pick<InsightAnswer, 'answeredAt' | 'messageId'>): string =>
  `${answeredAt} ${messageId}`;

/** Unanswered questions with the same words. */
const insightGapSchema = z.object({
  /** The words as search terms. */
  key: z.string(),
  /** The newest of the questions, and its thread. */
  question: z.string(),
  threadId: z.string(),
  lastAskedAt: timestamp,
  count,
});
export type InsightGap = z.infer<typeof insightGapSchema>;

const insightPageSchema = z.object({ path: z.string(), title: z.string(), answers: count, up: count, down: count });
export type InsightPage = z.infer<typeof insightPageSchema>;

const ratedAnswerSchema = z.object({
  question: z.string(),
  comment: z.string().optional(),
  threadId: z.string(),
  messageId: z.string(),
  answeredAt: timestamp,
});

/** Questions of a day by their outcome, and ratings of their answers. */
export const questionOutcomesSchema = z.object({
  answered: count,
  unanswered: count,
  unfinished: count,
  up: count,
  down: count,
});
export type QuestionOutcomes = z.infer<typeof questionOutcomesSchema>;

/**
 * Bucket `insights`, key `figures.<org>/<domain>.<yyyy-mm-dd>`: figures of the answers of a day, without erased threads. Lists keep the
 * most frequent or the newest entries when there are too many.
 */
export const insightFiguresSchema = z.object({
  questions: count,
  ...questionOutcomesSchema.shape,
  gaps: z.array(insightGapSchema),
  pages: z.array(insightPageSchema),
  ratedDown: z.array(ratedAnswerSchema),
});
export type InsightFigures = z.infer<typeof insightFiguresSchema>;

/** The sum of figures, oldest first, without limits of its lists: `ratedDown` is newest first. Pure. */
export function sumFigures(parts: readonly InsightFigures[]): InsightFigures {
  const sums = { questions: 0, answered: 0, unanswered: 0, unfinished: 0, up: 0, down: 0 };
  const gaps = new Map<string, InsightGap>();
  const pages = new Map<string, InsightPage>();
  for (const part of parts) {
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += part[name];
    for (const gap of part.gaps) gaps.set(gap.key, { ...gap, count: (gaps.get(gap.key)?.count ?? 0) + gap.count });
    for (const page of part.pages) {
      const { answers, up, down } = pages.get(page.path) ?? { answers: 0, up: 0, down: 0 };
      pages.set(page.path, { ...page, answers: answers + page.answers, up: up + page.up, down: down + page.down });
    }
  }
  const ratedDown = parts.toReversed().flatMap((part) => part.ratedDown);
  return { ...sums, gaps: [...gaps.values()], pages: [...pages.values()], ratedDown };
}

/**
 * Bucket `insights`, key `blocks.<org>/<domain>.<yyyy-mm-dd>.<block>`: figures of the answers of some parts of a list. They keep the cost
 * of a new answer the same on a day with a hundred thousand answers as on a day with a few. The last block of a day has no document.
 */
export const insightBlockSchema = z.object({
  figures: insightFiguresSchema,
  /** Usage, including answers of erased threads. */
  questions: count,
  tokens: count,
});
export type InsightBlock = z.infer<typeof insightBlockSchema>;

/** The owner of a list of answers: a domain. In keys it takes the place of the organization. Pure. */
export const insightOwner = (organization: string, domain: string): string => `${organization}/${domain}`;

export const insightBlockKey = (owner: string, day: string, block: number): string => `${owner}.${day}.${block}`;

export const insightFiguresKey = (organization: string, domain: string, day: string): string =>
  `${insightOwner(organization, domain)}.${day}`;
