import { setTimeout } from 'node:timers/promises';
import { contentAggregate, type ContentCommit } from '#shared/aggregates/content/content.ts';
import { indexed, versionToIndex } from '#shared/aggregates/content/decide.ts';
import type { BusParts } from '#shared/messaging/bus.ts';
import { handleCommand } from '#shared/messaging/handle-command.ts';
import type { Delivery } from '#shared/messaging/durable-reader.ts';
import { UnknownEvent } from '#shared/messaging/parse-message.ts';
import { contentLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { type Clock, randomBase62 } from '#shared/runtime/time-and-ids.ts';
import type { SearchScope } from '#shared/search/search-index.ts';
import { ContentBroken, indexContent, type IndexingParts, removeContent } from './index-content.ts';

export type LogReaderParts = HandlerParts & { bus: Pick<BusParts, 'content' | 'contentReader' | 'deadLetters'> };

const WORKING_EVERY_MS = 2_000;
const RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 60_000;
/** After so many tries an operator has to look. */
const MAX_DELIVERIES = 20;

/**
 * Reads the content log until `stop` aborts; what is in hand then is finished, or given up when `abandon` aborts. Never rejects.
 */
export async function readContentLog(parts: LogReaderParts, stop: AbortSignal, abandon: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      const reader = await parts.bus.contentReader();
      while (!stop.aborted) {
        const delivery = await reader.next({ signal: stop });
        if (delivery) await handle(parts, delivery, abandon);
      }
    } catch (error) {
      if (stop.aborted) return;
      parts.logger.warn({ err: error }, 'the content log cannot be read; trying again');
      await setTimeout(RETRY_MS, undefined, { signal: stop }).catch(() => undefined);
    }
  }
}

async function handle(parts: LogReaderParts, delivery: Delivery<ContentCommit>, abandon: AbortSignal): Promise<void> {
  const working = setInterval(() => delivery.working(), WORKING_EVERY_MS);
  try {
    if (delivery.value === undefined) throw new UnknownEvent(delivery.problem ?? 'The message cannot be read.');
    await handleCommit(parts, delivery.value, abandon);
    await delivery.ack();
  } catch (error) {
    const { message } = error as Error;
    if (
      !abandon.aborted &&
      (error instanceof UnknownEvent || error instanceof ContentBroken || delivery.deliveryCount >= MAX_DELIVERIES)
    ) {
      await setAside(parts, delivery, message);
    } else {
      parts.logger.warn({ err: error, subject: delivery.subject }, 'content could not be indexed; it is tried again');
      delivery.nak(Math.min(RETRY_MS * delivery.deliveryCount, LONGEST_RETRY_MS));
    }
  } finally {
    clearInterval(working);
  }
}

/** Gives a commit up to the operator. Content that is published later is indexed all the same: each handling looks at the latest state. */
async function setAside(parts: LogReaderParts, delivery: Delivery<ContentCommit>, reason: string): Promise<void> {
  const { subject, sequence } = delivery;
  parts.logger.error({ subject, sequence, reason }, 'a commit of the content log was set aside');
  await parts.bus.deadLetters.put({ service: 'indexer', stream: 'CONTENT', subject, sequence, reason });
  await delivery.ack();
}

export type HandlerParts = IndexingParts & { bus: Pick<BusParts, 'content'>; clock: Clock };

/** Brings the search index to where the domain's content is after this commit. The same commit again does nothing more. */
export async function handleCommit(parts: HandlerParts, commit: ContentCommit, signal: AbortSignal): Promise<void> {
  const { organization, domain } = commit.data.state;
  const current = await parts.bus.content.last(contentLogSubject(organization, domain), { fromLeader: true });
  const state = current?.commit.data.state ?? commit.data.state;
  for (const event of commit.data.events) {
    const { contentVersion } = event.data;
    // Deleted and published again since: it stays.
    const isGone = !state.versions.some((version) => version.contentVersion === contentVersion);
    if (event.type === 'ContentDeleted' && isGone)
      await removeContent(parts, { organization, domain, contentVersion }, signal);
  }
  const contentVersion = versionToIndex(state);
  if (contentVersion === undefined) return;
  const scope = { organization, domain, contentVersion };
  const passageCount = (await parts.searchIndex.passageCount(scope)) ?? (await indexContent(parts, scope, signal));
  await appendIndexed(parts, scope, passageCount, commit);
}

async function appendIndexed(
  { bus, clock, logger }: HandlerParts,
  scope: SearchScope,
  passageCount: number,
  { id, correlationId, traceparent }: ContentCommit,
): Promise<void> {
  const { events } = await handleCommand({ log: bus.content, clock, random: randomBase62 }, contentAggregate, {
    subject: contentLogSubject(scope.organization, scope.domain),
    decide: (state) => (state === undefined ? [] : indexed(state, scope.contentVersion, passageCount)),
    origin: {
      source: 'indexer',
      actor: { kind: 'service', id: 'indexer' },
      causationId: id,
      correlationId,
      traceparent,
    },
  });
  if (events.length > 0) logger.info({ ...scope, passageCount }, 'content is searched');
}
