import { type DirectoryEvent, type DirectoryState, evolveDirectory } from '#shared/aggregates/directory/directory.ts';
import type { Actor } from '#shared/contracts/commit.ts';
import { organizationKey } from '#shared/contracts/read-models.ts';
import { ApiError } from '#shared/http/errors.ts';
import { nextCommit } from '#shared/messaging/commit-chain.ts';
import { ConcurrentAppend } from '#shared/messaging/event-log.ts';
import { directoryLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { askBus, waitForRevision, writeWithinMs } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';

const attempts = 5;

export type RequestOrigin = { actor: Actor; requestId: string; traceparent: string };

/**
 * Loads an organization, lets `decide` say what happens, appends that, and answers with the state once the read model shows it.
 * When somebody else was faster it decides again, on what they left.
 */
export async function appendToDirectory(
  context: Pick<GatewayContext, 'bus' | 'clock' | 'random'>,
  organization: string,
  decide: (state: DirectoryState | undefined) => DirectoryEvent[],
  origin: RequestOrigin,
): Promise<DirectoryState> {
  const subject = directoryLogSubject(organization);
  for (let attempt = 1; ; attempt += 1) {
    const previous = await askBus(context.bus.directory.last(subject, { fromLeader: true }));
    const before = previous?.commit.data.state;
    const events = decide(before);
    const time = context.clock.now();
    const state = events.reduce<DirectoryState | undefined>(
      (current, event) => evolveDirectory(current, event, time.toISOString()),
      before,
    );
    if (state === undefined) throw new Error(`nothing was decided about ${organization}, which does not exist`);
    if (events.length === 0) return state;
    const commit = nextCommit(subject, previous, events, state, {
      id: `dc_${context.random(22)}`,
      source: 'gateway',
      actor: origin.actor,
      time,
      causationId: origin.requestId,
      correlationId: origin.requestId,
      traceparent: origin.traceparent,
    });
    try {
      await askBus(context.bus.directory.append(commit, { sequence: previous?.sequence ?? 0 }), writeWithinMs);
    } catch (error) {
      if (!(error instanceof ConcurrentAppend)) throw error;
      if (attempt < attempts) continue;
      throw new ApiError('unavailable', 'Too many changes at once. Try again.', { retryAfterSeconds: 1, cause: error });
    }
    await waitForRevision(context.bus.documents.directoryOrganizations, organizationKey(organization), commit.revision);
    return state;
  }
}
