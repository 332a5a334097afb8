import type { ExportCommand } from '#shared/aggregates/export-job/decide.ts';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { exportSelectionSchema, planKey } from '#shared/contracts/stored-objects.ts';
import { readSiteModel, type SiteModel } from '#shared/docs/project/site-model.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { ownAttributes, tracingOf } from '#shared/runtime/tracing.ts';
import { messageOf, Unavailable } from '#shared/runtime/failures.ts';
import { BrokenObject, getJson } from '#shared/storage/stored-json.ts';
import type { OrchestratorContext } from './context.ts';
import { fairQueue } from './fair-queue.ts';
import { type ActiveJob, type JobRegistry, stateOf } from './job-registry.ts';
import { makePlan } from './make-plan.ts';
import { presentChunks } from './present-chunks.ts';

const atOnce = 2;
const againAfterMs = 1_000;

export type JobPlanner = {
  /** Plans the job if it has no plan. */
  changed(job: ActiveJob): void;
  /** Replans a job whose renderers are gone, for a version that has live ones. */
  replan(job: ActiveJob): void;
  ended(job: ActiveJob): void;
  /** Resolves when no plan is being made. */
  settled(): Promise<void>;
};

/**
 * Plans requested jobs, two at a time, until `signal` aborts. Organizations take turns, so none waits for another's thousand requests, and a job that
 * cannot be planned yet waits outside of the queue.
 */
export function jobPlanner(context: OrchestratorContext, registry: () => JobRegistry, signal: AbortSignal): JobPlanner {
  const waiting = fairQueue<ActiveJob>();
  /** Jobs that wait for their plan, in the queue or outside, or whose plan is being made. */
  const underWay = new Set<ActiveJob>();
  const running = new Set<Promise<void>>();

  function begin(): void {
    while (running.size < atOnce && !signal.aborted) {
      const job = waiting.next();
      if (job === undefined) return;
      waiting.remove(job);
      const done = plan(job).finally(() => {
        running.delete(done);
        begin();
      });
      running.add(done);
    }
  }

  function add(job: ActiveJob): void {
    if (underWay.has(job)) return;
    underWay.add(job);
    queue(job);
  }

  function queue(job: ActiveJob): void {
    if (!underWay.has(job) || signal.aborted) return;
    waiting.put(job, stateOf(job).organizationPlan);
    begin();
  }

  async function plan(job: ActiveJob): Promise<void> {
    const { jobId } = job;
    try {
      const { traceparent: parent, data } = job.stored.commit;
      const attributes = ownAttributes({ jobId, organization: data.state.organization });
      const command = await tracing.inSpan('plan', { parent, attributes }, () => planJob(context, stateOf(job)));
      signal.throwIfAborted();
      if (command !== undefined) await registry().change(job, command, job.stored.commit.id);
      underWay.delete(job);
      crashPoint('after-plan-commit', 'orchestrator');
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Unavailable)) {
        context.logger.error({ err: error, jobId }, 'an export cannot be planned');
        return;
      }
      context.logger.warn({ err: error, jobId }, 'an export could not be planned yet; it is tried again');
      setTimeout(() => queue(job), againAfterMs).unref();
    }
  }

  return {
    changed(job) {
      if (stateOf(job).phase === 'requested') add(job);
    },
    replan: add,
    ended(job) {
      underWay.delete(job);
      waiting.remove(job);
    },
    async settled() {
      await Promise.all(running);
    },
  };
}

const tracing = tracingOf('orchestrator');

type PlanContext = Pick<OrchestratorContext, 'objectStore' | 'renderers' | 'rendererVersion' | 'logger'>;

/**
 * Makes and stores the plan of a job. Returns the command `Plan` or, for a job with a plan, `Replan`; the command `Fail` with the reason; or nothing,
 * if the renderers of its plan have come back. Rejects with `Unavailable` if it should be retried.
 */
async function planJob(context: PlanContext, state: ExportJobState): Promise<ExportCommand | undefined> {
  const { rendererVersion: replacedVersion, jobId } = state;
  const rendererVersion = context.renderers.chooseVersion(context.rendererVersion);
  if (replacedVersion !== undefined) {
    const isGone = context.renderers.liveSlots(replacedVersion) === 0;
    if (!isGone || context.renderers.liveSlots(rendererVersion) === 0) return undefined;
  }
  try {
    const model = await readModel(context, state);
    if (typeof model === 'string') return { type: 'Fail', error: model };
    const selection = await readSelection(context, state.options.selectionKey);
    if (typeof selection === 'string') return { type: 'Fail', error: selection };
    const { plan, planHash, text } = await makePlan({ ...state, model, selection, rendererVersion });
    // Stored again even if it exists, because garbage collection goes by the age of objects that the log does not name yet.
    await context.objectStore.put(planKey(state.organization, planHash), Buffer.from(text), {
      contentType: 'application/json',
    });
    crashPoint('after-plan-object', 'orchestrator');
    // A replay proves that the same bytes are made again, so it makes them.
    const present = state.replayOf === undefined ? await presentChunks(context.objectStore, plan) : [];
    const made = { planHash, rendererVersion, chunkCount: plan.chunks.length, pageTotal: plan.pageTotal, present };
    if (replacedVersion === undefined) return { type: 'Plan', ...made };
    context.logger.warn(
      { jobId, replacedVersion, rendererVersion },
      'an export is planned again: its renderers are gone',
    );
    return { type: 'Replan', replacedVersion, ...made };
  } catch (error) {
    if (error instanceof Unavailable) throw error;
    return { type: 'Fail', error: `The export could not be planned: ${messageOf(error).slice(0, 500)}.` };
  }
}

/** The site model, or the error with which the job fails. */
async function readModel({ objectStore }: PlanContext, state: ExportJobState): Promise<SiteModel | string> {
  const { contentVersion } = state;
  const advice = 'Publish the documentation again and start a new export.';
  try {
    const model = await readSiteModel(objectStore, state);
    return model ?? `The files of content version ${contentVersion} are gone. ${advice}`;
  } catch (error) {
    if (!(error instanceof BrokenObject)) throw error;
    return `Content version ${contentVersion} was published in a form that this version cannot read. ${advice}`;
  }
}

async function readSelection(
  { objectStore }: PlanContext,
  key: string | undefined,
): Promise<string[] | undefined | string> {
  if (key === undefined) return undefined;
  const selection = await getJson(objectStore, key, exportSelectionSchema);
  return selection?.paths ?? 'The list of pages to export is gone. Start a new export.';
}
