import { type KeyOrigin, type KeyOrigins, noteOrigins } from '#shared/aggregates/directory/key-origins.ts';
import { directoryLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { eachAnswer } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';

/**
 * Reads where an organization's keys come from, as the leader of the log has it. Each call reads on from where the one before ended: a decision
 * that is made again after a conflict knows what the other writer left. `unavailable` when the bus fails.
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
