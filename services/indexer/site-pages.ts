import { setImmediate } from 'node:timers/promises';
import {
  importedFiles,
  type ImportedFiles,
  reachedDigests,
  reachedFiles,
} from '#shared/docs/project/imported-files.ts';
import type { PageEntry } from '#shared/docs/project/site-model.ts';
import type { SiteModelParts } from '#shared/docs/project/site-model-parts.ts';
import { decoded } from '#shared/docs/project/url-policy.ts';
import { pageReferenceInput } from '#shared/docs/reference/page-reference.ts';
import { namedPage, pagePathOfAddress } from '#shared/docs/render/bundle-paths.ts';
import { rendererVersion } from '#shared/docs/render/renderer-version.ts';
import { siteRedirects } from '#shared/docs/render/redirects.ts';
import type { ChildPool } from '#shared/docs/sandbox/child-pool.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import type { Logger } from '#shared/runtime/telemetry.ts';
import type { SearchPage, SearchScope } from '#shared/search/search-index.ts';
import { cutPages } from './cut-pages.ts';
import type { Patience } from './patience.ts';
import type { CutPage, PageToRead } from './read-page.ts';
import { defaultDivisions, searchPage } from './search-page.ts';

/** The files of one content version. */
export type SiteContent = SiteModelParts & {
  source(file: { path: string; sha256: string }, signal: AbortSignal): Promise<Uint8Array>;
  /** A dependency of pages, as text. */
  text(file: { path: string; sha256: string }, signal: AbortSignal): Promise<string>;
};

export type ReadingContext = {
  pool: Pick<ChildPool, 'run'>;
  slots: number;
  logger: Logger;
  patience?: Patience | undefined;
};

/** Incremented when the search text of a page changes in code outside the renderer. */
const readingVersion = 6;
/** Number of pages in a batch, whose passages are in memory together. */
const pagesAtOnce = 64;
const objectsAtOnce = 16;
/** Number of pages whose keys are made without a pause, in some milliseconds. */
const pagesInTurn = 100;

/**
 * The pages of a site that readers may search, as the index takes them, in batches; only those that `isWanted` accepts, which is called once for
 * each. A page that cannot be read has its title and description, and a unique key.
 */
export async function* readSitePages(
  context: ReadingContext,
  scope: SearchScope,
  content: SiteContent,
  isWanted: (page: { path: string; key: string }) => boolean,
  signal: AbortSignal,
): AsyncGenerator<SearchPage[]> {
  const site = await siteOf(content);
  for await (const batch of batchesOf(wanted())) {
    // One group more than slots is in flight, so that it is fetched while children work.
    const cut = await inParallel(groupsOf(batch, site.files), context.slots + 1, (group) =>
      cutGroup(context, scope, content, site, group, signal),
    );
    const read = cut.flat();
    yield batch.map((page, position) => {
      const one = read[position];
      const links = (one?.links ?? []).flatMap(({ target, text }) => {
        const to = site.pathOf(target);
        return to === undefined || to === page.path ? [] : [{ to, text }];
      });
      const { markdown = `# ${page.title}\n`, peoplesMarkdown } = one ?? {};
      const made = { key: one === undefined ? '' : page.key, markdown, peoplesMarkdown, links };
      return searchPage(page, one?.passages ?? [], site.defaults, made);
    });
  }

  async function* wanted(): AsyncGenerator<PageEntry & { key: string }> {
    let looked = 0;
    for (const page of content.pages()) {
      looked += 1;
      // The loop does not wait for pages that are kept, so without a pause it would block other work for all of them.
      if (looked % pagesInTurn === 0) await setImmediate(undefined, { signal });
      if (!page.searchable) continue;
      const keyed = { ...page, key: site.keyOf(page) };
      if (isWanted(keyed)) yield keyed;
    }
  }
}

async function* batchesOf<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < pagesAtOnce) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Properties of the site that its pages need. */
async function siteOf({ site, paths }: SiteModelParts) {
  const { variables, styling, api } = site.settings;
  const files = importedFiles(site);
  const redirects = siteRedirects(site.redirects, (path) => paths.has(path));
  const defaults = defaultDivisions(site.navigation);
  const shared = sha256Of(
    JSON.stringify([
      readingVersion,
      await rendererVersion(),
      variables,
      styling.latex,
      api,
      [...defaults.languages],
      [...defaults.versions],
    ]),
  );

  /** The page that a link leads to; undefined if there is none. */
  function pathOf(target: string): string | undefined {
    const path = pagePathOfAddress(decoded(target));
    const page = namedPage(path, paths);
    if (page !== undefined) return page;
    const redirected = redirects.endOf(`/${path}`);
    return redirected === undefined || redirected.startsWith('https:') ? undefined : redirected.replace(/#.*$/s, '');
  }

  const pathsOf = (targets: readonly string[]) => targets.map((target) => pathOf(target) ?? null);
  const digestOf = reachedDigests(files, ({ path, sha256, linkTargets = [] }) =>
    JSON.stringify([path, sha256, pathsOf(linkTargets)]),
  );

  return {
    defaults,
    pathOf,
    files,
    /** Digest of all inputs of the page in the index. */
    keyOf: (page: PageEntry): string =>
      sha256Of(JSON.stringify([shared, page, digestOf(page.dependencies), pathsOf(page.linkTargets)])),
  };
}

const mostInGroup = 16;
const mostBytesInGroup = 512 * 1024;

/**
 * Groups of pages for one request each: few pages, and small together with the files that they need, in order. Only a single page may be larger. Files that
 * a group has are not followed again, so grouping costs as much as the files of each group. Pure.
 */
export function groupsOf<P extends Pick<PageEntry, 'sizeBytes' | 'dependencies'>>(
  pages: readonly P[],
  files: ImportedFiles,
): P[][] {
  const groups: P[][] = [];
  let bytes = 0;
  let included = new Set<string>();
  /** Bytes of the page and of its files that `included` does not have yet; it has them afterwards. */
  const include = ({ sizeBytes, dependencies }: P): number => {
    const added = reachedFiles(files, dependencies, included);
    for (const { path } of added) included.add(path);
    return added.reduce((sum, file) => sum + file.sizeBytes, sizeBytes);
  };
  for (const page of pages) {
    const group = groups.at(-1);
    const more = group !== undefined && group.length < mostInGroup ? include(page) : Number.POSITIVE_INFINITY;
    if (group !== undefined && bytes + more <= mostBytesInGroup) {
      bytes += more;
      group.push(page);
    } else {
      included = new Set();
      bytes = include(page);
      groups.push([page]);
    }
  }
  return groups;
}

async function cutGroup(
  context: ReadingContext,
  scope: SearchScope,
  content: SiteContent,
  site: Awaited<ReturnType<typeof siteOf>>,
  group: readonly PageEntry[],
  signal: AbortSignal,
): Promise<(CutPage | undefined)[]> {
  const { variables, styling, api } = content.site.settings;
  const pages = await inParallel(group, objectsAtOnce, async (page): Promise<PageToRead> => {
    const { file, sha256, title, description, frontmatter } = page;
    const hasDescription = typeof frontmatter.description === 'string';
    const input = pageReferenceInput(page, api);
    const reference = input && { ...input, hasDescription };
    const source = await content.source({ path: file, sha256 }, signal);
    const dependencies: Record<string, string> = {};
    for (const each of reachedFiles(site.files, page.dependencies))
      dependencies[each.path] = await content.text(each, signal);
    return { file, source, dependencies, title, description, variables, latex: styling.latex, reference };
  });
  return cutPages(context, scope, pages, signal);
}
