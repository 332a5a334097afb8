import type { ExportCommand } from '#shared/aggregates/export-job/decide.ts';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { exportSelectionSchema, planKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { ownAttributes, tracingOf } from '#shared/runtime/tracing.ts';
import { messageOf, Unavailable } from '#shared/runtime/failures.ts';
import { pauseAfter, type RetryPolicy } from '#shared/runtime/retry.ts';
import { DamagedObject, type ObjectStore, unlessDamaged } from '#shared/storage/object-store.ts';
import { getJson } from '#shared/storage/stored-json.ts';
import type { OrchestratorContext } from './context.ts';
import { fairQueue } from './fair-queue.ts';
import { type ActiveJob, type JobRegistry, stateOf } from './job-registry.ts';
import { type JoinedPlan, type JoinedPlans, joinedPlans } from './joined-plans.ts';
import { largeModelBytes, type PlanAnswer, UnreadableModel } from './plan-maker.ts';
import { presentChunks } from './present-chunks.ts';

/** Small plans take turns in their thread. Only one large plan is made at a time, because its model takes ten times its size in memory. */
const atOnce = { small: 4, large: 1 };
type Lane = keyof typeof atOnce;
/** Limit of the text of plans that wait for the object store. A plan beyond it is made again by each try, whose time other plans need. */
const mostUnstoredBytes = 64 * 1024 * 1024;
/** Pauses of a job that cannot be planned yet. */
const againAfter: RetryPolicy = { firstPauseMs: 1_000, longestPauseMs: 15_000 };

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
 * Plans requested jobs until `signal` aborts. Large plans have a queue of their own. Organizations take turns, so none waits for another's thousand
 * requests, and a job that cannot be planned yet waits outside of the queue.
 */
export function jobPlanner(context: OrchestratorContext, registry: () => JobRegistry, signal: AbortSignal): JobPlanner {
  const waiting = { small: fairQueue<ActiveJob>(), large: fairQueue<ActiveJob>() };
  /** Jobs that wait for their plan, in the queue or outside, or whose plan is being made. */
  const underWay = new Set<ActiveJob>();
  const failedTries = new WeakMap<ActiveJob, number>();
  const running = { small: new Set<Promise<void>>(), large: new Set<Promise<void>>() };
  const joined = joinedPlans();
  /** Plans of jobs under way, which this process made. */
  const made = new WeakMap<ActiveJob, Omit<PlannedJob, 'command'>>();
  const unstored = new Map<ActiveJob, UnstoredPlan>();

  function keepUnstored(job: ActiveJob, plan: UnstoredPlan): void {
    unstored.delete(job);
    const bytes = [...unstored.values()].reduce((sum, { text }) => sum + text.length, plan.text.length);
    if (underWay.has(job) && bytes <= mostUnstoredBytes) unstored.set(job, plan);
  }

  function begin(lane: Lane): void {
    while (running[lane].size < atOnce[lane] && !signal.aborted) {
      const job = waiting[lane].next();
      if (job === undefined) return;
      waiting[lane].remove(job);
      const done = plan(job, lane).finally(() => {
        running[lane].delete(done);
        begin(lane);
      });
      running[lane].add(done);
    }
  }

  function add(job: ActiveJob): void {
    if (underWay.has(job)) return;
    underWay.add(job);
    queue(job);
  }

  function queue(job: ActiveJob, lane: Lane = 'small'): void {
    if (!underWay.has(job) || signal.aborted) return;
    waiting[lane].put(job, stateOf(job).organizationPlan);
    begin(lane);
  }

  async function plan(job: ActiveJob, lane: Lane): Promise<void> {
    const { jobId } = job;
    try {
      const { traceparent: parent, data } = job.stored.commit;
      const attributes = ownAttributes({ jobId, organization: data.state.organization });
      const planned = await tracing.inSpan('plan', { parent, attributes }, () =>
        planJob(context, stateOf(job), joined, lane, unstored.get(job)),
      );
      signal.throwIfAborted();
      if (planned === 'large') {
        queue(job, 'large');
        return;
      }
      if (planned !== undefined && 'plan' in planned) {
        made.set(job, planned);
        if (planned.after !== undefined) job.after = planned.after;
      }
      failedTries.delete(job);
      unstored.delete(job);
      delete job.planWaitsFor;
      if (planned !== undefined) await registry().change(job, planned.command, job.stored.commit.id);
      underWay.delete(job);
      crashPoint('after-plan-commit', 'orchestrator');
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Unavailable)) {
        context.logger.error({ err: error, jobId }, 'an export cannot be planned');
        return;
      }
      context.logger.warn({ err: error, jobId }, 'an export could not be planned yet; it is retried');
      job.planWaitsFor = messageOf(error);
      if (error instanceof PlanNotStored) keepUnstored(job, error.plan);
      const tries = (failedTries.get(job) ?? 0) + 1;
      failedTries.set(job, tries);
      setTimeout(() => queue(job, lane), pauseAfter(tries, againAfter)).unref();
    }
  }

  return {
    changed(job) {
      if (stateOf(job).phase === 'requested') add(job);
    },
    replan: add,
    ended(job) {
      const state = stateOf(job);
      const planned = made.get(job);
      if (planned !== undefined && state.phase === 'completed' && state.planHash === planned.plan.planHash)
        joined.completed(state, planned.rendererVersion, planned.plan);
      underWay.delete(job);
      unstored.delete(job);
      waiting.small.remove(job);
      waiting.large.remove(job);
    },
    async settled() {
      await Promise.all([...running.small, ...running.large]);
    },
  };
}

