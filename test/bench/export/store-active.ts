import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { jobStatusKey } from '#shared/interfaces/read-models.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { exportCommit } from '../../support/make-commit.ts';
import type { TestBus } from '../../support/start-bus.ts';

/** Makes active jobs, as a previous leader leaves them. */
export async function storeActive(bus: TestBus, states: readonly ExportJobState[]): Promise<void> {
  const orchestrator = await bus.connect('orchestrator', 'maker');
  await inParallel(states, 64, async (state) => {
    const { organization, jobId, createdAt } = state;
    await orchestrator.exports.append(exportCommit(state), { sequence: 0 });
    await orchestrator.activeJobs.put(jobStatusKey(organization, jobId), { organization, jobId, createdAt });
  });
}
