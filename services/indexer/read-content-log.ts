import { setTimeout } from 'node:timers/promises';
import type { Bus } from '#shared/bus/bus.ts';
import type { ContentCommit } from '#shared/contracts/content-events.ts';
import type { Delivery } from '#shared/event-log/durable-reader.ts';
import { UnknownEvent } from '#shared/event-log/unknown-event.ts';
import { handleCommit, type HandlerParts } from './handle-commit.ts';
import { ContentBroken } from './site-content.ts';

export type LogReaderParts = HandlerParts & { bus: Pick<Bus, 'content' | 'readers' | 'deadLetters'> };

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
      const reader = await parts.bus.readers.indexerContent();
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
