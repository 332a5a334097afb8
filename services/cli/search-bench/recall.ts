import { textTable } from '../terminal.ts';
import type { SearchQuestion } from './questions.ts';

/** Recall and search times of the questions of one kind. */
export type Recall = {
  kind: string;
  questions: number;
  /** Share of the questions whose right page comes first, or among the first five. */
  recallAt1: number;
  recallAt5: number;
  /** Mean of 1 / rank of the right page; 0 if it is not found. */
  meanReciprocalRank: number;
  /** Median and 99th percentile of the search time. */
  p50Ms: number;
  p99Ms: number;
};

/** Collects the recall of questions by kind. */
export function recallTable() {
  const asked = new Map<string, { rank: number; ms: number }[]>();
  const rows = (): Recall[] => [...asked].map(([kind, all]) => recallOf(kind, all));
  return {
    /** `rank`: the place of the right page, counted from 1; 0 if it was not found. */
    add(kind: string, rank: number, ms: number): void {
      asked.set(kind, [...(asked.get(kind) ?? []), { rank, ms }]);
    },
    /** Rows are in the order in which kinds were added. */
    rows,
    whole: (): Recall => recallOf('all', [...asked.values()].flat()),
    text: (): string => recallText(rows()),
  };
}

function recallOf(kind: string, all: readonly { rank: number; ms: number }[]): Recall {
  const share = (value: (rank: number) => number): number =>
    all.reduce((sum, { rank }) => sum + value(rank), 0) / Math.max(1, all.length);
  const sorted = all.map(({ ms }) => ms).sort((a, b) => a - b);
  const within = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0;
  return {
    ...{ kind, questions: all.length },
    recallAt1: share((rank) => (rank === 1 ? 1 : 0)),
    recallAt5: share((rank) => (rank >= 1 && rank <= 5 ? 1 : 0)),
    meanReciprocalRank: share((rank) => (rank === 0 ? 0 : 1 / rank)),
    ...{ p50Ms: within(0.5), p99Ms: within(0.99) },
  };
}

/** A table with a line for each kind. Pure. */
export function recallText(rows: readonly Recall[]): string {
  return textTable(
    ['kind', 'questions', 'recall@1', 'recall@5', 'MRR', 'p50 ms', 'p99 ms'],
    rows.map(({ kind, questions, recallAt1, recallAt5, meanReciprocalRank, p50Ms, p99Ms }) => [
      kind,
      String(questions).padStart('questions'.length),
      recallAt1.toFixed(3).padStart('recall@1'.length),
      recallAt5.toFixed(3).padStart('recall@5'.length),
      meanReciprocalRank.toFixed(3),
      p50Ms.toFixed(1).padStart('p50 ms'.length),
      p99Ms.toFixed(1).padStart('p99 ms'.length),
    ]),
  );
}

/** A question whose right page is not among the first five. */
export type Missed = Pick<SearchQuestion, 'kind' | 'query' | 'pages'> & { found: string[] };

const mostShown = 3;

/** Asks one question after the other. `search` returns the paths of pages, each once, the best first. */
export async function askQuestions(
  questions: readonly SearchQuestion[],
  search: (question: SearchQuestion) => Promise<readonly string[]>,
): Promise<{ table: ReturnType<typeof recallTable>; missed: Missed[] }> {
  const table = recallTable();
  const missed: Missed[] = [];
  for (const question of questions) {
    const started = performance.now();
    const found = await search(question);
    const ms = performance.now() - started;
    const rank = found.findIndex((path) => question.pages.includes(path)) + 1;
    table.add(question.kind, rank, ms);
    const { kind, query, pages } = question;
    if (rank === 0 || rank > 5) missed.push({ kind, query, pages, found: found.slice(0, mostShown) });
  }
  return { table, missed };
}
