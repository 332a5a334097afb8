import { setTimeout } from 'node:timers/promises';
import { type ExportCommit, isActive } from '#shared/aggregates/export-job/export-job.ts';
import { jobStatusKey } from '#shared/contracts/read-models.ts';
import type { Delivery } from '#shared/messaging/durable-reader.ts';
import { UnknownEvent } from '#shared/messaging/parse-message.ts';
import type { OrchestratorContext } from './context.ts';
import { type JobDesk, lastCommit } from './job-registry.ts';
import { setAside } from './read-facts.ts';

type TakeOverContext = Pick<OrchestratorContext, 'bus' | 'logger'>;
type TakeOverDesk = Pick<JobDesk, 'take'>;

const atOnce = 16;
const retryAfterMs = 1_000;

/** Puts the jobs that were active under the leader before on the desk, each at its last commit. */
export async function takeOver(context: TakeOverContext, desk: TakeOverDesk, signal: AbortSignal): Promise<void> {
  const keys = await context.bus.activeJobs.keys();
  const waiting = [...keys];
  const take = async (): Promise<void> => {
    for (let key = waiting.shift(); key !== undefined && !signal.aborted; key = waiting.shift()) {
      await takeOne(context, desk, key, signal);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, take));
  if (keys.length > 0) context.logger.info({ jobs: keys.length }, 'took over the active jobs');
}

/** Keeps at it while the bus is away: a job that nothing is in hand of has no fact to come that would bring it back. */
async function takeOne(context: TakeOverContext, desk: TakeOverDesk, key: string, signal: AbortSignal): Promise<void> {
  const [organization = '', jobId = ''] = key.split('.');
  for (;;) {
    try {
      const stored = await lastCommit(context, organization, jobId);
      if (stored !== undefined && isActive(stored.commit.data.state.phase)) desk.take(stored);
      else await context.bus.activeJobs.remove(key);
      return;
    } catch (error) {
      if (error instanceof UnknownEvent) {
        context.logger.error({ err: error, jobId }, 'a job cannot be taken over: this program cannot read its log');
        return;
      }
      context.logger.warn({ err: error, jobId }, 'a job could not be taken over; it is tried again');
      await setTimeout(retryAfterMs, undefined, { signal });
    }
  }
}

/** Learns of new jobs until `signal` aborts: each is put among the active jobs before its request is acknowledged. */
export async function readRequests(context: OrchestratorContext, desk: JobDesk, signal: AbortSignal): Promise<void> {
  const reader = await context.bus.exportReader();
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
      await context.bus.activeJobs.put(jobStatusKey(organization, jobId), { organization, jobId, createdAt });
      desk.take(stored);
    }
  }
  await delivery.ack();
}
