/**
 * Results in the order of the items, with at most `atOnce` calls running. After the first failure no further call begins, and this rejects
 * when the running calls have ended: nothing continues after its caller gave up. (`p-map` either rejects at once or begins all calls
 * despite a failure.)
 */
export async function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  call: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  let failed = false;
  const run = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const index = next;
      next += 1;
      try {
        results[index] = await call(items[index] as T, index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, run));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return results;
}

/**
 * Calls `call` for the items of an asynchronous sequence, at most `atOnce` at a time. An item is taken when a call can begin, and finished items are
 * not kept.
 */
export async function eachInParallel<T>(
  items: AsyncIterable<T>,
  atOnce: number,
  call: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  let failed = false;
  const run = async (): Promise<void> => {
    try {
      for (;;) {
        const next = await iterator.next();
        if (next.done === true || failed) return;
        await call(next.value);
      }
    } catch (error) {
      failed = true;
      throw error;
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: atOnce }, run));
  await iterator.return?.();
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Each item with its result, in order. `ahead` calls run at once, and at most as many results are held. */
export async function* inOrder<T, R>(
  items: readonly T[],
  ahead: number,
  call: (item: T) => Promise<R>,
): AsyncGenerator<[T, R]> {
  const running: Promise<R>[] = [];
  const begin = (item: T): void => {
    const result = call(item);
    // The failure is thrown when this result is due.
    result.catch(() => undefined);
    running.push(result);
  };
  for (const item of items.slice(0, ahead)) begin(item);
  for (const [at, item] of items.entries()) {
    const result = await (running.shift() as Promise<R>);
    for (const later of items.slice(at + ahead, at + ahead + 1)) begin(later);
    yield [item, result];
  }
}
