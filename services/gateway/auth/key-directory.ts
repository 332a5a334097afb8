import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { apiKeyKey, type KeyDocument } from '#shared/contracts/read-models.ts';
import type { DocumentStore } from '#shared/messaging/read-models.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import { askBus } from '../ask-bus.ts';

/** What is known of an API key by its SHA-256; undefined when there is no such key. */
export type KeyDirectory = { find(sha256: string): Promise<KeyDocument | undefined> };

const keptMs = 10_000;
const mostKept = 10_000;
const watchAgainAfterMs = 1_000;

type Kept = { at: number; document: Promise<KeyDocument | undefined> };

/**
 * Looks keys up when they are used and keeps them for at most 10 seconds; a change of one that is kept (a revocation above all) takes
 * effect as soon as the watch brings it. Keys that do not exist are not kept. Ends with `signal`.
 */
export function keyDirectory(
  store: DocumentStore<KeyDocument>,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): KeyDirectory {
  const kept = new Map<string, Kept>();

  function keep(storeKey: string, document: Promise<KeyDocument | undefined>): void {
    const oldest = kept.keys().next();
    if (kept.size >= mostKept && !oldest.done) kept.delete(oldest.value);
    kept.set(storeKey, { at: clock.now().getTime(), document });
  }

  async function follow(): Promise<void> {
    for await (const change of store.watch(apiKeyKey('>'), signal)) {
      if (change.kind === 'removed') kept.delete(change.key);
      if (change.kind === 'put' && kept.has(change.key)) keep(change.key, Promise.resolve(change.document));
    }
  }

  async function followAlways(): Promise<void> {
    while (!signal.aborted) {
      await follow().catch((error: unknown) => logger.warn({ err: error }, 'the watch of API keys ended'));
      // Without the watch a revocation might be missed, so nothing that was kept until now counts.
      kept.clear();
      await setTimeout(watchAgainAfterMs, undefined, { signal }).catch(() => {});
    }
  }
  void followAlways();

  return {
    find: async (sha256) => {
      const storeKey = apiKeyKey(sha256);
      const known = kept.get(storeKey);
      if (known !== undefined && clock.now().getTime() - known.at < keptMs) {
        // Another request may still be asking. A request that joins it has a deadline of its own.
        return await askBus(known.document);
      }
      const document = store.get(storeKey).then((stored) => stored?.document);
      kept.delete(storeKey);
      keep(storeKey, document);
      try {
        const found = await askBus(document);
        if (found === undefined) forget(storeKey, document);
        return found;
      } catch (error) {
        forget(storeKey, document);
        throw error;
      }
    },
  };

  function forget(storeKey: string, document: Promise<KeyDocument | undefined>): void {
    if (kept.get(storeKey)?.document === document) kept.delete(storeKey);
  }
}
