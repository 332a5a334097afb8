import { keyUseKey, type KeyUse } from '#shared/interfaces/read-models.ts';
import type { DocumentStore } from '#shared/messaging/read-models.ts';
import { messageOf, Poison } from '#shared/runtime/failures.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { askBus } from '../ask-bus.ts';

/** Last uses of API keys, shared by all gateways of the installation. */
export type KeyUses = {
  /** Records in memory that a key is used now. Does not wait and cannot fail. */
  note(organization: string, keyId: string): void;
  /**
   * Last uses of keys (ISO times) by their ids; keys without a use are missing. Uses in the last two minutes at other gateways may be missing. Throws
   * `unavailable` when the bus is unavailable, because a key must not look unused then.
   */
  lastUses(organization: string, keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Stores the uses that only this gateway knows. Never rejects; uses that could not be stored are kept for the next flush. */
  flush(): Promise<void>;
  /** Stores the remaining uses within two seconds, and closes. */
  close(): Promise<void>;
};

const flushEveryMs = 60_000;
const closeWithinMs = 2_000;
const atOnce = 16;
/** Limit of attempts to write. Each conflict is a write of another gateway, so two in a row are rare. */
const mostAttempts = 5;

/**
 * Keeps the last use of each key in memory and stores it once a minute. The first gateway to store a key makes the others skip it for a minute, so a
 * key is written at most once a minute in total. A stored time never decreases. While the bus is unavailable the uses wait in memory, one number for each
 * key.
 */
export function keyUses(store: DocumentStore<KeyUse>, clock: Clock, logger: Logger): KeyUses {
  /** Uses that are not stored yet: milliseconds since 1970, by the key of the document. */
  const waiting = new Map<string, number>();
  /** Keys of unreadable documents, so that each is logged once. */
  const unreadable = new Set<string>();
  let flushing: Promise<void> | undefined;
  let isAway = false;

  const flush = (last = false): Promise<void> => {
    flushing ??= storeAll(last).finally(() => {
      flushing = undefined;
    });
    return flushing;
  };
  const timer = setInterval(() => void flush(), flushEveryMs).unref();

  async function storeAll(last: boolean): Promise<void> {
    try {
      await inParallel([...waiting.keys()], atOnce, async (key) => {
        await storeOne(key, last).catch((error: unknown) => leaveUnreadable(key, error));
      });
      isAway = false;
    } catch (error) {
      if (!isAway)
        logger.warn(
          { problem: messageOf(error) },
          'the last uses of API keys cannot be stored now; they are stored later',
        );
      isAway = true;
    }
  }

  /** An unreadable document, as of a newer program, delays only the use of its own key. Throws every other failure. */
  function leaveUnreadable(key: string, error: unknown): void {
    if (!(error instanceof Poison)) throw error;
    if (!unreadable.has(key)) logger.warn({ err: error, key }, 'the last use of an API key cannot be read');
    unreadable.add(key);
  }

  async function storeOne(key: string, last: boolean): Promise<void> {
    for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
      const used = waiting.get(key);
      if (used === undefined) return;
      const stored = await askBus(store.get(key, { fromLeader: true }));
      const before = stored === undefined ? undefined : Date.parse(stored.document.lastUsedAt);
      // Another gateway stored the key a moment ago: a later flush stores the newest use.
      if (before !== undefined && before < used && used - before < flushEveryMs && !last) return;
      const isNews = before === undefined || before < used;
      const document = { lastUsedAt: new Date(used).toISOString() };
      const expectedRevision = stored?.revision ?? 0;
      if (isNews && (await askBus(store.put(key, document, { expectedRevision }))) === undefined) continue;
      if (waiting.get(key) === used) waiting.delete(key);
      return;
    }
  }

  return {
    note(organization, keyId) {
      waiting.set(keyUseKey(organization, keyId), clock.now().getTime());
    },

    async lastUses(organization, keyIds) {
      const ids = new Map(keyIds.map((id) => [keyUseKey(organization, id), id]));
      const uses = new Map<string, string>();
      for (const read of await askBus(store.getMany([...ids.keys()]))) {
        const id = ids.get(read.key);
        if (id !== undefined && 'document' in read) uses.set(id, read.document.lastUsedAt);
      }
      for (const [key, id] of ids) {
        const used = waiting.get(key);
        if (used === undefined) continue;
        const here = new Date(used).toISOString();
        if (here > (uses.get(id) ?? '')) uses.set(id, here);
      }
      return uses;
    },

    flush: () => flush(),

    async close() {
      clearInterval(timer);
      const rest = async () => {
        await flushing;
        await flush(true);
      };
      await withDeadline(rest(), closeWithinMs, () => new Error('The bus took too long.')).catch((error: unknown) => {
        logger.warn({ problem: messageOf(error), keys: waiting.size }, 'last uses of API keys were not stored');
      });
    },
  };
}