const tracing = tracingOf('orchestrator');

type PlanContext = Pick<OrchestratorContext, 'objectStore' | 'renderers' | 'rendererVersion' | 'logger' | 'plans'>;

type PlannedJob = {
  command: ExportCommand;
  rendererVersion: string;
  plan: Omit<PlanAnswer, 'text'>;
  after: string | undefined;
};

/** A plan that was made for a renderer version, with its bytes for the store. */
type UnstoredPlan = { rendererVersion: string; plan: JoinedPlan['plan']; text: Buffer };

/** The plan was made, but the object store does not take it now, for example because its disk is full. The next try stores the same plan. */
class PlanNotStored extends Unavailable {
  override name = 'PlanNotStored';
  /** Private, because loggers write the properties of errors. */
  readonly #plan: UnstoredPlan;

  constructor(plan: UnstoredPlan, cause: Unavailable) {
    super(messageOf(cause), { cause });
    this.#plan = plan;
  }

  get plan(): UnstoredPlan {
    return this.#plan;
  }
}

/**
 * Makes and stores the plan of a job, or stores the one that an earlier try made. Returns it with the command `Plan` or, for a job with a plan,
 * `Replan`; or only the command `Fail` with the reason; or nothing, if the renderers of its plan have come back. Resolves with `large` if the job has to
 * wait for the turn of a large plan. Rejects with `Unavailable` if it should be retried.
 */
async function planJob(
  context: PlanContext,
  state: ExportJobState,
  joined: JoinedPlans,
  lane: Lane,
  unstored: UnstoredPlan | undefined,
): Promise<PlannedJob | { command: ExportCommand } | 'large' | undefined> {
  const { rendererVersion: replacedVersion, jobId, organization } = state;
  const rendererVersion = context.renderers.chooseVersion(context.rendererVersion);
  if (replacedVersion !== undefined) {
    const isGone = context.renderers.liveSlots(replacedVersion) === 0;
    if (!isGone || context.renderers.liveSlots(rendererVersion) === 0) return undefined;
  }
  // A replay shows that the same input gives the same bytes, so its plan is made without an earlier one.
  const known = state.replayOf === undefined ? joined.of(state, rendererVersion) : undefined;
  try {
    const plan =
      (unstored?.rendererVersion === rendererVersion ? await stored(context, organization, unstored) : undefined) ??
      (known?.isOf(state) === true ? await keptPlan(context, organization, known.plan) : undefined) ??
      (await newPlan(context, state, rendererVersion, lane));
    if (plan === 'large') return plan;
    if ('failed' in plan) return { command: { type: 'Fail', error: plan.failed } };
    crashPoint('after-plan-object', 'orchestrator');
    const { planHash, pageTotal, chunks } = plan;
    const present =
      state.replayOf === undefined ? await presentChunks(context.objectStore, organization, chunks, known?.keys) : [];
    const made = { planHash, rendererVersion, chunkCount: chunks.length, pageTotal, present };
    const planned = { rendererVersion, plan, after: known?.plan.planHash };
    if (replacedVersion === undefined) return { ...planned, command: { type: 'Plan', ...made } };
    context.logger.warn(
      { jobId, replacedVersion, rendererVersion },
      'an export is planned again, because no renderer of its version is live',
    );
    return { ...planned, command: { type: 'Replan', replacedVersion, ...made } };
  } catch (error) {
    if (error instanceof Unavailable) throw error;
    return { command: { type: 'Fail', error: `The export could not be planned: ${messageOf(error).slice(0, 500)}.` } };
  }
}

