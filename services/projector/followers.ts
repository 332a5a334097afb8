import type { Generation } from '#shared/read-model/generation.ts';
import { followGeneration } from './follow-generation.ts';
import type { ProjectionRun } from './run-projection.ts';

/** Who fills which generation now: at most one follower each. */
export type Followers = {
  start(generation: Generation): void;
  /** Resolves when what was in hand is written. */
  stop(generation: Generation): Promise<void>;
  stopAll(): Promise<void>;
  /** Rejects with the first failure of a follower; never resolves. */
  failure: Promise<never>;
};

export function followers<M>(run: ProjectionRun<M>): Followers {
  const running = new Map<Generation, { stop: AbortController; ended: Promise<void> }>();
  const { promise: failure, reject } = Promise.withResolvers<never>();
  failure.catch(() => {});
  const stop = async (generation: Generation) => {
    const one = running.get(generation);
    one?.stop.abort();
    await one?.ended;
    running.delete(generation);
  };
  return {
    failure,
    start(generation) {
      if (running.has(generation)) return;
      const one = new AbortController();
      running.set(generation, { stop: one, ended: followGeneration(run, generation, one.signal).catch(reject) });
    },
    stop,
    stopAll: async () => void (await Promise.all([...running.keys()].map(stop))),
  };
}
