import type { ThreadCommit, ThreadEvent } from '#shared/aggregates/thread/thread.ts';
import type { SomeUsageFigures } from '#shared/contracts/audit-entry.ts';
import {
  type InsightAnswer,
  type InsightBlock,
  type InsightFigures,
  type InsightGap,
  insightOrder,
  type InsightPage,
  sumFigures,
} from '#shared/contracts/insights.ts';
import { analyzeQuery } from '#shared/search/ranking/analyze-text.ts';
import type { DayListKind } from './day-list.ts';

/** Limits of the texts of an answer. They take 12 kilobytes at most, so a part of the list stays well under the megabyte that a document may have. */
const longest = { question: 300, comment: 500, path: 200, title: 100 };
const mostPages = 10;
const answersPerPart = 50;

/** The answers, ratings and erasures in a commit. It depends on the commit alone. Pure. */
export function insightAnswers(commit: ThreadCommit): InsightAnswer[] {
  return commit.data.events.flatMap((event) => answersIn(event, commit));
}

function answersIn({ type, data }: ThreadEvent, { time, revision }: ThreadCommit): InsightAnswer[] {
  switch (type) {
    case 'QuestionAnswered': {
      const { messageId, threadId, aborted, unanswered, tokens = 0 } = data;
      const status = aborted ? 'unfinished' : unanswered ? 'unanswered' : 'answered';
      const question = cut(data.question.replaceAll(/\s+/g, ' ').trim(), longest.question);
      const said = { threadId, question, status, pages: pagesOf(data.sources) } as const;
      return [{ messageId, answeredAt: time, tokens, said }];
    }
    case 'AnswerRated': {
      const { messageId, answeredAt, rating, comment } = data;
      // The day of a rating is unknown if the rating does not say when the answer was recorded.
      if (answeredAt === undefined) return [];
      const said = comment === undefined ? {} : { comment: cut(comment, longest.comment) };
      return [{ messageId, answeredAt, tokens: 0, rated: { rating, ...said, revision } }];
    }
    case 'ThreadErased':
      return data.answers.map((answer) => ({ ...answer, erased: true as const }));
    case 'ThreadStarted':
    case 'QuestionAsked':
      return [];
  }
}

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;

