/**
 * Resolves as the promise does, or rejects with the error of `late` when that takes longer than `withinMs`. The promise itself is not cancelled. An
 * answer that arrived in time but was not read yet, because this process was blocked, still counts: the deadline waits for one more turn of the event
 * loop.
 */
export async function withDeadline<T>(question: Promise<T>, withinMs: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => setImmediate(() => reject(late())), withinMs);
  });
  try {
    return await Promise.race([question, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
