import type { ThreadCommit } from '#shared/aggregates/thread/thread.ts';
import {
  conversationsKeptDays,
  type InsightAnswer,
  type InsightBlock,
  insightBlockKey,
  insightOwner,
} from '#shared/contracts/insights.ts';
import { dateInKey, usageKey } from '#shared/interfaces/read-models.ts';
import type { ReadModels } from '#shared/messaging/read-models.ts';
import { firstKeptDay } from '#shared/messaging/subjects/subject-table.ts';
import { removeUsageBefore } from './access-projection.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { dayList, removeDaysBefore, type WrittenDay } from './day-list.ts';
import {
  insightAnswerKind,
  insightAnswers,
  insightBlock,
  insightFigures,
  partsOfBlock,
  usageOfBlocks,
} from './insight-answers.ts';
import type { ProjectionSource, Store } from './projection.ts';

/**
 * Questions of readers, with their answers, ratings and costs. Single commits of a thread may be gone from the log, by age or because the thread was
 * erased, so each is folded independently, in any order: its data about an answer is merged with the known data. A day's figures are always recounted
 * from its answers, in blocks. When a thread is erased, so are its texts; its answers still count as usage.
 */
export const conversationProjection: ProjectionSource<ThreadCommit> = {
  name: 'conversations',
  shape: 2,
  isUnordered: true,
  openReader: (bus, generation) => bus.projectionReaders.conversations(generation),
  into: ({
    insightAnswers: parts,
    insightAnswerDays: days,
    insightBlocks: blocks,
    insightFigures: figures,
    usageConversations: usage,
  }) => {
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
          // These documents are read before the answers: another process that writes answers meanwhile writes these documents afterwards, and one of both
          // writes is refused.
          const [before, used] = await Promise.all([figures.get(figuresKey), usage.get(usageOfMonth)]);
          return async (written) => {
            const counted = await countedBlocks(blocks, owner, day, written);
            const figuresOfDay = insightFigures(counted);
            const { answered, unanswered, unfinished, up, down } = figuresOfDay;
            const ofMonth = {
              days: { ...used?.document.days, [day.slice(8)]: usageOfBlocks(counted) },
              outcomes: {
                ...used?.document.outcomes,
                [day.slice(8)]: { answered, unanswered, unfinished, up, down },
              },
            };
            await usage.put(usageOfMonth, ofMonth, { expectedRevision: used?.revision ?? 0 });
            await figures.put(figuresKey, figuresOfDay, { expectedRevision: before?.revision ?? 0 });
          };
        }, partsOfBlock),
    };
  },
  expire: async (generations, { now }) => {
    for (const models of generations) await expireConversations(models, now);
  },
};

const blocksAtOnce = 32;

/** All blocks of a day, after some of its answers were written. Blocks before the first possible change are read instead of counted. */
async function countedBlocks(
  blocks: Store<InsightBlock>,
  owner: string,
  day: string,
  { first, parts, earlier }: WrittenDay<InsightAnswer>,
): Promise<InsightBlock[]> {
  const count = async (block: number, answers: readonly InsightAnswer[], isLast: boolean): Promise<InsightBlock> => {
    const counted = insightBlock(answers);
    // The last block changes with each answer and is counted from its few answers, so it is not stored.
    if (isLast) return counted;
    const key = insightBlockKey(owner, day, block);
    const stored = await blocks.get(key);
    await blocks.put(key, counted, { expectedRevision: stored?.revision ?? 0 });
    return counted;
  };
  const firstBlock = first / partsOfBlock;
  const before = await inParallel(Array.from({ length: firstBlock }), blocksAtOnce, async (_, block) => {
    const stored = await blocks.get(insightBlockKey(owner, day, block));
    if (stored !== undefined) return stored.document;
    // The block was the last one until now, or an older version wrote the day.
    const partsOfIt = Array.from({ length: partsOfBlock }, (_part, index) => earlier(block * partsOfBlock + index));
    return count(block, (await Promise.all(partsOfIt)).flat(), false);
  });
  const after: InsightBlock[] = [];
  for (let start = 0; start < parts.length; start += partsOfBlock) {
    const answers = parts.slice(start, start + partsOfBlock).flat();
    after.push(await count(firstBlock + after.length, answers, start + partsOfBlock >= parts.length));
  }
  return [...before, ...after];
}

/** Removes the documents of whole days whose conversations begin to expire in the log. */
async function expireConversations(models: ReadModels, now: Date): Promise<void> {
  const firstDay = firstKeptDay(now, conversationsKeptDays);
  await removeDaysBefore({ days: models.insightAnswerDays, parts: models.insightAnswers }, firstDay);
  for (const store of [models.insightBlocks, models.insightFigures]) {
    for (const key of await store.keys()) if (dateInKey(key) < firstDay) await store.remove(key);
  }
  await removeUsageBefore(models.usageConversations, firstDay);
}
