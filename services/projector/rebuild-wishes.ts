import { setTimeout } from 'node:timers/promises';
import type { RebuildRequest } from '#shared/contracts/projection-pointer.ts';
import type { DocumentStore } from '#shared/read-model/document-store.ts';

export type RebuildWishes = {
  latest(): RebuildRequest | undefined;
  /** Resolves after the next wish, after `withinMs`, or when the signal aborts. */
  next(withinMs: number | undefined): Promise<void>;
  /** Rejects when wishes cannot be followed any more; never resolves. */
  failure: Promise<never>;
};

const longestWaitMs = 3_600_000;

/** Follows what rebuilds of a projection are wished for, until `signal` aborts. */
export function rebuildWishes(
  requests: Pick<DocumentStore<RebuildRequest>, 'watch'>,
  projection: string,
  signal: AbortSignal,
): RebuildWishes {
  let latest: RebuildRequest | undefined;
  let wake = () => {};
  const { promise: failure, reject } = Promise.withResolvers<never>();
  failure.catch(() => {});
  const follow = async () => {
    for await (const change of requests.watch(projection, signal)) {
      if (change.kind !== 'put') continue;
      latest = change.document;
      wake();
    }
    if (!signal.aborted) throw new Error('The watch of rebuild requests ended.');
  };
  follow().catch(reject);
  return {
    latest: () => latest,
    failure,
    async next(withinMs = longestWaitMs) {
      const woken = new AbortController();
      wake = () => woken.abort();
      await setTimeout(withinMs, undefined, { signal: AbortSignal.any([signal, woken.signal]) }).catch(() => {});
    },
  };
}
