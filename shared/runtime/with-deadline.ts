/**
 * The answer to a question, or the error of `late` when it takes longer than `withinMs`. The question itself goes on unheard. An answer that
 * has come and lies unread, because this process was held up, is in time: the deadline lets one round of reading pass.
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
