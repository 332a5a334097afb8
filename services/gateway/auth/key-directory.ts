import type { Logger } from 'pino';
import type { ApiKey } from '#shared/aggregates/directory/directory.ts';
import { apiKeyKey, type KeyDocument } from '#shared/interfaces/read-models.ts';
import { type DocumentStore, keepFollowing } from '#shared/messaging/read-models.ts';
import { type Clock, dayMs } from '#shared/runtime/time-and-ids.ts';
import { askBus } from '../ask-bus.ts';

export type KeyDirectory = {
  /** The document of an API key by its SHA-256; undefined if there is no such key. */
  find(sha256: string): Promise<KeyDocument | undefined>;
  /**
   * Calls `ended` once when the key stops being valid: revoked, expired, or unreadable. Answers in flight must end then. Follows the key until the
   * returned function is called.
   */
  onEnd(sha256: string, ended: () => void): () => void;
};

const keptMs = 1_000;
const mostKept = 10_000;
/** Upper bound for the duration of an answer. Keys that expire later need no timer. */
const longestFollowedMs = dayMs;

type Kept = { at: number; document: Promise<KeyDocument | undefined> };

/**
 * Looks keys up when they are used and caches them for at most a second; a change of a cached key (above all a revocation) takes effect as soon as
 * the watch delivers it. Unknown keys are not cached. Ends with `signal`.
 */
export function keyDirectory(
  store: DocumentStore<KeyDocument>,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): KeyDirectory {
  const kept = new Map<string, Kept>();
  const followed = followedKeys(clock);

  function keep(storeKey: string, document: Promise<KeyDocument | undefined>): void {
    const oldest = kept.keys().next();
    if (kept.size >= mostKept && !oldest.done) kept.delete(oldest.value);
    kept.set(storeKey, { at: clock.now().getTime(), document });
  }

  async function follow(): Promise<void> {
    for await (const change of store.watch(apiKeyKey('>'), signal)) {
      if (change.kind === 'caught-up') continue;
      if (change.kind === 'unreadable') logger.error({ err: change.problem }, 'an API key cannot be read');
      const document = change.kind === 'put' ? change.document : undefined;
      if (document === undefined) kept.delete(change.key);
      else if (kept.has(change.key)) keep(change.key, Promise.resolve(document));
      followed.changed(change.key, document);
    }
  }

  const ended = (error: unknown) => {
    if (!signal.aborted) logger.warn({ err: error }, 'the watch of API keys ended');
    // Without the watch a revocation might be missed, so the cache is cleared.
    kept.clear();
  };
  void keepFollowing(follow, ended, signal);

  return {
    find: async (sha256) => {
      const storeKey = apiKeyKey(sha256);
      const known = kept.get(storeKey);
      if (known !== undefined && clock.now().getTime() - known.at < keptMs) {
        // The lookup may be in flight for another request. A request that joins it has its own deadline.
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

    onEnd(sha256, ended) {
      const storeKey = apiKeyKey(sha256);
      const stop = followed.add(storeKey, ended);
      // The key may have ended since it was found, and its expiry is not known yet.
      void kept.get(storeKey)?.document.then(
        (document) => followed.changed(storeKey, document),
        () => {},
      );
      return stop;
    },
  };

  function forget(storeKey: string, document: Promise<KeyDocument | undefined>): void {
    if (kept.get(storeKey)?.document === document) kept.delete(storeKey);
  }
}

/** Listeners for the end of a key, by its key in the store. */
function followedKeys(clock: Clock) {
  const followers = new Map<string, { listeners: Set<() => void>; timer?: NodeJS.Timeout }>();

  function end(storeKey: string): void {
    const { listeners = [], timer } = followers.get(storeKey) ?? {};
    clearTimeout(timer);
    followers.delete(storeKey);
    for (const listener of listeners) listener();
  }

  return {
    /** Handles the current document of a key; undefined if it no longer exists. */
    changed(storeKey: string, document: KeyDocument | undefined): void {
      const known = followers.get(storeKey);
      if (known === undefined) return;
      clearTimeout(known.timer);
      const leftMs = document === undefined ? 0 : endOf(document.key) - clock.now().getTime();
      if (leftMs <= 0) end(storeKey);
      else if (leftMs <= longestFollowedMs) known.timer = setTimeout(() => end(storeKey), leftMs).unref();
    },

    add(storeKey: string, listener: () => void): () => void {
      const known = followers.get(storeKey) ?? { listeners: new Set() };
      followers.set(storeKey, known);
      known.listeners.add(listener);
      return () => {
        if (!known.listeners.delete(listener) || known.listeners.size > 0) return;
        clearTimeout(known.timer);
        if (followers.get(storeKey) === known) followers.delete(storeKey);
      };
    },
  };
}

const endOf = ({ revokedAt, expiresAt }: ApiKey): number =>
  Math.min(...[revokedAt, expiresAt].map((time) => (time === undefined ? Number.POSITIVE_INFINITY : Date.parse(time))));
