import { sha256OfJson } from '#shared/canonical-json/sha256-of.ts';
import type { FileEntry, SiteModel } from '#shared/docs-project/site-model.ts';
import type { PageSlice } from './page-slice.ts';
import type { RenderOptions } from './render-options.ts';
import { siteSlice } from './site-slice.ts';

/*
 * Keys of segments: equal keys mean equal bytes. Paths in a segment start with the domain's slug, so the domain is part of every segment's key.
 */

/** Of one page: renderer version, source, and all of the model that it shows (the slice has the hashes of source and dependencies). */
export function pageKey(rendererVersion: string, slice: PageSlice): string {
  return sha256OfJson({ kind: 'page', rendererVersion, slice });
}

/** Of a chunk of pages, in bundle order. */
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

/** Of the site segment. `exported`: the paths of the plan's pages. */
export function siteKey(
  rendererVersion: string,
  domain: string,
  model: SiteModel,
  options: RenderOptions,
  exported?: Iterable<string>,
): string {
  return sha256OfJson({ kind: 'site', rendererVersion, domain, slice: siteSlice(model, options, exported) });
}

/** Of a segment of project files, in bundle order. */
export function assetsKey(rendererVersion: string, domain: string, files: readonly FileEntry[]): string {
  const listed = files.map(({ path, sha256 }) => [path, sha256]);
  return sha256OfJson({ kind: 'assets', rendererVersion, domain, files: listed });
}

/** Of the closing segment: what all other segments hold, and what the manifest says about the plan. */
export function closingKey(
  rendererVersion: string,
  plan: { domain: string; contentVersion: string; label?: string | undefined; deployment: string },
  chunkKeys: readonly string[],
): string {
  const { domain, contentVersion, label, deployment } = plan;
  return sha256OfJson({ kind: 'closing', rendererVersion, domain, contentVersion, label, deployment, chunkKeys });
}
