import { LRUCache } from 'lru-cache';
import { readSiteModelParts, type SiteModelParts } from '#shared/docs/project/site-model-parts.ts';
import { readBlob } from '#shared/export/read-blob.ts';
import { Poison } from '#shared/runtime/failures.ts';
import type { SearchScope } from '#shared/search/search-index.ts';
import { type ObjectStore, storeWithin } from '#shared/storage/object-store.ts';
import { BrokenObject } from '#shared/storage/stored-json.ts';
import type { SiteContent } from './site-pages.ts';

/** The published content lacks a required object, so a retry cannot succeed. */
class ContentBroken extends Poison {
  override name = 'ContentBroken';
}

const storeDeadlineMs = 30_000;
const cachedCharacters = 16 * 1024 * 1024;

/** A content version in the object store. Throws `ContentBroken` if it has no readable site model. */
export async function openStoredContent(
  objectStore: Pick<ObjectStore, 'get'>,
  scope: SearchScope,
  signal: AbortSignal,
): Promise<SiteContent> {
  const model = await readModel(objectStore, scope, signal);
  const texts = new LRUCache<string, string>({
    maxSize: cachedCharacters,
    sizeCalculation: (text) => text.length + 1,
  });

  const source: SiteContent['source'] = async ({ path, sha256 }, stop) => {
    const bytes = await readBlob(objectStore, scope.organization, sha256, { signal: within(stop) });
    if (!bytes) throw new ContentBroken(`The file "${path}" of ${scope.contentVersion} is not in the object store.`);
    return bytes;
  };

  return {
    ...model,
    pages: () => orContentBroken(model.pages()),
    source,
    async text(file, stop) {
      const text = texts.get(file.path) ?? Buffer.from(await source(file, stop)).toString('utf8');
      texts.set(file.path, text);
      return text;
    },
  };
}

async function readModel(
  objectStore: Pick<ObjectStore, 'get'>,
  scope: SearchScope,
  signal: AbortSignal,
): Promise<SiteModelParts> {
  try {
    const model = await readSiteModelParts(objectStore, scope, { signal: within(signal) });
    if (model !== undefined) return model;
  } catch (error) {
    throw contentBroken(error);
  }
  throw new ContentBroken(`There is no site model of ${scope.contentVersion} in the object store.`);
}

function* orContentBroken<T>(pages: Iterable<T>): Generator<T> {
  try {
    yield* pages;
  } catch (error) {
    throw contentBroken(error);
  }
}

const contentBroken = (error: unknown): unknown =>
  error instanceof BrokenObject ? new ContentBroken(error.message, { cause: error }) : error;

const within = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, storeWithin(storeDeadlineMs)]);
