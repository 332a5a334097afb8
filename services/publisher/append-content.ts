import {
  contentAggregate,
  type ContentCommit,
  type ContentEvent,
  type ContentState,
} from '#shared/aggregates/content/content.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import type { EventLog } from '#shared/messaging/event-log.ts';
import { handleCommand } from '#shared/messaging/handle-command.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { type Clock, randomBase62 } from '#shared/runtime/time-and-ids.ts';

/** Appends to a domain's content log what `decide` says for the caller's domain, and answers with the revision that has it. */
export async function appendContent(
  { bus, clock }: { bus: { content: EventLog<ContentCommit> }; clock: Clock },
  { organization, domain, actor, requestId, traceparent }: Caller,
  decide: (state: ContentState | undefined) => ContentEvent[],
): Promise<{ revision: number }> {
  const { stored } = await handleCommand({ log: bus.content, clock, random: randomBase62 }, contentAggregate, {
    subject: contentLogSubject(organization, domain),
    decide,
    origin: { source: 'publisher', actor, causationId: requestId, correlationId: requestId, traceparent },
  });
  return { revision: stored?.commit.revision ?? 0 };
}
