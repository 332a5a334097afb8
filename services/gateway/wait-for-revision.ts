import { setTimeout } from 'node:timers/promises';
import { ApiError } from '#shared/errors/api-error.ts';
import type { DocumentStore } from '#shared/read-model/document-store.ts';
import { askBus } from './ask-bus.ts';

const deadlineMs = 2_000;
const firstPauseMs = 2;
const longestPauseMs = 50;

/**
 * Answers when a read model shows a revision that was just written, so that its maker can use it at once. `unavailable` after two
 * seconds: what was written stays written, and shows up later.
 */
export async function waitForRevision<T extends { revision: number }>(
  store: DocumentStore<T>,
  key: string,
  revision: number,
): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const leftMs = end - performance.now();
    if (leftMs <= 0) {
      throw new ApiError(
        'unavailable',
        'The change was stored, but cannot be seen everywhere yet. Ask for it again in a moment; do not repeat the change.',
        { retryAfterSeconds: 2 },
      );
    }
    const stored = await askBus(store.get(key, { fromLeader: true }), leftMs);
    if (stored !== undefined && stored.document.revision >= revision) return stored.document;
    await setTimeout(pauseMs);
  }
}
