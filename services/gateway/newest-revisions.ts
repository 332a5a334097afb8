/** Time of silence after which a stream sends a comment, which keeps its connection open. */
export const heartbeatMs = 15_000;

/**
 * The wait of one stream for something to send, until `signal` aborts. A change that is told before the wait begins ends it at once, so that none is
 * missed while an event is sent.
 */
export function changeWait(signal: AbortSignal) {
  let wake = () => {};
  let hasChanged = false;
  const tell = (): void => {
    hasChanged = true;
    wake();
  };
  signal.addEventListener('abort', tell);
  return {
    tell,
    /** Resolves with true after a change or when the signal aborts, and with false after `withinMs` without either. */
    wait: (withinMs: number = heartbeatMs): Promise<boolean> =>
      new Promise((resolve) => {
        const end = (isChange: boolean): void => {
          clearTimeout(timer);
          wake = () => {};
          hasChanged = false;
          resolve(isChange);
        };
        const timer = setTimeout(() => end(false), withinMs);
        wake = () => end(true);
        if (hasChanged || signal.aborted) end(true);
      }),
    /** Ends the use of the signal. */
    close: (): void => signal.removeEventListener('abort', tell),
  };
}

/** The state of something at a revision. `lost`: commits that were shown before, and that the log has lost. */
export type Revision = { revision: number; commitId: string; lost?: readonly { commitId: string }[] | undefined };

/** True if a state is newer than the one that was shown, or was made after the log lost that one. Pure. */
export const isNewer = (
  { revision, lost }: Revision,
  shown: Pick<Revision, 'revision' | 'commitId'> | undefined,
): boolean =>
  shown === undefined ||
  revision > shown.revision ||
  (lost?.some(({ commitId }) => commitId === shown.commitId) ?? false);

/**
 * The newest revision of something and then every newer one, until `signal` aborts. A slow reader gets the newest one and misses some in between. Updates
 * of `watch` may get lost on the way, so after each silence of 15 seconds it is read again, and `quiet` is yielded. Rejects when the first `read` rejects
 * and there is no `first`; later failures are repeated after the next silence.
 */
export async function* newestRevisions<T extends Revision>(
  {
    first,
    watch,
    read,
  }: {
    first?: T | undefined;
    /** Calls a listener at each change until the returned function is called. */
    watch: (listener: (view: T) => void) => () => void;
    read: () => Promise<T | undefined>;
  },
  signal: AbortSignal,
): AsyncGenerator<T | 'quiet'> {
  let newest = first;
  const changes = changeWait(signal);
  const seen = (view: T): void => {
    if (!isNewer(view, newest)) return;
    newest = view;
    changes.tell();
  };
  const readAgain = async (): Promise<void> => {
    const view = await read();
    if (view !== undefined) seen(view);
  };
  const stop = watch(seen);
  try {
    // It may have changed between the first read and the subscription.
    await readAgain().catch((error: unknown) => {
      if (first === undefined) throw error;
    });
    let shown: T | undefined;
    while (!signal.aborted) {
      if (newest !== undefined && newest !== shown) {
        shown = newest;
        yield shown;
      } else if (!(await changes.wait())) {
        await readAgain().catch(() => {});
        yield 'quiet';
      }
    }
  } finally {
    stop();
    changes.close();
  }
}