/** The pages of an answer's sources, each once, however many of its sections are among them. */
function pagesOf(sources: readonly { path: string; title: string }[]): NamedPage[] {
  const pages = new Map<string, NamedPage>();
  for (const source of sources) {
    const path = source.path.replace(/#.*$/, '');
    const title = cut(source.title.split(' › ')[0] ?? '', longest.title);
    if (path.length <= longest.path && !pages.has(path)) pages.set(path, { path, title });
  }
  return [...pages.values()].slice(0, mostPages);
}

type NamedPage = Pick<InsightPage, 'path' | 'title'>;

/** Commits of a thread come in any order, and more than once; the result for an answer is always the same. */
export const insightAnswerKind: DayListKind<InsightAnswer> = {
  orderOf: insightOrder,
  size: answersPerPart,
  newer: (known, coming) => {
    const merged = mergedAnswer(known, coming);
    return JSON.stringify(merged) === JSON.stringify(known) ? known : merged;
  },
};

/** Merges the data of two commits about one answer. An erasure takes precedence over everything, and a later rating over an earlier one. Pure. */
function mergedAnswer(known: InsightAnswer, coming: InsightAnswer): InsightAnswer {
  const { messageId, answeredAt } = known;
  const tokens = Math.max(known.tokens, coming.tokens);
  if (known.erased || coming.erased) return { messageId, answeredAt, tokens, erased: true };
  const said = known.said ?? coming.said;
  const isLater = (coming.rated?.revision ?? 0) > (known.rated?.revision ?? 0);
  const rated = isLater ? coming.rated : known.rated;
  return {
    ...{ messageId, answeredAt, tokens },
    ...(said === undefined ? {} : { said }),
    ...(rated === undefined ? {} : { rated }),
  };
}

/** Parts of a list that are counted together. */
export const partsOfBlock = 10;

/** Limits of lists, which keep the most frequent or newest entries, so that a document stays under a megabyte. Blocks keep more, because they are summed. */
const most = { day: { gaps: 200, pages: 400, ratedDown: 100 }, block: { gaps: 300, pages: 500, ratedDown: 100 } };

/** The figures of a block of a day's answers, for one domain. Pure: every answer must be there once, in any order. */
export function insightBlock(answers: readonly InsightAnswer[]): InsightBlock {
  const used = answers.filter(({ said, erased }) => said !== undefined || erased === true);
  return {
    figures: cutFigures(figuresOf(answers), most.block),
    questions: used.length,
    tokens: used.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

/** The sum of the blocks of a day, oldest first. Pure. */
export const insightFigures = (blocks: readonly InsightBlock[]): InsightFigures =>
  cutFigures(sumFigures(blocks.map(({ figures }) => figures)), most.day);

/** The usage of a day's answers, including those of erased threads. Pure. */
export function usageOfBlocks(blocks: readonly InsightBlock[]): SomeUsageFigures {
  const questions = blocks.reduce((sum, block) => sum + block.questions, 0);
  const tokens = blocks.reduce((sum, block) => sum + block.tokens, 0);
  return { ...(questions === 0 ? {} : { questions }), ...(tokens === 0 ? {} : { tokens }) };
}

function figuresOf(answers: readonly InsightAnswer[]): InsightFigures {
  const figures = { questions: 0, answered: 0, unanswered: 0, unfinished: 0, up: 0, down: 0 };
  const gaps = new Map<string, InsightGap>();
  const pages = new Map<string, InsightPage>();
  const ratedDown: InsightFigures['ratedDown'] = [];
  for (const { messageId, answeredAt, said, rated } of answers.toSorted(inOrder)) {
    if (said === undefined) continue;
    const { threadId, question, status } = said;
    figures.questions += 1;
    figures[status] += 1;
    if (rated !== undefined) figures[rated.rating] += 1;
    if (rated?.rating === 'down') {
      const comment = rated.comment === undefined ? {} : { comment: rated.comment };
      ratedDown.unshift({ question, ...comment, threadId, messageId, answeredAt });
    }
    if (status === 'unanswered') {
      const key = gapKey(question);
      const count = (gaps.get(key)?.count ?? 0) + 1;
      gaps.set(key, { key, question, threadId, lastAskedAt: answeredAt, count });
    }
    if (status !== 'answered') continue;
    for (const { path, title } of said.pages) {
      const { answers: before, up, down } = pages.get(path) ?? { answers: 0, up: 0, down: 0 };
      const isUp = rated?.rating === 'up' ? 1 : 0;
      const isDown = rated?.rating === 'down' ? 1 : 0;
      pages.set(path, { path, title, answers: before + 1, up: up + isUp, down: down + isDown });
    }
  }
  return { ...figures, gaps: [...gaps.values()], pages: [...pages.values()], ratedDown };
}

/** Among equally frequent gaps the newest stay: otherwise each block would drop others by their words alone. */
function cutFigures({ gaps, pages, ratedDown, ...figures }: InsightFigures, lists: typeof most.day): InsightFigures {
  const age = ({ lastAskedAt, key }: InsightGap) => `${lastAskedAt} ${key}`;
  return {
    ...figures,
    gaps: gaps.toSorted((a, b) => b.count - a.count || (age(a) < age(b) ? 1 : -1)).slice(0, lists.gaps),
    pages: pages.toSorted((a, b) => b.answers - a.answers || (a.path < b.path ? -1 : 1)).slice(0, lists.pages),
    ratedDown: ratedDown.slice(0, lists.ratedDown),
  };
}

const inOrder = (a: InsightAnswer, b: InsightAnswer): number => (insightOrder(a) < insightOrder(b) ? -1 : 1);

/** The search terms of a question, sorted: "Can I pay by invoice?" and "Paying by invoices" are the same gap. */
const gapKey = (question: string): string =>
  analyzeQuery(question).toSorted().join(' ') || question.toLowerCase().slice(0, longest.question);
