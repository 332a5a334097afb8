import { relative, sep } from 'node:path';
import { messageOf } from '#shared/runtime/failures.ts';

/** A watch of a folder. `close` ends it. */
export type FolderWatch = { close(): Promise<void> };

export type WatchOptions = {
  /** Called with the names of changed files and folders, relative to the folder, with slashes; undefined if any file may have changed. */
  onChange: (paths: readonly string[] | undefined) => void;
  /** Called when events stop, with the reason. The folder is polled from then on. */
  onLost: (reason: string) => void;
  /** Interval of checks in milliseconds, instead of waiting for events. */
  pollMs?: number | undefined;
};

const usualPollMs = 1_000;
/** Folders whose changes are never of interest, and may be many. */
const ignored = ['**/.git/**', '**/node_modules/**', '**/.bindery/**'];

/**
 * Watches a folder and all folders in it. `@parcel/watcher` uses the events of the system: one watch for each folder, where Node's own recursive watch
 * on Linux has one for each file. If there are none, such as on a network share, or when the system has no watches left, the folder is polled.
 */
export async function watchFolder(folder: string, { onChange, onLost, pollMs }: WatchOptions): Promise<FolderWatch> {
  let timer: NodeJS.Timeout | undefined;
  const poll = (everyMs: number): void => {
    timer ??= setInterval(() => onChange(undefined), everyMs);
  };
  let subscription: { unsubscribe(): Promise<void> } | undefined;
  const lose = (error: unknown): void => {
    if (timer !== undefined) return;
    onLost(messageOf(error));
    poll(usualPollMs);
  };
  if (pollMs === undefined) {
    try {
      // The package has native code, which a system may lack.
      const { subscribe } = await import('@parcel/watcher');
      subscription = await subscribe(
        folder,
        (error, events) => {
          if (error !== null) {
            // Events may have been lost.
            onChange(undefined);
            return lose(error);
          }
          onChange(events.map(({ path }) => relative(folder, path).split(sep).join('/')));
        },
        { ignore: ignored },
      );
    } catch (error) {
      lose(error);
    }
  } else poll(pollMs);
  return {
    async close() {
      clearInterval(timer);
      await subscription?.unsubscribe();
    },
  };
}
