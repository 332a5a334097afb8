import { LRUCache } from 'lru-cache';
import { blobKey, pageMarkdownKey, pageMarkdownPrefix } from '#shared/contracts/stored-objects.ts';
import { type PageEntry, readSiteModel, type SiteModel } from '#shared/docs/project/site-model.ts';
import { pageReferenceInput } from '#shared/docs/reference/page-reference.ts';
import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import { Poison } from '#shared/runtime/failures.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { SearchIndex, SearchScope } from '#shared/search/search-index.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { BrokenObject } from '#shared/storage/stored-json.ts';
import { cutPages } from './cut-pages.ts';
import type { PageSection, PageToRead } from './read-page.ts';
import { defaultDivisions, searchPage } from './search-page.ts';

export type IndexingContext = {
  objectStore: ObjectStore;
  searchIndex: SearchIndex;
  pool: Pick<ChildPool, 'run'>;
  slots: number;
  logger: Logger;
};

/** Their passages are held in memory together. */
const pagesAtOnce = 64;
const objectsAtOnce = 16;

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
      const groups = groupsOf(batch, content.sizeOf);
      // While children work on some, another one is fetched.
      const cut = await inParallel(groups, context.slots + 1, (group) =>
        cutGroup(context, scope, content, group, signal),
      );
      const passages = cut.flat();
      await build.add(batch.map((page, position) => searchPage(page, passages[position] ?? [], defaults)));
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

const mostInGroup = 16;
const mostBytesInGroup = 512 * 1024;

/** Pages that one request can have: few, and small together with what they depend on. Only one alone may be larger. In their order. Pure. */
export function groupsOf<P extends Pick<PageEntry, 'sizeBytes' | 'dependencies'>>(
  pages: readonly P[],
  sizeOf: (dependency: string) => number,
): P[][] {
  const groups: P[][] = [];
  let bytes = 0;
  let included = new Set<string>();
  for (const page of pages) {
    const group = groups.at(-1);
    const bytesWith = (known: ReadonlySet<string>) =>
      page.dependencies.reduce((sum, path) => sum + (known.has(path) ? 0 : sizeOf(path)), page.sizeBytes);
    if (group !== undefined && group.length < mostInGroup && bytes + bytesWith(included) <= mostBytesInGroup) {
      bytes += bytesWith(included);
      group.push(page);
    } else {
      included = new Set();
      bytes = bytesWith(included);
      groups.push([page]);
    }
    for (const path of page.dependencies) included.add(path);
  }
  return groups;
}

/** Passages of the pages, in their order; their Markdown is stored. */
async function cutGroup(
  context: IndexingContext,
  scope: SearchScope,
  content: SiteContent,
  group: readonly PageEntry[],
  signal: AbortSignal,
): Promise<(PageSection[] | undefined)[]> {
  const { variables, styling, api } = content.model.settings;
  const pages = await inParallel(group, objectsAtOnce, async (page): Promise<PageToRead> => {
    const { file, sha256, title, description, frontmatter } = page;
    const hasDescription = typeof frontmatter.description === 'string';
    const input = pageReferenceInput(page, api);
    const reference = input && { ...input, hasDescription };
    const source = await content.source({ path: file, sha256 }, signal);
    const dependencies = await content.dependencies(page.dependencies, signal);
    return { file, source, dependencies, title, description, variables, latex: styling.latex, reference };
  });
  const cut = await cutPages(context, scope, pages, signal);
  return inParallel(group, objectsAtOnce, async ({ path }, position) => {
    const one = cut[position];
    if (one === undefined) return undefined;
    const options = { contentType: 'text/markdown; charset=utf-8', signal };
    await context.objectStore.put(pageMarkdownKey(scope, path), Buffer.from(one.markdown), options);
    return one.passages;
  });
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
  /** Bytes of what a page depends on. */
  sizeOf: (dependency: string) => number;
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
  const snippets = new Map(
    [...model.specs, ...(model.operations ?? []), ...model.snippets].map((file) => [file.path, file]),
  );
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
    sizeOf: (path) => snippets.get(path)?.sizeBytes ?? 0,
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
