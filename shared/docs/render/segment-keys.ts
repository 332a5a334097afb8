import type { FileEntry, PageEntry, SiteModel } from '#shared/docs/project/site-model.ts';
import { sha256Of, sha256OfJson } from '#shared/runtime/canonical-json.ts';
import { isIsolated } from './isolate/isolated-types.ts';
import { importedDigest, type RenderOptions, sharedInputs, type SiteRenderOptions, sliceInputs } from './page-slice.ts';
import { exportedPages, type SiteIndex } from './site-index.ts';
import { usedFiles } from './used-files.ts';

/*
 * Keys of segments: equal keys mean equal bytes. Paths in a segment start with the domain's slug, so every segment's key contains the domain. The
 * members of slices always have the same order, so they are not sorted, which would take ten times as long.
 */

/**
 * Key of a page, from the renderer version and the inputs of its slice: everything of the model that the page shows, with the hashes of its source and of
 * the files that it needs.
 */
export function pageKey(rendererVersion: string, index: SiteIndex, path: string, options: RenderOptions): string {
  return sha256Of(JSON.stringify({ kind: 'page', rendererVersion, ...sliceInputs(index, path, options) }));
}

/** Page keys of one model. `entry` is the digest of everything that only this page has, `shared` the digest of everything that pages share. */
export type PageKeys = { shared: string; pages: ReadonlyMap<string, { entry: string; key: string }> };

/**
 * Keys of all pages of an export, in its order. `known`: keys for another model of the same documentation, by the same renderer with the same
 * options. Pages that did not change keep those keys, and their slices are not made, so the whole takes a fifth of the time. `pause` is awaited after
 * each page.
 */
export async function pageKeys(
  rendererVersion: string,
  index: SiteIndex,
  options: RenderOptions,
  known: PageKeys | undefined,
  pause: () => Promise<void> | undefined = () => undefined,
): Promise<PageKeys> {
  const shared = sha256Of(JSON.stringify({ rendererVersion, ...sharedInputs(index, options) }));
  const before = known?.shared === shared ? known.pages : undefined;
  const pages = new Map<string, { entry: string; key: string }>();
  for (const path of index.exported) {
    const page = index.pages.get(path);
    if (page === undefined) continue;
    const entry = sha256Of(JSON.stringify([page, importedDigest(index, page)]));
    const same = before?.get(path);
    const key = same?.entry === entry ? same.key : pageKey(rendererVersion, index, path, options);
    pages.set(path, { entry, key });
    await pause();
  }
  return { shared, pages };
}

/** Key of a chunk of pages, in bundle order. */
export function chunkKey(domain: string, pageKeys: readonly string[], options: RenderOptions): string {
  const { onPageError, allowTenantScripts } = options;
  return sha256OfJson({
    kind: 'pages',
    domain,
    pageKeys,
    groups: [...options.groups].sort(),
    onPageError,
    allowTenantScripts,
  });
}

/** Key of the site segment. `exported`: the paths of the plan's pages. */
export function siteKey(
  rendererVersion: string,
  model: SiteModel,
  options: SiteRenderOptions,
  exported?: Iterable<string>,
): string {
  return sha256Of(JSON.stringify({ kind: 'site', rendererVersion, slice: siteSlice(model, options, exported) }));
}

/**
 * Key of a segment of project files, in bundle order. Some files are changed where the project's scripts are not allowed. `leftOut`: the parts that
 * are removed from API descriptions, by path.
 */
export function assetsKey(
  rendererVersion: string,
  domain: string,
  files: readonly FileEntry[],
  { allowTenantScripts, groups }: Pick<RenderOptions, 'allowTenantScripts' | 'groups'>,
  leftOut: ReadonlyMap<string, readonly string[]>,
): string {
  const listed = files.map(({ path, sha256 }) => [path, sha256]);
  const isolated = !allowTenantScripts && files.some(({ path }) => isIsolated(path));
  const described = files.flatMap(({ path }) => (leftOut.has(path) ? [[path, leftOut.get(path)]] : []));
  return sha256OfJson({
    kind: 'assets',
    rendererVersion,
    domain,
    files: listed,
    ...(isolated && { isolated }),
    ...(described.length > 0 && { described, groups: [...groups].sort() }),
  });
}

/** Key of the closing segment, from the keys of all other segments and the facts of the plan that the manifest lists. */
export function closingKey(
  rendererVersion: string,
  plan: { domain: string; contentVersion: string; label?: string | undefined; deployment: string },
  chunkKeys: readonly string[],
): string {
  const { domain, contentVersion, label, deployment } = plan;
  return sha256OfJson({ kind: 'closing', rendererVersion, domain, contentVersion, label, deployment, chunkKeys });
}

/** Everything in the model that the site segment may depend on. It has no sources and no bytes of files, so editing a text does not change it. */
export type SiteSlice = {
  model: Pick<SiteModel, 'settings' | 'navigation' | 'redirects'> & {
    pages: Omit<PageEntry, 'sha256' | 'sizeBytes' | 'dependencies' | 'linkTargets' | 'keywords'>[];
    files: string[];
    specs: string[];
    styles: string[];
    scripts: string[];
    skills?: SiteModel['agentSkills'];
  };
  exported: string[];
  options: Pick<SiteRenderOptions, 'domain' | 'deployment' | 'allowTenantScripts' | 'site'>;
};

/**
 * The slice of the site segment. `exported`: the paths of the plan's pages; by default the pages without groups and those of the groups of the
 * export.
 */
export function siteSlice(model: SiteModel, options: SiteRenderOptions, exported?: Iterable<string>): SiteSlice {
  const { domain, deployment, allowTenantScripts, site } = options;
  const pages = [...(exported ?? exportedPages(model, options.groups))];
  const isUsed = usedFiles(model, new Set(pages));
  const paths = (files: readonly FileEntry[]) => files.filter(isUsed).map((file) => file.path);
  return {
    model: {
      settings: model.settings,
      navigation: model.navigation,
      redirects: model.redirects,
      pages: model.pages.map(
        ({ sha256: _1, sizeBytes: _2, dependencies: _3, linkTargets: _4, keywords: _5, ...rest }) => rest,
      ),
      files: paths(model.assets),
      specs: paths(model.specs),
      styles: paths(model.styles),
      scripts: paths(model.scripts),
      // A model without skills keeps the key that it had.
      ...(model.agentSkills !== undefined && { skills: model.agentSkills }),
    },
    exported: pages,
    options: { domain, deployment, allowTenantScripts, site },
  };
}
