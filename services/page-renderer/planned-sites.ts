import { LRUCache } from 'lru-cache';
import type { ExportPlan } from '#shared/contracts/stored-objects.ts';
import { type FileEntry, readSiteModel } from '#shared/docs/project/site-model.ts';
import { indexSite, type SiteIndex } from '#shared/docs/render/site-index.ts';
import { readPlan } from '#shared/export/export-objects.ts';
import { readBlob } from '#shared/export/read-blob.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

/** A plan with its site model. */
export type PlannedSite = {
  plan: ExportPlan;
  /** Paths of all pages, in the order of the plan. */
  exported: readonly string[];
  index: SiteIndex;
  /** Project files that a plan may name, by path. */
  files: ReadonlyMap<string, FileEntry>;
};

/** Returns the site of a plan; rejects when plan or model are gone, or with `ObjectStoreUnavailable`. */
export type PlannedSites = (organization: string, planHash: string) => Promise<PlannedSite>;

/** Cache size. A site of 20,000 pages takes about 50 MB. */
const rememberedSites = 4;

export function plannedSites(objectStore: ObjectStore): PlannedSites {
  const remember = recent<PlannedSite>(rememberedSites);
  return (organization, planHash) =>
    remember(`${organization}/${planHash}`, async () => {
      const plan = await readPlan(objectStore, organization, planHash);
      const model = await readSiteModel(objectStore, { ...plan, organization });
      if (model === undefined) throw new Error(`the content version ${plan.contentVersion} was deleted`);
      const exported = plan.chunks.flatMap((chunk) => (chunk.kind === 'pages' ? chunk.paths : []));
      const files = new Map(
        [...model.assets, ...model.styles, ...model.specs, ...model.scripts].map((file) => [file.path, file]),
      );
      return { plan, exported, index: indexSite(model, exported), files };
    });
}

/** Returns the text of a snippet or an API specification, which many pages share. Rejects when it is gone, or with `ObjectStoreUnavailable`. */
export type ProjectTexts = (organization: string, sha256: string) => Promise<string>;

/** Cache size in characters. */
const rememberedCharacters = 16_000_000;

export function projectTexts(objectStore: ObjectStore): ProjectTexts {
  const remember = recent<string>(rememberedCharacters, (text) => text.length + 1);
  return (organization, sha256) =>
    remember(`${organization}/${sha256}`, async () => {
      const stored = await readBlob(objectStore, organization, sha256);
      if (stored === undefined) throw new Error(`the file ${sha256} of the project is gone`);
      return Buffer.from(stored).toString();
    });
}

/**
 * Caches recently used values by key; concurrent callers of the same key share the work. A failure is not cached. `budget` is in the unit of
 * `costOf`, which returns positive integers.
 */
export function recent<V extends object | string>(budget: number, costOf: (value: V) => number = () => 1) {
  const cache = new LRUCache<string, V, () => Promise<V>>({
    maxSize: budget,
    sizeCalculation: costOf,
    fetchMethod: (_key, _stale, { context: make }) => make(),
    // A value that is evicted before it arrives is still returned to its callers.
    ignoreFetchAbort: true,
  });
  return (key: string, make: () => Promise<V>): Promise<V> => cache.forceFetch(key, { context: make });
}
