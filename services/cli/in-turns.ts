import { setTimeout as delay } from 'node:timers/promises';

/** Bounds of requests to other sites: those in flight, those to one host, and the pause after an answer before the next request to the same host. */
export type Turns = { atOnce: number; atOnceByHost: number; pauseMs: number };

/**
 * Calls `ask` for addresses: some at a time, and few of them to each host. An answer may ask for a longer pause by `retryAfterMs`. Rejects with the first
 * failure.
 */
export async function inTurns(
  addresses: readonly string[],
  { atOnce, atOnceByHost, pauseMs }: Turns,
  ask: (address: string) => Promise<{ retryAfterMs?: number | undefined } | undefined>,
): Promise<void> {
  const inTurn = limited(atOnce);
  const hosts = Map.groupBy(addresses, (address) => new URL(address).host);
  const workers = [...hosts.values()].flatMap((list) => {
    const left = [...list];
    return Array.from({ length: Math.min(atOnceByHost, list.length) }, async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const address = next;
        const answer = await inTurn(() => ask(address));
        if (left.length > 0) await delay(Math.max(pauseMs, answer?.retryAfterMs ?? 0));
      }
    });
  });
  await Promise.all(workers);
}

/** A limit of functions in flight. The others wait and start in the order of their calls. */
function limited(most: number): <T>(run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let active = 0;
  return async (run) => {
    if (active < most) active += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) active -= 1;
      else next();
    }
  };
}
