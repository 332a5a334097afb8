/**
 * Runs work with at most `atOnce` at a time. Owners of waiting work take turns, so that an owner with much work delays another by at most one piece
 * per slot. Returns a function that resolves or rejects as the work does.
 */
export function takeTurns(atOnce: number): <T>(owner: string, work: () => Promise<T>) => Promise<T> {
  /** Waiting work by owner. The owner that had its turn last comes last. */
  const waiting = new Map<string, (() => void)[]>();
  let running = 0;

  function nextTurn(): (() => void) | undefined {
    for (const [owner, [next, ...later]] of waiting) {
      waiting.delete(owner);
      if (later.length > 0) waiting.set(owner, later);
      return next;
    }
    return undefined;
  }

  return async (owner, work) => {
    if (running < atOnce) running += 1;
    else
      await new Promise<void>((resolve) => {
        waiting.set(owner, [...(waiting.get(owner) ?? []), resolve]);
      });
    try {
      return await work();
    } finally {
      // The slot passes to the next work directly, so nothing else can take it meanwhile.
      const next = nextTurn();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
