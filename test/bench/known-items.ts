import { readFileSync } from 'node:fs';

/** A question, and the page that answers it. `exclude`: pages that do not count, because the question is made of their words. */
export type KnownItem = {
  site: string;
  query: string;
  target: string;
  exclude: string[];
  kind: 'link-text' | 'title' | 'description';
};

/** The questions of `known-items.jsonl`. */
export const readKnownItems = (file: string): KnownItem[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as KnownItem]));

/** Adds up how well questions find their pages, by kind. */
export function recallTable() {
  const sums = new Map<string, { count: number; at1: number; at5: number; reciprocal: number; milliseconds: number }>();
  return {
    /** `rank`: the place of the right page, from 1 on; 0 where it was not found. */
    add(kind: string, rank: number, milliseconds: number): void {
      const sum = sums.get(kind) ?? { count: 0, at1: 0, at5: 0, reciprocal: 0, milliseconds: 0 };
      sums.set(kind, {
        count: sum.count + 1,
        at1: sum.at1 + (rank === 1 ? 1 : 0),
        at5: sum.at5 + (rank >= 1 && rank <= 5 ? 1 : 0),
        reciprocal: sum.reciprocal + (rank === 0 ? 0 : 1 / rank),
        milliseconds: sum.milliseconds + milliseconds,
      });
    },
    print(): void {
      for (const [kind, sum] of sums) {
        const share = (value: number): string => (value / sum.count).toFixed(3);
        console.log(
          `  ${kind.padEnd(12)} ${String(sum.count).padStart(4)} questions  recall@1 ${share(sum.at1)}  recall@5 ${share(sum.at5)}  MRR ${share(sum.reciprocal)}  ${share(sum.milliseconds)} ms each`,
        );
      }
    },
  };
}
