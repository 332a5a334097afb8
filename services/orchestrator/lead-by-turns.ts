import { setTimeout } from 'node:timers/promises';
import type { OrchestratorContext } from './context.ts';
import { lead } from './lead.ts';

const retryAfterMs = 1_000;

/** Leads whenever it can get the lease, until `signal` aborts. A paused leader that wakes finds the lease lost, and the log's guard before that. */
export async function leadByTurns(context: OrchestratorContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const lease = await context.bus.leases.acquire('orchestrator', context.instance, signal);
      context.logger.info('leads');
      try {
        await lead(context, AbortSignal.any([signal, lease.lost]));
      } finally {
        await lease.release();
      }
    } catch (error) {
      if (signal.aborted) return;
      context.logger.warn({ err: error }, 'stopped leading; it tries to lead again');
      await setTimeout(retryAfterMs, undefined, { signal }).catch(() => {});
    }
  }
}
