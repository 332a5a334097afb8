import type { Bus } from '#shared/bus/bus.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { evolveContent } from '#shared/content-log/evolve-content.ts';
import type { ContentEvent, ContentState } from '#shared/contracts/content-events.ts';
import { ApiError } from '#shared/errors/api-error.ts';
import { ConcurrentAppend } from '#shared/event-log/concurrent-append.ts';
import { nextCommit } from '#shared/event-log/next-commit.ts';
import { randomBase62 } from '#shared/identifiers/base62.ts';
import type { Caller } from '#shared/internal-http/caller.ts';
import { contentLogSubject } from '#shared/subjects/subject-names.ts';

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
