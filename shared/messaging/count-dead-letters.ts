import { setTimeout as delay } from 'node:timers/promises';
import type { DeadLetter } from '#shared/contracts/dead-letters.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { DocumentStore } from './read-models.ts';

const followAgainAfterMs = 1_000;

/** How many messages a service has set aside, followed as it changes. It is logged at the start and with each change. */
export function countDeadLetters(
  deadLetters: Pick<DocumentStore<DeadLetter>, 'watch'>,
  service: string,
  logger: Logger,
  signal: AbortSignal,
): () => number {
  const aside = new Set<string>();
  let isKnown = false;
  const say = () => {
    if (isKnown && aside.size > 0) {
      logger.warn({ setAside: aside.size }, 'messages are set aside; "bindery dead list" shows them');
    }
  };
  const follow = async () => {
    for await (const change of deadLetters.watch(`${service}.>`, signal)) {
      const before = aside.size;
      if (change.kind === 'caught-up') isKnown = true;
      else if (change.kind === 'put' && change.document.state === 'aside') aside.add(change.key);
      else aside.delete(change.key);
      if (change.kind === 'caught-up' || aside.size !== before) say();
    }
  };
  const keepFollowing = async () => {
    while (!signal.aborted) {
      isKnown = false;
      aside.clear();
      await follow().catch(() => {});
      await delay(followAgainAfterMs, undefined, { signal }).catch(() => {});
    }
  };
  void keepFollowing();
  return () => aside.size;
}
