import { type PageEntry, type SiteModel } from '#shared/docs/project/site-model.ts';
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
import type { CutPage, PageToRead } from './read-page.ts';
import { defaultDivisions, searchPage } from './search-page.ts';

/** The files of one content version. */
export type SiteContent = {
  model: SiteModel;
  source(file: { path: string; sha256: string }, signal: AbortSignal): Promise<Uint8Array>;
  /** A dependency of pages, as text. */
  text(file: { path: string; sha256: string }, signal: AbortSignal): Promise<string>;
};

export type ReadingContext = { pool: Pick<ChildPool, 'run'>; slots: number; logger: Logger };

/** Incremented when the search text of a page changes in code outside the renderer. */
const readingVersion = 5;
/** Their passages are held in memory together. */
const pagesAtOnce = 64;
const objectsAtOnce = 16;

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
  const { model } = content;
  const site = await siteOf(model);
  const pages = model.pages
    .filter((page) => page.searchable)
    .map((page) => ({ ...page, key: site.keyOf(page) }))
    .filter(isWanted);
  for (let at = 0; at < pages.length; at += pagesAtOnce) {
    const batch = pages.slice(at, at + pagesAtOnce);
    // One group more than slots is in flight, so that it is fetched while children work.
    const cut = await inParallel(groupsOf(batch, site.sizeOf), context.slots + 1, (group) =>
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
}

/** Properties of the site that its pages need. */
async function siteOf(model: SiteModel) {
  const { variables, styling, api } = model.settings;
  const files = new Map(
    [...model.specs, ...(model.operations ?? []), ...model.snippets].map((file) => [file.path, file]),
  );
  const importsOf = new Map(model.snippets.map((file) => [file.path, file.dependencies]));
  const paths = new Set(model.pages.map(({ path }) => path));
  const redirects = siteRedirects(model.redirects, (path) => paths.has(path));
  const defaults = defaultDivisions(model.navigation);
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

  /** The imported files, with their own imports. */
  function dependenciesOf(page: Pick<PageEntry, 'dependencies'>) {
    const found = new Map<string, { path: string; sha256: string }>();
    const pending = [...page.dependencies];
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      const file = files.get(path);
      if (!file || found.has(path)) continue;
      found.set(path, file);
      pending.push(...(importsOf.get(path) ?? []));
    }
    return [...found.values()];
  }

  return {
    defaults,
    pathOf,
    dependenciesOf,
    sizeOf: (path: string): number => files.get(path)?.sizeBytes ?? 0,
    /** Digest of all inputs of the page in the index. */
    keyOf: (page: PageEntry): string =>
      sha256Of(
        JSON.stringify([
          shared,
          page,
          dependenciesOf(page).map(({ path, sha256 }) => [path, sha256]),
          page.linkTargets.map((target) => pathOf(target) ?? null),
        ]),
      ),
  };
}

const mostInGroup = 16;
const mostBytesInGroup = 512 * 1024;

/** Groups of pages for one request each: few pages, and small together with their dependencies, in order. Only a single page may be larger. Pure. */
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

async function cutGroup(
  context: ReadingContext,
  scope: SearchScope,
  content: SiteContent,
  site: Awaited<ReturnType<typeof siteOf>>,
  group: readonly PageEntry[],
  signal: AbortSignal,
): Promise<(CutPage | undefined)[]> {
  const { variables, styling, api } = content.model.settings;
  const pages = await inParallel(group, objectsAtOnce, async (page): Promise<PageToRead> => {
    const { file, sha256, title, description, frontmatter } = page;
    const hasDescription = typeof frontmatter.description === 'string';
    const input = pageReferenceInput(page, api);
    const reference = input && { ...input, hasDescription };
    const source = await content.source({ path: file, sha256 }, signal);
    const dependencies: Record<string, string> = {};
    for (const each of site.dependenciesOf(page)) dependencies[each.path] = await content.text(each, signal);
    return { file, source, dependencies, title, description, variables, latex: styling.latex, reference };
  });
  return cutPages(context, scope, pages, signal);
}
