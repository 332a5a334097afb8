import type { Bench } from './bench.ts';

export type OpenStands = Pick<Bench, 'using'> & {
  /** Stops all that is open or just starts; what works with it fails then. */
  stopAll(): Promise<void>;
};

/** Everything that a benchmark has started and not stopped yet. */
export function openStands(): OpenStands {
  const open = new Set<() => Promise<unknown>>();
  return {
    async using(starting, work) {
      let stopped: Promise<unknown> | undefined;
      const stop = () => {
        stopped ??= starting.then(
          (started) => started.stop(),
          () => undefined,
        );
        return stopped;
      };
      open.add(stop);
      try {
        return await work(await starting);
      } finally {
        await stop();
        open.delete(stop);
      }
    },
    async stopAll() {
      await Promise.allSettled([...open].map((stop) => stop()));
    },
  };
}
