/** A call that never answers. It rejects with the reason of its signal, like calls to an object store. */
export function hungCall({ signal }: { signal?: AbortSignal } = {}): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}
