import { randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { analyzeText } from '#shared/search/ranking/analyze-text.ts';
import { isRegistered, longestBuildMs, registerBuild, releaseBuilds } from './elasticsearch-builds-in-use.ts';
import type { ElasticsearchIndex } from './elasticsearch-connection.ts';
import {
  bulkWriter,
  countWhere,
  type GuardedDocument,
  refresh,
  removeWhere,
  retryWrite,
  storedDocument,
  unchangedSince,
} from './elasticsearch-documents.ts';
import type { EarlierBuild } from './elasticsearch-earlier-build.ts';
import {
  type BaseOfBuild,
  buildName,
  type BuildUse,
  documentShape,
  exact,
  filtersOf,
  type LinkDocument,
  linkId,
  type ListedPage,
  type PageDocument,
  pageId,
  pagesId,
  type PageSize,
  type PassageDocument,
  passageId,
  routingOf,
  type VersionDocument,
  versionId,
} from './elasticsearch-schema.ts';
import { joinNames, pageTerms } from '#shared/search/ranking/page-terms.ts';
import { fields } from '#shared/search/ranking/rank-passages.ts';
import {
  type BuildOptions,
  type IndexBuild,
  type SearchFacets,
  type SearchPage,
  type SearchScope,
  SearchUnavailable,
} from '#shared/search/search-index.ts';

const storeWithinMs = 30_000;
const abandonWithinMs = 2_000;

/** Collects the filter values of a build's pages. */
class FoundValues {
  readonly #versions = new Set<string>();
  readonly #languages = new Set<string>();
  readonly #tags = new Set<string>();

  add({ version, language, tag }: ListedPage): void {
    if (version !== undefined) this.#versions.add(version);
    if (language !== undefined) this.#languages.add(language);
    if (tag !== undefined) this.#tags.add(tag);
  }

  sorted() {
    return {
      versions: [...this.#versions].sort(),
      languages: [...this.#languages].sort(),
      tags: [...this.#tags].sort(),
    };
  }
}

function missing(path: string): never {
  throw new Error(`The earlier build has no page ${path}.`);
}

function idOf(build: string, document: PageDocument | PassageDocument | LinkDocument): string {
  if (document.kind === 'page') return pageId(build, document.page.path);
  return (document.kind === 'passage' ? passageId : linkId)(build, document.filters.path, document.position);
}

const nothing = () => ({ title: 0, path: 0, heading: 0, text: 0 });

const pagesInList = 500;
/**
 * Limits of the number of base pages that a search has to exclude by name: absolute, and as a share of all pages. Beyond them the build gets copies
 * of all pages.
 */
const leastHidden = 16;
const mostHidden = 200;
const hiddenShare = 1 / 8;

/**
 * Starts one build of a content version. Every document has its own id within the build, so a document that is written twice is stored once. `commit`
 * checks the number of stored documents before searches use the build. `earlier`: a build whose pages can be reused. Pages in its base stay where
 * they are; without a base, so do those in the build.
 */
export function buildElasticsearchPassages(
  index: ElasticsearchIndex,
  scope: SearchScope,
  synonyms: NonNullable<BuildOptions['synonyms']>,
  earlier: EarlierBuild | undefined,
): IndexBuild {
  const startedAt = Date.now();
  const build = buildName(startedAt, randomBase62(12));
  const { organization, domain, contentVersion } = scope;
  const common = { organization, domain, build };
  const bulk = bulkWriter(index, scope, register);
  /** The pages of the build itself, and those that stay in the base. */
  const [own, shared] = [new Map<string, ListedPage>(), new Map<string, ListedPage>()];
  let registered: Promise<boolean> | undefined;
  let ended = false;

  /** Registers the build before anything is written. */
  async function register(): Promise<void> {
    const use = { contentVersion, build, base: earlier?.base, since: startedAt };
    registered ??= retryWrite(index, () => registerBuild(index, scope, use));
    if (await registered) return;
    throw new SearchUnavailable(`The base of ${contentVersion} was removed. It has to be rebuilt.`);
  }

  async function addPage(page: SearchPage): Promise<void> {
    const { path, key, language, version, tag, boost } = page;
    const filters = filtersOf(page);
    const { title, names, keywords, path: pathTerms } = pageTerms(page);
    const ofPage = { title: [...title, ...keywords], path: pathTerms };
    const texts = page.passages.map(({ text }) => analyzeText(text));
    const textLength = texts.reduce((sum, { length }) => sum + length, 0);
    const size: PageSize = { passages: page.passages.length, links: 0, lengths: nothing() };
    for (const [position, { anchor, heading, text }] of page.passages.entries()) {
      const terms = { ...ofPage, heading: analyzeText(heading), text: texts[position] ?? [] };
      const passage: PassageDocument = {
        ...{ ...common, kind: 'passage', filters, position },
        terms: { title: '', path: '', heading: '', text: '' },
        rank: {
          ...{ path, language, version, boost, textLength },
          ...{ title: title.join(' '), names: joinNames(names), keywords: keywords.join(' ') },
        },
        shown: { title: page.title, anchor, heading, text, tag },
      };
      for (const field of fields) {
        passage.terms[field] = terms[field].join(' ');
        size.lengths[field] += terms[field].length;
      }
      await bulk.add(passageId(build, filters.path, position), passage);
    }
    for (const { to, text } of page.links) {
      const link = analyzeText(text).join(' ');
      if (link === '') continue;
      const [position, target] = [size.links, exact(to)];
      await bulk.add(linkId(build, filters.path, position), {
        ...{ ...common, filters },
        kind: 'link',
        position,
        target,
        terms: { link },
      });
      size.links += 1;
    }
    const { title: shownTitle, markdown, peoplesMarkdown } = page;
    await bulk.add(pageId(build, path), {
      ...{ ...common, filters },
      kind: 'page',
      page: { path, title: shownTitle, language, version, markdown, peoplesMarkdown },
    });
    own.set(path, { path, key, language, version, tag, isOpen: page.groups.length === 0, size });
  }

  /** Documents are read and written again, because a cluster cannot copy within an index. */
  async function copy(pages: ReadonlyMap<string, ListedPage>): Promise<void> {
    if (earlier === undefined || pages.size === 0) return;
    for await (const document of earlier.documents([...pages.keys()]))
      await bulk.add(idOf(build, document), { ...document, ...common });
    for (const [path, page] of pages) own.set(path, page);
  }

  /**
   * The base of the build with the pages that replace or remove some of its pages; undefined when the build has all pages itself, including
   * copies of those that were in the base until now.
   */
  async function baseOf({ base, pages }: EarlierBuild): Promise<BaseOfBuild | undefined> {
    const changed = [...own.keys()].map(exact);
    const gone = [...pages.values()].filter((page) => page.isInBase && !shared.has(page.path) && !own.has(page.path));
    const most = Math.min(mostHidden, Math.max(leastHidden, hiddenShare * (own.size + shared.size)));
    if (shared.size > 0 && changed.length + gone.length <= most)
      return { build: base, changed, gone: gone.map(({ path }) => exact(path)) };
    await copy(shared);
    shared.clear();
    return undefined;
  }

  return {
    known: new Map([...(earlier?.pages ?? [])].map(([path, { key }]) => [path, key])),
    async add(pages) {
      for (const page of pages) await addPage(page);
    },
    async keep(kept) {
      if (earlier === undefined || kept.length === 0) return;
      const moved = new Map<string, ListedPage>();
      for (const path of kept) {
        const { isInBase, ...page } = earlier.pages.get(path) ?? missing(path);
        (isInBase ? shared : moved).set(path, page);
      }
      await copy(moved);
    },
    async commit() {
      const base = earlier && (await baseOf(earlier));
      const list = [...own.values()];
      const lists = Math.ceil(list.length / pagesInList);
      for (let at = 0; at < lists; at += 1) {
        const pages = list.slice(at * pagesInList, (at + 1) * pagesInList);
        await bulk.add(pagesId(build, at), { ...common, kind: 'pages', position: at, pages });
      }
      await register();
      await bulk.flush();
      await refresh(index);
      const replaced = await storedVersion(index, scope);
      if (replaced?.document.removing)
        throw new SearchUnavailable(`${contentVersion} is being removed from the search.`);
      const expected = documentsOf(list) + lists;
      const stored = await countWhere(index, scope, [{ term: { build } }]);
      const isWhole = stored === expected && Date.now() - startedAt <= longestBuildMs;
      if (!isWhole || !(await isRegistered(index, scope, build))) {
        throw new SearchUnavailable(
          `${stored} of ${expected} documents of ${contentVersion} are in the index. It has to be rebuilt.`,
        );
      }
      const all = [...list, ...shared.values()];
      const document: VersionDocument = {
        ...{ ...scopeOnly(scope), kind: 'searched', build, shape: documentShape, documentCount: documentsOf(all) },
        ...factsOf(all),
        ...(base && { base }),
        ...(synonyms.length > 0 && { synonyms, hasSynonyms: true }),
      };
      // From here on searches may use the build, even if the answer to this write is lost.
      ended = true;
      await storeVersion(index, scope, document, replaced);
      await releaseReplaced(replaced?.document);
      return document.passageCount;
    },
    async abandon() {
      if (ended) return;
      ended = true;
      if (registered === undefined) return;
      const soon = index.until(AbortSignal.timeout(abandonWithinMs));
      try {
        await refresh(soon);
        await releaseBuilds(soon, scope, (one) => one.build === build, 'deleted');
      } catch {
        // The build is left as after a crash: it is not searched, and a later commit removes it.
      }
    },
  };

  /** Releases the replaced build. Its vectors are kept until the new build has copies of them. */
  async function releaseReplaced(replaced: VersionDocument | undefined): Promise<void> {
    const isOver = (one: BuildUse): boolean => one.build === replaced?.build;
    const vectors = replaced?.vectorFacts === undefined ? 'deleted' : 'kept';
    let uses: readonly BuildUse[];
    try {
      uses = await releaseBuilds(index, scope, isOver, vectors);
    } catch {
      // The new build is searched already. The cleanup is repeated with the next commit.
      return;
    }
    if (uses.some((one) => one.build === build)) return;
    // The version was removed between the check of this build and the write that made it searchable, so the documents of the build are deleted.
    await deleteVersion(index, scope, ({ build: searched }) => searched === build);
    throw new SearchUnavailable(`${contentVersion} was removed from the search.`);
  }
}

const scopeOnly = ({ organization, domain, contentVersion }: SearchScope): SearchScope => ({
  organization,
  domain,
  contentVersion,
});

const documentsOf = (pages: readonly ListedPage[]): number =>
  pages.reduce((sum, { size }) => sum + 1 + size.passages + size.links, 0);

/** Facts about all pages together that a search needs. */
function factsOf(pages: readonly ListedPage[]) {
  const lengths = nothing();
  const [found, open] = [new FoundValues(), new FoundValues()];
  let passageCount = 0;
  for (const page of pages) {
    passageCount += page.size.passages;
    for (const field of fields) lengths[field] += page.size.lengths[field];
    found.add(page);
    if (page.isOpen) open.add(page);
  }
  const averageLength = nothing();
  for (const field of fields) averageLength[field] = passageCount === 0 ? 0 : lengths[field] / passageCount;
  const averagePageLength = pages.length === 0 ? 0 : lengths.text / pages.length;
  const facets: SearchFacets = { ...found.sorted(), open: open.sorted() };
  return { passageCount, averageLength, averagePageLength, facets };
}

/**
 * Removes a content version from the search, then its documents that no other version uses. The next removal continues one that was
 * interrupted.
 */
export async function removeElasticsearchVersion(index: ElasticsearchIndex, scope: SearchScope): Promise<void> {
  const { contentVersion } = scope;
  const before = await storedVersion(index, scope);
  const gone: VersionDocument = {
    ...{ ...scopeOnly(scope), kind: 'searched', build: '', shape: documentShape, documentCount: 0, removing: true },
    ...factsOf([]),
  };
  if (!before?.document.removing) await storeVersion(index, scope, gone, before);
  await refresh(index);
  await releaseBuilds(index, scope, (use) => use.contentVersion === contentVersion, 'copied');
  // Removes documents of programs with other shapes.
  await removeWhere(index, scope, [{ term: { contentVersion } }], [{ ids: { values: [versionId(scope)] } }]);
  await deleteVersion(index, scope, ({ removing }) => removing === true);
}

/** Deletes the document of a version if it still matches. */
async function deleteVersion(
  index: ElasticsearchIndex,
  scope: SearchScope,
  isIt: (document: VersionDocument) => boolean,
): Promise<void> {
  const found = await storedVersion(index, scope);
  if (found === undefined || !isIt(found.document)) return;
  const target = { index: index.alias, id: versionId(scope), routing: routingOf(scope), ...unchangedSince(found) };
  await index.call(`remove ${scope.contentVersion}`, storeWithinMs, (client, deadline) =>
    client.delete({ ...target, refresh: true }, { ...deadline, ignore: [404, 409] }),
  );
}

/** Finishes a removal that another process began. */
export async function finishRemoval(index: ElasticsearchIndex, scope: SearchScope): Promise<void> {
  const stored = await storedVersion(index, scope);
  if (stored?.document.removing) await removeElasticsearchVersion(index, scope);
}

type StoredVersion = GuardedDocument<VersionDocument>;

/** The document that names the searched build of a version, with the guard for its next write; undefined if the version is not indexed. */
export const storedVersion = (index: ElasticsearchIndex, scope: SearchScope): Promise<StoredVersion | undefined> =>
  storedDocument(index, scope, `read the searched version of ${scope.domain}`, versionId(scope));

/** Stores the searched build of a version, unless another process did since `before` was read: then this build may have been removed. */
export async function storeVersion(
  { call, alias }: ElasticsearchIndex,
  scope: SearchScope,
  document: VersionDocument,
  before: StoredVersion | undefined,
): Promise<void> {
  const target = { index: alias, id: versionId(scope), routing: routingOf(scope), require_alias: true };
  await call(`store the searched version of ${scope.domain}`, storeWithinMs, (client, deadline) =>
    client.index({ ...target, ...unchangedSince(before), document, refresh: true }, deadline),
  );
}
