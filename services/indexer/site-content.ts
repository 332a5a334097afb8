import { blobKey, siteModelKey } from '#shared/contracts/content-keys.ts';
import { type SiteModel, siteModelSchema } from '#shared/docs-project/site-model.ts';
import type { ObjectStore } from '#shared/object-store/object-store.ts';
import type { SearchScope } from '#shared/search/search-index.ts';

/** The published content lacks something that it must have: no later try will find it. */
export class ContentBroken extends Error {
  override name = 'ContentBroken';
}

const STORE_DEADLINE_MS = 30_000;
const CACHED_CHARACTERS = 16 * 1024 * 1024;

/** The files of one content version as the indexer needs them. */
export type SiteContent = {
  model: SiteModel;
  source(file: { path: string; sha256: string }, signal: AbortSignal): Promise<Uint8Array>;
  /** Text of these files and of all that they import, by path. */
  dependencies(paths: readonly string[], signal: AbortSignal): Promise<Record<string, string>>;
};

/** Throws `ContentBroken` when there is no readable site model. */
export async function openSiteContent(
  objects: ObjectStore,
  scope: SearchScope,
  signal: AbortSignal,
): Promise<SiteContent> {
  const model = await readModel(objects, scope, signal);
  const snippets = new Map([...model.specs, ...model.snippets].map((file) => [file.path, file]));
  const importsOf = new Map(model.snippets.map((file) => [file.path, file.dependencies]));
  const texts = new Map<string, string>();
  let cached = 0;

  const source: SiteContent['source'] = async ({ path, sha256 }, stop) => {
    const bytes = await objects.get(blobKey(scope.organization, sha256), { signal: within(stop) });
    if (!bytes) throw new ContentBroken(`The file "${path}" of ${scope.contentVersion} is not in the object store.`);
    return bytes;
  };

  return {
    model,
    source,
    async dependencies(paths, stop) {
      const found: Record<string, string> = {};
      const pending = [...paths];
      for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
        const file = snippets.get(path);
        if (!file || Object.hasOwn(found, path)) continue;
        let text = texts.get(path);
        if (text === undefined) {
          text = Buffer.from(await source(file, stop)).toString('utf8');
          cached += text.length;
          if (cached <= CACHED_CHARACTERS) texts.set(path, text);
        }
        found[path] = text;
        pending.push(...(importsOf.get(path) ?? []));
      }
      return found;
    },
  };
}

async function readModel(objects: ObjectStore, scope: SearchScope, signal: AbortSignal): Promise<SiteModel> {
  const { organization, domain, contentVersion } = scope;
  const key = siteModelKey(organization, domain, contentVersion);
  const bytes = await objects.get(key, { signal: within(signal) });
  if (!bytes) throw new ContentBroken(`There is no site model ${key} in the object store.`);
  try {
    return siteModelSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch (error) {
    throw new ContentBroken(`The site model ${key} cannot be read: ${(error as Error).message.slice(0, 500)}`, {
      cause: error,
    });
  }
}

const within = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(STORE_DEADLINE_MS)]);
