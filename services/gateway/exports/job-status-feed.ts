import type { Logger } from 'pino';
import { type JobStatusDocument, jobStatusDocumentSchema, organizationIn } from '#shared/interfaces/read-models.ts';
import type { LiveUpdates } from '#shared/messaging/bus.ts';

/** Notifies listeners when a job changes. Delivery is at most once, so a listener must read the document first, and again at intervals. */
export type JobStatusFeed = {
  /** `key` is the key of the job's document. Calls `listener` until the returned function is called. */
  watch(key: string, listener: (document: JobStatusDocument) => void): () => void;
  /** The same for all jobs of an organization. */
  watchAll(organization: string, listener: (document: JobStatusDocument) => void): () => void;
  close(): void;
};

/** One subscription serves all listeners. */
export function jobStatusFeed(liveUpdates: LiveUpdates, logger: Logger): JobStatusFeed {
  /** Listeners by the key of a job, or by that of an organization. */
  const watchers = new Map<string, Set<(document: JobStatusDocument) => void>>();
  const close = liveUpdates.onJobStatus(({ key, document }) => {
    const listeners = [watchers.get(key), watchers.get(allOf(organizationIn(key)))].flatMap((some) => [
      ...(some ?? []),
    ]);
    if (listeners.length === 0) return;
    const parsed = jobStatusDocumentSchema.safeParse(document);
    if (!parsed.success) logger.warn({ key, err: parsed.error }, 'a live update cannot be read');
    else for (const listener of listeners) listener(parsed.data);
  });
  const watch: JobStatusFeed['watch'] = (key, listener) => {
    const listeners = watchers.get(key) ?? new Set();
    watchers.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && watchers.get(key) === listeners) watchers.delete(key);
    };
  };
  return { watch, watchAll: (organization, listener) => watch(allOf(organization), listener), close };
}

/** The key of all jobs of an organization, whose form no job's key has. */
const allOf = (organization: string): string => `${organization}.>`;
