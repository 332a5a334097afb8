import type { ProjectorContext } from '#services/projector/projection.ts';
import { startProjections } from '#services/projector/start-projections.ts';
import { systemClock } from '#shared/runtime/time-and-ids.ts';
import { testAuditKey } from './make-commit.ts';
import { testLogger } from './test-logger.ts';

/** Runs all projections until the returned function is called, which resolves when they have stopped. */
export function runProjections(
  bus: ProjectorContext['bus'],
  changes: Partial<ProjectorContext> = {},
): () => Promise<void> {
  const stop = new AbortController();
  const context = { bus, instance: 'test', logger: testLogger, clock: systemClock, auditKey: testAuditKey, ...changes };
  const running = startProjections(context, stop.signal);
  return () => (stop.abort(), running);
}
