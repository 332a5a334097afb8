import { z } from 'zod';
import { timestamp } from './identifiers.ts';

/** How long conversations are kept, and all that is made of them. */
export const conversationsKeptDays = 90;

const rating = z.enum(['up', 'down']);
const count = z.int().min(0);

/** One question and what became of it. Texts are cut, so that a part of a list stays small. */
const insightAnswerSchema = z.object({
  messageId: z.string(),
  answeredAt: timestamp,
  /** What the language model read and wrote. */
  tokens: count,
  /** Absent: the answer itself is not known, or its thread was erased. */
  said: z
    .object({
      threadId: z.string(),
      question: z.string(),
      status: z.enum(['answered', 'unanswered', 'unfinished']),
      /** The pages that it rests on, each once. */
      pages: z.array(z.object({ path: z.string(), title: z.string() })),
    })
    .optional(),
  /** The last one. `revision`: of the thread, when it was given. */
  rated: z.object({ rating, comment: z.string().optional(), revision: z.int().min(1) }).optional(),
  /** Its thread was erased: nothing of what was said may come back. */
  erased: z.literal(true).optional(),
});
export type InsightAnswer = z.infer<typeof insightAnswerSchema>;

/** Bucket `insights`, key `answers.<org>/<domain>.<yyyy-mm-dd>.<part>`: the answers of a day; key `days.<org>/<domain>`: which parts there are. */
export const insightAnswersDocumentSchema = z.object({ entries: z.array(insightAnswerSchema) });

/** A text that sorts answers by time. Pure. */
export const insightOrder = ({ answeredAt, messageId }: Pick<InsightAnswer, 'answeredAt' | 'messageId'>): string =>
  `${answeredAt} ${messageId}`;

/** Questions that the documentation does not answer and that have the same words. */
const insightGapSchema = z.object({
  /** The words, as search sees them. */
  key: z.string(),
  /** The newest of the questions, and the thread where it was asked. */
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
export type RatedAnswer = z.infer<typeof ratedAnswerSchema>;

/**
 * Bucket `insights`, key `figures.<org>/<domain>.<yyyy-mm-dd>`: what the answers of a day come to. Of erased threads there is nothing. Lists have
 * the most frequent, or the newest, when there are too many.
 */
export const insightFiguresSchema = z.object({
  questions: count,
  answered: count,
  unanswered: count,
  unfinished: count,
  up: count,
  down: count,
  gaps: z.array(insightGapSchema),
  pages: z.array(insightPageSchema),
  ratedDown: z.array(ratedAnswerSchema),
});
export type InsightFigures = z.infer<typeof insightFiguresSchema>;

/**
 * Bucket `insights`, key `blocks.<org>/<domain>.<yyyy-mm-dd>.<block>`: what the answers of some parts of a list come to. So an answer on a day that
 * has a hundred thousand costs no more than on one that has a few. The last block of a day has no document.
 */
export const insightBlockSchema = z.object({
  figures: insightFiguresSchema,
  /** What is used: also by answers of erased threads. */
  questions: count,
  tokens: count,
});
export type InsightBlock = z.infer<typeof insightBlockSchema>;

/** Whose answers a list has: one domain's. In keys this takes the place of the organization. Pure. */
export const insightOwner = (organization: string, domain: string): string => `${organization}/${domain}`;

/** Pure. */
export const insightBlockKey = (owner: string, day: string, block: number): string => `${owner}.${day}.${block}`;

/** Pure. */
export const insightFiguresKey = (organization: string, domain: string, day: string): string =>
  `${insightOwner(organization, domain)}.${day}`;
