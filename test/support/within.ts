/** Rejects with a sentence when a result takes longer than the deadline. */
export async function within<T>(deadlineMs: number, result: Promise<T>, otherwise: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(otherwise)), deadlineMs);
  });
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}
