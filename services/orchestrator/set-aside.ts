import type { Delivery } from '#shared/event-log/durable-reader.ts';
import type { OrchestratorContext } from './context.ts';

/** Gives a message up to the operator. If that cannot be told, the message comes again. */
export async function setAside(
  { bus, logger }: Pick<OrchestratorContext, 'bus' | 'logger'>,
  stream: string,
  delivery: Delivery<unknown>,
  reason: string,
): Promise<void> {
  const { subject, sequence } = delivery;
  logger.error({ subject, reason }, 'a message was set aside');
  try {
    await bus.deadLetters.put({ service: 'orchestrator', stream, subject, sequence, reason });
    delivery.terminate(reason);
  } catch (error) {
    logger.warn({ err: error, subject }, 'a message could not be set aside; it comes again');
  }
}
