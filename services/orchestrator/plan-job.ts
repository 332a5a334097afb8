import { siteModelKey } from '#shared/contracts/content-keys.ts';
import type { ExportJobState } from '#shared/contracts/export-job-state.ts';
import { planKey } from '#shared/contracts/export-plan.ts';
import { exportSelectionSchema } from '#shared/contracts/export-selection.ts';
import { type SiteModel, siteModelSchema } from '#shared/docs-project/site-model.ts';
import { ObjectStoreUnavailable } from '#shared/object-store/object-store-unavailable.ts';
import { crashPoint } from '#shared/lifecycle/crash-point.ts';
import type { OrchestratorContext } from './context.ts';
import type { ExportCommand } from './export-command.ts';
import { makePlan } from './make-plan.ts';

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
