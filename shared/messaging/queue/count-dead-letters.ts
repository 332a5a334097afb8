import type { DeadLetter } from '#shared/contracts/dead-letters.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { type DocumentStore, keepFollowing } from '#shared/messaging/read-models.ts';

/** Follows the number of a service's dead letters. It is logged at the start and at each change. */
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
    isKnown = false;
    aside.clear();
    for await (const change of deadLetters.watch(`${service}.>`, signal)) {
      const before = aside.size;
      if (change.kind === 'caught-up') isKnown = true;
      else if (change.kind === 'put' && change.document.state === 'aside') aside.add(change.key);
      else aside.delete(change.key);
      if (change.kind === 'caught-up' || aside.size !== before) say();
    }
  };
  void keepFollowing(follow, () => {}, signal);
  return () => aside.size;
}
