import { setTimeout } from 'node:timers/promises';
import type { ExportCommand } from '#shared/aggregates/export-job/decide.ts';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { exportSelectionSchema, planKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { type SiteModel, siteModelSchema } from '#shared/docs/project/site-model.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { ObjectStoreUnavailable } from '#shared/storage/object-store.ts';
import type { OrchestratorContext } from './context.ts';
import { type ActiveJob, type JobDesk, stateOf } from './job-registry.ts';
import { makePlan } from './make-plan.ts';

const atOnce = 2;
const retryAfterMs = 1_000;

/** Plans requested jobs in the order they come, two at a time, until `signal` aborts. */
export function jobPlanner(context: OrchestratorContext, desk: () => JobDesk, signal: AbortSignal) {
  const queue: ActiveJob[] = [];
  const planned = new Set<string>();
  const running = new Set<Promise<void>>();

  function begin(): void {
    while (running.size < atOnce && queue.length > 0 && !signal.aborted) {
      const done = plan(queue.shift() as ActiveJob).finally(() => {
        running.delete(done);
        begin();
      });
      running.add(done);
    }
  }

  async function plan(job: ActiveJob): Promise<void> {
    try {
      while (stateOf(job).phase === 'requested') {
        const command = await planJob(context, stateOf(job)).catch((error: unknown) => {
          context.logger.warn({ err: error, jobId: job.jobId }, 'an export could not be planned; it is tried again');
          return undefined;
        });
        if (command === undefined) await setTimeout(retryAfterMs, undefined, { signal });
        else {
          await desk().change(job, command, job.stored.commit.id);
          crashPoint('after-plan-commit', 'orchestrator');
          return;
        }
      }
    } catch (error) {
      if (!signal.aborted) context.logger.error({ err: error, jobId: job.jobId }, 'an export cannot be planned');
    }
  }

  return {
    /** Plans the job if it still has to be. */
    changed(job: ActiveJob): void {
      if (stateOf(job).phase !== 'requested' || planned.has(job.jobId)) return;
      planned.add(job.jobId);
      queue.push(job);
      begin();
    },
    ended: (job: ActiveJob): void => void planned.delete(job.jobId),
    /** Answers when no plan is being made. */
    async settled(): Promise<void> {
      await Promise.all(running);
    },
  };
}

type PlanContext = Pick<OrchestratorContext, 'objectStore' | 'renderers' | 'rendererVersion'>;

/**
 * Makes and stores the plan of a requested job. Gives the command that says so, or the one that fails the job with the reason. Rejects with
 * `ObjectStoreUnavailable` when it should be tried again.
 */
export async function planJob(context: PlanContext, state: ExportJobState): Promise<ExportCommand> {
  try {
    const model = await readModel(context, state);
    if (typeof model === 'string') return { type: 'Fail', error: model };
    const selection = await readSelection(context, state.options.selectionKey);
    if (typeof selection === 'string') return { type: 'Fail', error: selection };
    const rendererVersion = context.renderers.chooseVersion(context.rendererVersion);
    const { plan, planHash, text } = await makePlan({ ...state, model, selection, rendererVersion });
    // Also when it is there: housekeeping goes by the age of what the log does not name yet.
    await context.objectStore.put(planKey(state.organization, planHash), Buffer.from(text), {
      contentType: 'application/json',
    });
    crashPoint('after-plan-object', 'orchestrator');
    const { chunks, pageTotal } = plan;
    return { type: 'Plan', planHash, rendererVersion, chunkCount: chunks.length, pageTotal };
  } catch (error) {
    if (error instanceof ObjectStoreUnavailable) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return { type: 'Fail', error: `The export could not be planned: ${reason.slice(0, 500)}.` };
  }
}

/** The model, or the sentence that the job fails with. */
async function readModel({ objectStore }: PlanContext, state: ExportJobState): Promise<SiteModel | string> {
  const { organization, domain, contentVersion } = state;
  const stored = await objectStore.get(siteModelKey(organization, domain, contentVersion));
  if (stored === undefined) {
    return `The files of content version ${contentVersion} are gone. Publish the documentation again and start a new export.`;
  }
  const parsed = siteModelSchema.safeParse(JSON.parse(Buffer.from(stored).toString()));
  if (parsed.success) return parsed.data;
  return `Content version ${contentVersion} was published in a form that this version cannot read. Publish the documentation again and start a new export.`;
}

async function readSelection(
  { objectStore }: PlanContext,
  key: string | undefined,
): Promise<string[] | undefined | string> {
  if (key === undefined) return undefined;
  const stored = await objectStore.get(key);
  if (stored === undefined) return 'The list of pages to export is gone. Start a new export.';
  return exportSelectionSchema.parse(JSON.parse(Buffer.from(stored).toString())).paths;
}
