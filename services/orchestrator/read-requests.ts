import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import { jobStatusKey } from '#shared/contracts/read-model-keys.ts';
import type { Delivery } from '#shared/event-log/durable-reader.ts';
import { UnknownEvent } from '#shared/event-log/unknown-event.ts';
import { lastCommit } from './append-decision.ts';
import type { OrchestratorContext } from './context.ts';
import type { JobDesk } from './job-desk.ts';
import { isActive } from './job-phase.ts';
import { setAside } from './set-aside.ts';

const retryAfterMs = 1_000;

/** Learns of new jobs until `signal` aborts: each is put among the active jobs before its request is acknowledged. */
export async function readRequests(context: OrchestratorContext, desk: JobDesk, signal: AbortSignal): Promise<void> {
  const reader = await context.bus.readers.orchestratorExports();
  while (!signal.aborted) {
    const delivery = await reader.next({ signal });
    if (delivery === undefined) continue;
    try {
      await handle(context, desk, delivery);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof UnknownEvent) await setAside(context, 'EXPORTS', delivery, error.message);
      else {
        context.logger.warn({ err: error, subject: delivery.subject }, 'a request could not be taken; it comes again');
        delivery.nak(retryAfterMs);
      }
    }
  }
}

async function handle(context: OrchestratorContext, desk: JobDesk, delivery: Delivery<ExportCommit>): Promise<void> {
  const { value: commit, sequence } = delivery;
  if (commit === undefined) throw new UnknownEvent(delivery.problem ?? 'The commit cannot be read.');
  // All later commits are our own.
  const isRequest = commit.data.events.some(({ type }) => type === 'ExportRequested');
  const { organization, jobId, createdAt } = commit.data.state;
  if (isRequest && desk.jobs.get(jobId) === undefined) {
    // A request that comes again may be one that another leader has long dealt with.
    const stored = delivery.deliveryCount === 1 ? { commit, sequence } : await lastCommit(context, organization, jobId);
    if (stored !== undefined && isActive(stored.commit.data.state.phase)) {
      await context.bus.documents.activeJobs.put(jobStatusKey(organization, jobId), { organization, jobId, createdAt });
      desk.take(stored);
    }
  }
  await delivery.ack();
}
