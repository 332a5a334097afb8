import { setTimeout as delay } from 'node:timers/promises';

export type Answer = { status: number; ms: number };

export type AnswerWatch = {
  /** Waits for the open requests and returns every answer. `status` 0: the connection broke, or nothing came for a minute. */
  stop(): Promise<Answer[]>;
};

/** One request to the public interface. */
export type Question = { url: string; method?: 'GET' | 'POST'; headers?: Record<string, string>; body?: string };

const giveUpMs = 60_000;

/** Sends the same requests repeatedly, at a steady pace even while earlier answers are missing, and records the time of each. */
export function watchAnswers(asked: string | Question, adminKey: string, everyMs: number): AnswerWatch {
  const { url, headers, ...request }: Question = typeof asked === 'string' ? { url: asked } : asked;
  const stopped = new AbortController();
  const answers: Promise<Answer>[] = [];
  const ask = async (): Promise<Answer> => {
    const startedAt = performance.now();
    const status = await fetch(url, {
      ...request,
      headers: { ...headers, authorization: `Bearer ${adminKey}` },
      signal: AbortSignal.timeout(giveUpMs),
    })
      .then(async (response) => {
        await response.arrayBuffer();
        return response.status;
      })
      .catch(() => 0);
    return { status, ms: performance.now() - startedAt };
  };
  const asking = (async () => {
    while (!stopped.signal.aborted) {
      answers.push(ask());
      await delay(everyMs, undefined, { signal: stopped.signal }).catch(() => {});
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await asking;
      return Promise.all(answers);
    },
  };
}

/** Number and slowest time of the answers by status: "200: 57, slowest 0.1 s; 503: 12, slowest 6.0 s". Pure. */
export function summaryOf(answers: readonly Answer[]): string {
  const byStatus = [...Map.groupBy(answers, ({ status }) => status)].sort(([a], [b]) => a - b);
  return byStatus
    .map(([status, same]) => `${status}: ${same.length}, slowest ${(slowest(same) / 1000).toFixed(1)} s`)
    .join('; ');
}

const slowest = (answers: readonly Answer[]): number => Math.max(0, ...answers.map(({ ms }) => ms));

/** The median; 0 for no values. Pure. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
