import { LRUCache } from 'lru-cache';
import { blobKey, pageMarkdownKey, pageMarkdownPrefix } from '#shared/contracts/stored-objects.ts';
import { type PageEntry, readSiteModel, type SiteModel } from '#shared/docs/project/site-model.ts';
import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import { ChildDied, ChildRequestFailed } from '#shared/docs/sandbox/child.ts';
import { Poison } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { SearchIndex, SearchScope } from '#shared/search/search-index.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { BrokenObject } from '#shared/storage/stored-json.ts';
import type { CutPage, PageToRead } from './read-page.ts';
import { defaultDivisions, searchPage } from './search-page.ts';

export type IndexingContext = {
  objectStore: ObjectStore;
  searchIndex: SearchIndex;
  pool: Pick<ChildPool, 'run'>;
  slots: number;
  logger: Logger;
};

/** Held in memory together. */
const pagesAtOnce = 64;
const pageDeadlineMs = 20_000;

/**
 * Fills the search index with the pages of a content version that the assistant may see, and stores their Markdown. Answers the number of
 * passages. A page that cannot be read is found by its title and description. Throws `ContentBroken` when no later try can work.
 */
export async function indexContent(context: IndexingContext, scope: SearchScope, signal: AbortSignal): Promise<number> {
  const content = await openSiteContent(context.objectStore, scope, signal);
  const pages = content.model.pages.filter((page) => page.searchable);
  const defaults = defaultDivisions(content.model.navigation);
  const build = await context.searchIndex.startBuild(scope);
  try {
    for (let at = 0; at < pages.length; at += pagesAtOnce) {
      const batch = pages.slice(at, at + pagesAtOnce);
      const cut = await inParallel(batch, context.slots * 2, (page) => cutPage(context, scope, content, page, signal));
      await build.add(batch.map((page, position) => searchPage(page, cut[position]?.passages ?? [], defaults)));
    }
    return await build.commit();
  } catch (error) {
    await build.abandon();
    throw error;
  }
}

/** Takes a version out of the search, and its Markdown out of the store. */
export async function removeContent(
  context: Pick<IndexingContext, 'objectStore' | 'searchIndex'>,
  scope: SearchScope,
  signal: AbortSignal,
): Promise<void> {
  await context.searchIndex.remove(scope);
  for await (const { key } of context.objectStore.list(pageMarkdownPrefix(scope), { signal })) {
    await context.objectStore.remove(key, { signal });
  }
}

async function cutPage(
  context: IndexingContext,
  scope: SearchScope,
  content: SiteContent,
  page: PageEntry,
  signal: AbortSignal,
): Promise<CutPage | undefined> {
  const source = await content.source({ path: page.file, sha256: page.sha256 }, signal);
  const request: PageToRead = {
    file: page.file,
    source,
    dependencies: await content.dependencies(page.dependencies, signal),
    title: page.title,
    description: page.description,
    variables: content.model.settings.variables,
    latex: content.model.settings.styling.latex,
  };
  const cut = await runTwice(context, scope, request, signal);
  if (cut !== undefined) {
    const contentType = 'text/markdown; charset=utf-8';
    await context.objectStore.put(pageMarkdownKey(scope, page.path), Buffer.from(cut.markdown), {
      contentType,
      signal,
    });
  }
  return cut;
}

/**
 * A page whose child was killed or died is tried again in a fresh process, with the slower parser unless it was for want of memory. A page that fails by
 * itself fails the same every time.
 */
async function runTwice(
  context: IndexingContext,
  scope: SearchScope,
  request: PageToRead,
  signal: AbortSignal,
): Promise<CutPage | undefined> {
  let parser: PageToRead['parser'];
  for (let attempt = 1; ; attempt += 1) {
    try {
      const options = { deadlineMs: pageDeadlineMs, signal, affinity: scope.organization };
      return (await context.pool.run({ ...request, parser }, options)) as CutPage;
    } catch (error) {
      signal.throwIfAborted();
      if (attempt < 2 && !(error instanceof ChildRequestFailed)) {
        if (!(error instanceof ChildDied && error.isOutOfMemory)) parser = 'micromark';
        continue;
      }
      context.logger.warn(
        { err: error, file: request.file, ...scope },
        'a page could not be read; it is found by its title only',
      );
      return undefined;
    }
  }
}

/** The published content lacks something that it must have: no later try will find it. */
class ContentBroken extends Poison {
  override name = 'ContentBroken';
}

const storeDeadlineMs = 30_000;
const cachedCharacters = 16 * 1024 * 1024;

/** The files of one content version. */
type SiteContent = {
  model: SiteModel;
  source(file: { path: string; sha256: string }, signal: AbortSignal): Promise<Uint8Array>;
  /** Text of these files and of all that they import, by path. */
  dependencies(paths: readonly string[], signal: AbortSignal): Promise<Record<string, string>>;
};

/** Throws `ContentBroken` when there is no readable site model. */
async function openSiteContent(
  objectStore: ObjectStore,
  scope: SearchScope,
  signal: AbortSignal,
): Promise<SiteContent> {
  const model = await readModel(objectStore, scope, signal);
  const snippets = new Map([...model.specs, ...model.snippets].map((file) => [file.path, file]));
  const importsOf = new Map(model.snippets.map((file) => [file.path, file.dependencies]));
  const texts = new LRUCache<string, string>({
    maxSize: cachedCharacters,
    sizeCalculation: (text) => text.length + 1,
  });

  const source: SiteContent['source'] = async ({ path, sha256 }, stop) => {
    const bytes = await objectStore.get(blobKey(scope.organization, sha256), { signal: within(stop) });
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
        const text = texts.get(path) ?? Buffer.from(await source(file, stop)).toString('utf8');
        texts.set(path, text);
        found[path] = text;
        pending.push(...(importsOf.get(path) ?? []));
      }
      return found;
    },
  };
}

async function readModel(objectStore: ObjectStore, scope: SearchScope, signal: AbortSignal): Promise<SiteModel> {
  try {
    const model = await readSiteModel(objectStore, scope, { signal: within(signal) });
    if (model !== undefined) return model;
  } catch (error) {
    if (!(error instanceof BrokenObject)) throw error;
    throw new ContentBroken(error.message, { cause: error });
  }
  throw new ContentBroken(`There is no site model of ${scope.contentVersion} in the object store.`);
}

const within = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(storeDeadlineMs)]);

/** The child processes that read pages. Their parser is native code. */
export const pageReader = { entry: new URL('./read-page-child.ts', import.meta.url), addons: true };
