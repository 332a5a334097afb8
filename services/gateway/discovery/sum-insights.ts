import type { Insights } from '#shared/interfaces/http/insights.ts';
import type { InsightFigures, InsightGap, InsightPage, RatedAnswer } from '#shared/contracts/insights.ts';

/** The summed figures of several days, with at most `limit` entries in each list. Days are oldest first. Pure. */
export function sumInsights(
  days: readonly { day: string; figures: InsightFigures }[],
  limit: number,
): Omit<Insights, 'domain' | 'from' | 'to'> {
  const sums = { questions: 0, answered: 0, unanswered: 0, unfinished: 0, up: 0, down: 0 };
  const gaps = new Map<string, InsightGap>();
  const pages = new Map<string, InsightPage>();
  const ratedDown: RatedAnswer[] = [];
  for (const { figures } of days) {
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += figures[name];
    for (const gap of figures.gaps) {
      const before = gaps.get(gap.key)?.count ?? 0;
      gaps.set(gap.key, { ...gap, count: before + gap.count });
    }
    for (const page of figures.pages) {
      const { answers, up, down } = pages.get(page.path) ?? { answers: 0, up: 0, down: 0 };
      pages.set(page.path, { ...page, answers: answers + page.answers, up: up + page.up, down: down + page.down });
    }
    ratedDown.push(...figures.ratedDown);
  }
  const { questions: total, answered, unanswered, unfinished, up, down } = sums;
  return {
    questions: { total, answered, unanswered, unfinished },
    ratings: { up, down },
    unanswered: [...gaps.values()]
      .sort((a, b) => b.count - a.count || (a.lastAskedAt < b.lastAskedAt ? 1 : -1))
      .slice(0, limit)
      .map(({ key: _, ...gap }) => gap),
    pages: [...pages.values()].sort((a, b) => b.answers - a.answers || (a.path < b.path ? -1 : 1)).slice(0, limit),
    ratedDown: ratedDown.sort((a, b) => (a.answeredAt < b.answeredAt ? 1 : -1)).slice(0, limit),
    days: days
      .filter(({ figures }) => figures.questions > 0)
      .map(({ day, figures: { questions, unanswered } }) => ({ day, questions, unanswered })),
  };
}
