import { type ExportPlan, exportPlanSchema, planKey } from '#shared/contracts/export-plan.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';

/** The export plan of that hash. Rejects when there is none, or with `ObjectStoreUnavailable`. */
export async function readPlan(
  objectStore: ObjectStore,
  organization: string,
  planHash: string,
  signal?: AbortSignal,
): Promise<ExportPlan> {
  const key = planKey(organization, planHash);
  const stored = await objectStore.get(key, signal === undefined ? {} : { signal });
  if (stored === undefined) throw new Error(`the export plan ${key} is gone`);
  return exportPlanSchema.parse(JSON.parse(Buffer.from(stored).toString()));
}
