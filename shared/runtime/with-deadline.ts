/** The answer to a question, or the error of `late` when it takes longer than `withinMs`. The question itself goes on unheard. */
export async function withDeadline<T>(question: Promise<T>, withinMs: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), withinMs);
  });
  try {
    return await Promise.race([question, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
