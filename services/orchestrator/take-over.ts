import type { OrchestratorContext } from './context.ts';
import { lastCommit } from './append-decision.ts';
import type { JobDesk } from './job-desk.ts';
import { isActive } from './job-phase.ts';

const atOnce = 16;

/** Puts the jobs that were active under the leader before on the desk, each at its last commit. */
export async function takeOver(context: OrchestratorContext, desk: JobDesk, signal: AbortSignal): Promise<void> {
  const keys = await context.bus.documents.activeJobs.keys();
  const waiting = [...keys];
  const take = async (): Promise<void> => {
    for (let key = waiting.shift(); key !== undefined && !signal.aborted; key = waiting.shift()) {
      await takeOne(context, desk, key);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, take));
  if (keys.length > 0) context.logger.info({ jobs: keys.length }, 'took over the active jobs');
}

async function takeOne(context: OrchestratorContext, desk: JobDesk, key: string): Promise<void> {
  const [organization = '', jobId = ''] = key.split('.');
  try {
    const stored = await lastCommit(context, organization, jobId);
    if (stored !== undefined && isActive(stored.commit.data.state.phase)) desk.take(stored);
    else await context.bus.documents.activeJobs.remove(key);
  } catch (error) {
    context.logger.error({ err: error, jobId }, 'a job could not be taken over; its next fact tries again');
  }
}
