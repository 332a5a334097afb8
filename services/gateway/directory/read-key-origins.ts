import { type KeyOrigin, type KeyOrigins, noteOrigins } from '#shared/aggregates/directory/key-origins.ts';
import { directoryLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { eachAnswer } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';

/**
 * Reads the origins of an organization's keys from the leader of the log. Each call continues where the previous one ended, so that a decision that
 * is repeated after a conflict knows the other writer's events. Throws `unavailable` when the bus fails.
 */
export function keyOriginsReader(
  { bus }: { bus: Pick<GatewayContext['bus'], 'directory'> },
  organization: string,
): () => Promise<KeyOrigins> {
  const origins = new Map<string, KeyOrigin>();
  let sequence = 0;
  return async () => {
    for await (const stored of eachAnswer(bus.directory.after(directoryLogSubject(organization), sequence))) {
      noteOrigins(origins, stored.commit);
      ({ sequence } = stored);
    }
    return origins;
  };
}
