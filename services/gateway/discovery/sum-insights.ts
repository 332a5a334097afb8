import type { Insights } from '#shared/interfaces/http/insights.ts';
import { type InsightFigures, sumFigures } from '#shared/contracts/insights.ts';

/** The summed figures of several days, with at most `limit` entries in each list. Days are oldest first. Pure. */
export function sumInsights(
  days: readonly { day: string; figures: InsightFigures }[],
  limit: number,
): Omit<Insights, 'domain' | 'from' | 'to' | 'agents'> {
  const {
    questions: total,
    answered,
    unanswered,
    unfinished,
    up,
    down,
    ...lists
  } = sumFigures(days.map(({ figures }) => figures));
  return {
    questions: { total, answered, unanswered, unfinished },
    ratings: { up, down },
    unanswered: lists.gaps
      .toSorted((a, b) => b.count - a.count || (a.lastAskedAt < b.lastAskedAt ? 1 : -1))
      .slice(0, limit)
      .map(({ key: _, ...gap }) => gap),
    pages: lists.pages.toSorted((a, b) => b.answers - a.answers || (a.path < b.path ? -1 : 1)).slice(0, limit),
    ratedDown: lists.ratedDown.toSorted((a, b) => (a.answeredAt < b.answeredAt ? 1 : -1)).slice(0, limit),
    days: days
      .filter(({ figures }) => figures.questions > 0)
      .map(({ day, figures: { questions, unanswered } }) => ({ day, questions, unanswered })),
  };
}
