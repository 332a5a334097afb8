import { siteModelKey } from '#shared/contracts/content-keys.ts';
import type { ExportPlan } from '#shared/contracts/export-plan.ts';
import { type FileEntry, siteModelSchema } from '#shared/docs-project/site-model.ts';
import { readPlan } from '#shared/export-objects/read-plan.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import { indexSite, type SiteIndex } from '#shared/render/page-slice.ts';
import { recent } from './recent.ts';

/** A plan with the site model that it is a plan of. */
export type PlannedSite = {
  plan: ExportPlan;
  /** Paths of all pages of the plan, in the order in which the planner had them. */
  exported: readonly string[];
  index: SiteIndex;
  /** Project files that a plan may name, by path. */
  files: ReadonlyMap<string, FileEntry>;
};

/** Gives the site of a plan; rejects when plan or model are gone, or with `ObjectStoreUnavailable`. */
export type PlannedSites = (organization: string, planHash: string) => Promise<PlannedSite>;

/** A site of 20,000 pages takes some 50 MB. */
const remembered = 4;

export function plannedSites(objectStore: ObjectStore): PlannedSites {
  const remember = recent<PlannedSite>(remembered);
  return (organization, planHash) =>
    remember(`${organization}/${planHash}`, async () => {
      const plan = await readPlan(objectStore, organization, planHash);
      const key = siteModelKey(organization, plan.domain, plan.contentVersion);
      const stored = await objectStore.get(key);
      if (stored === undefined) throw new Error(`the content version ${plan.contentVersion} was deleted`);
      const model = siteModelSchema.parse(JSON.parse(Buffer.from(stored).toString()));
      const exported = plan.chunks.flatMap((chunk) => (chunk.kind === 'pages' ? chunk.paths : []));
      const files = new Map(
        [...model.assets, ...model.styles, ...model.specs, ...model.scripts].map((file) => [file.path, file]),
      );
      return { plan, exported, index: indexSite(model, exported), files };
    });
}
