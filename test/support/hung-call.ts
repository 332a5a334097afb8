/** A call that never answers. It ends with the reason of its signal, as an object store's do. */
export function hungCall({ signal }: { signal?: AbortSignal } = {}): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}