/** Stores the plan again and returns it; undefined if its object is gone or damaged. */
async function keptPlan(
  { objectStore }: PlanContext,
  organization: string,
  plan: JoinedPlan['plan'],
): Promise<JoinedPlan['plan'] | undefined> {
  const text = await unlessDamaged(objectStore.get(planKey(organization, plan.planHash)));
  if (text === undefined || sha256Of(text) !== plan.planHash) return undefined;
  await storePlan(objectStore, organization, plan.planHash, text);
  return plan;
}

/** A plan that is made from the site model, or the error with which the job fails; `large` if the model is too large for the lane of small plans. */
async function newPlan(
  context: PlanContext,
  state: ExportJobState,
  rendererVersion: string,
  lane: Lane,
): Promise<JoinedPlan['plan'] | { failed: string } | 'large'> {
  const { contentVersion, organization } = state;
  const advice = 'Publish the documentation again and start a new export.';
  const unreadable = `Content version ${contentVersion} was published in a form that this version cannot read. ${advice}`;
  const { objectStore, plans } = context;
  try {
    const sizeBytes = (await objectStore.head(siteModelKey(state)))?.sizeBytes ?? 0;
    if (sizeBytes > plans.mostModelBytes) return { failed: tooLarge(sizeBytes, plans.mostModelBytes) };
    if (lane === 'small' && sizeBytes > largeModelBytes) return 'large';
    const model = await objectStore.get(siteModelKey(state));
    if (model === undefined) return { failed: `The files of content version ${contentVersion} are missing. ${advice}` };
    const selection = await readSelection(context, state.options.selectionKey);
    if (typeof selection === 'string') return { failed: selection };
    const { domain, label, options } = state;
    const { text, ...plan } = await plans.make({
      ...{ organization, domain, contentVersion, label, options, rendererVersion, selection, model },
      anew: state.replayOf !== undefined,
    });
    return await stored(context, organization, { rendererVersion, plan, text: Buffer.from(text) });
  } catch (error) {
    if (error instanceof DamagedObject || error instanceof UnreadableModel) return { failed: unreadable };
    throw error;
  }
}

/** Stores a plan that was just made. Rejects with `PlanNotStored` while the store is unavailable. */
async function stored(
  { objectStore }: PlanContext,
  organization: string,
  made: UnstoredPlan,
): Promise<JoinedPlan['plan']> {
  try {
    await storePlan(objectStore, organization, made.plan.planHash, made.text);
    return made.plan;
  } catch (error) {
    throw error instanceof Unavailable ? new PlanNotStored(made, error) : error;
  }
}

function tooLarge(sizeBytes: number, mostBytes: number): string {
  const [size, most] = [sizeBytes, mostBytes].map((bytes) => Math.ceil(bytes / 1_000_000));
  return `The site model has ${size} MB, and the memory of this orchestrator allows ${most} MB. Ask the operator to give it more, or publish a smaller site.`;
}

/** Stores a plan again even if it exists, because garbage collection goes by the age of objects that the log does not name yet. */
const storePlan = (objectStore: ObjectStore, organization: string, planHash: string, text: Uint8Array): Promise<void> =>
  objectStore.put(planKey(organization, planHash), text, { contentType: 'application/json' });

async function readSelection(
  { objectStore }: PlanContext,
  key: string | undefined,
): Promise<string[] | undefined | string> {
  if (key === undefined) return undefined;
  const selection = await getJson(objectStore, key, exportSelectionSchema);
  return selection?.paths ?? 'The list of pages to export is missing. Start a new export.';
}
