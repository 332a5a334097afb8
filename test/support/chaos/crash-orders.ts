import { existsSync, watch } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CrashOrder, orderFile, takenFile } from '#shared/lifecycle/crash-orders.ts';

export type GivenOrder = {
  /** Resolves when a process has reached the place and taken the order. Rejects when the order is withdrawn before. */
  taken: Promise<void>;
  /** Ends it: a process that waits goes on, an order that nobody took is withdrawn. */
  end(): Promise<void>;
};

/** Orders the first process that reaches `place` (`<crash point>@<service>`) to die or to wait there; `folder` is its CRASH_ORDERS. */
export async function giveOrder(folder: string, place: string, order: CrashOrder): Promise<GivenOrder> {
  const [waiting, taken] = [orderFile(folder, place), takenFile(folder, place)];
  await rm(taken, { force: true });
  const isTaken = Promise.withResolvers<void>();
  isTaken.promise.catch(() => {});
  const watcher = watch(folder, () => {
    if (existsSync(taken)) isTaken.resolve();
  });
  // All or nothing: whoever finds the file must find the order in it.
  const unfinished = join(folder, 'unfinished');
  await writeFile(unfinished, order);
  await rename(unfinished, waiting);
  return {
    taken: isTaken.promise,
    async end() {
      watcher.close();
      isTaken.reject(new Error(`Nothing reached ${place}.`));
      await Promise.all([rm(waiting, { force: true }), rm(taken, { force: true })]);
    },
  };
}
