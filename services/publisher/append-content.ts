import { type ContentEvent, type ContentState, evolveContent } from '#shared/aggregates/content/content.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { Bus } from '#shared/messaging/bus.ts';
import { nextCommit } from '#shared/messaging/commit-chain.ts';
import { ConcurrentAppend } from '#shared/messaging/event-log.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { type Clock, randomBase62 } from '#shared/runtime/time-and-ids.ts';

const attempts = 5;

/**
 * Loads a domain's content, lets `decide` say what happens, and appends that. Answers with the revision that has it. The indexer appends
 * to the same log; when it was faster, the decision is made again.
 */
export async function appendContent(
  { bus, clock }: { bus: Pick<Bus, 'content'>; clock: Clock },
  caller: Caller,
  decide: (state: ContentState | undefined) => ContentEvent[],
): Promise<{ revision: number }> {
  const subject = contentLogSubject(caller.organization, caller.domain);
  for (let attempt = 1; ; attempt += 1) {
    const previous = await bus.content.last(subject, { fromLeader: true });
    const before = previous?.commit.data.state;
    const events = decide(before);
    const time = clock.now();
    const state = events.reduce<ContentState | undefined>(
      (current, event) => evolveContent(current, event, time.toISOString()),
      before,
    );
    if (events.length === 0 || state === undefined) return { revision: previous?.commit.revision ?? 0 };
    const commit = nextCommit(subject, previous, events, state, {
      id: `cc_${randomBase62(22)}`,
      source: 'publisher',
      actor: caller.actor,
      time,
      causationId: caller.requestId,
      correlationId: caller.requestId,
      traceparent: caller.traceparent,
    });
    try {
      await bus.content.append(commit, { sequence: previous?.sequence ?? 0 });
      return { revision: commit.revision };
    } catch (error) {
      if (!(error instanceof ConcurrentAppend)) throw error;
      if (attempt === attempts) {
        throw new ApiError('unavailable', 'Too many changes at once. Try again.', {
          retryAfterSeconds: 1,
          cause: error,
        });
      }
    }
  }
}
