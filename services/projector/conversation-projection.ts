import type { ThreadCommit } from '#shared/aggregates/thread/thread.ts';
import type { SomeUsageFigures } from '#shared/contracts/audit-entry.ts';
import { conversationsKeptDays, type InsightAnswer, insightOwner } from '#shared/contracts/insights.ts';
import { dateInKey, usageKey } from '#shared/contracts/read-models.ts';
import type { ReadModels } from '#shared/messaging/read-models.ts';
import { firstKeptDay } from '#shared/messaging/subjects/subject-table.ts';
import { removeUsageBefore } from './access-projection.ts';
import { dayList, removeDaysBefore } from './day-list.ts';
import { insightAnswerKind, insightAnswers, insightFigures } from './insight-answers.ts';
import type { ProjectionSource } from './projection.ts';

/**
 * What readers asked, what became of it, and what it cost. Single commits of a thread may be gone from the log, by age or because the thread was
 * erased, so each is folded on its own, in any order: what it says of an answer is merged with what is known. A day's figures are always counted
 * again from all of its answers. When a thread is erased, so is what was said in it; that there were answers still counts as used.
 */
export const conversationProjection: ProjectionSource<ThreadCommit> = {
  name: 'conversations',
  shape: 1,
  isUnordered: true,
  openReader: (bus, generation) => bus.projectionReaders.conversations(generation),
  into: ({ insightAnswers: parts, insightAnswerDays: days, insightFigures: figures, usageConversations: usage }) => {
    const answers = dayList({ days, parts }, insightAnswerKind);
    return {
      fold: async (commit) => {
        const { organization, domain } = commit.data.state;
        for (const answer of insightAnswers(commit)) answers.add(insightOwner(organization, domain), answer);
      },
      finish: () =>
        answers.write(async (owner, day) => {
          const figuresKey = `${owner}.${day}`;
          const usageOfMonth = usageKey(owner, day.slice(0, 7));
          // Before the answers: another process that writes answers meanwhile writes these afterwards, and one of both is refused.
          const [before, used] = await Promise.all([figures.get(figuresKey), usage.get(usageOfMonth)]);
          return async (all) => {
            const usedDays = { ...used?.document.days, [day.slice(8)]: usageOfAnswers(all) };
            await usage.put(usageOfMonth, { days: usedDays }, { expectedRevision: used?.revision ?? 0 });
            await figures.put(figuresKey, insightFigures(all), { expectedRevision: before?.revision ?? 0 });
          };
        }),
    };
  },
  expire: async (generations, { now }) => {
    for (const models of generations) await expireConversations(models, now);
  },
};

/** What a day's answers count for, those of erased threads included. Pure. */
export function usageOfAnswers(answers: readonly InsightAnswer[]): SomeUsageFigures {
  const known = answers.filter(({ said, erased }) => said !== undefined || erased === true);
  const tokens = known.reduce((sum, answer) => sum + answer.tokens, 0);
  return { ...(known.length === 0 ? {} : { questions: known.length }), ...(tokens === 0 ? {} : { tokens }) };
}

/** Removes what was made of conversations that the log begins to remove today, whole days at a time. */
async function expireConversations(models: ReadModels, now: Date): Promise<void> {
  const firstDay = firstKeptDay(now, conversationsKeptDays);
  await removeDaysBefore({ days: models.insightAnswerDays, parts: models.insightAnswers }, firstDay);
  for (const key of await models.insightFigures.keys()) {
    if (dateInKey(key) < firstDay) await models.insightFigures.remove(key);
  }
  await removeUsageBefore(models.usageConversations, firstDay);
}
