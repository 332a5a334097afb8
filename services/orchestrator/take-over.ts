import { setTimeout } from 'node:timers/promises';
import { UnknownEvent } from '#shared/event-log/unknown-event.ts';
import type { OrchestratorContext } from './context.ts';
import { lastCommit } from './append-decision.ts';
import type { JobDesk } from './job-desk.ts';
import { isActive } from './job-phase.ts';

type TakeOverContext = Pick<OrchestratorContext, 'bus' | 'logger'>;
type TakeOverDesk = Pick<JobDesk, 'take'>;

const atOnce = 16;
const retryAfterMs = 1_000;

/** Puts the jobs that were active under the leader before on the desk, each at its last commit. */
export async function takeOver(context: TakeOverContext, desk: TakeOverDesk, signal: AbortSignal): Promise<void> {
  const keys = await context.bus.documents.activeJobs.keys();
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
      else await context.bus.documents.activeJobs.remove(key);
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
