import type { FileEntry, PageEntry, SiteModel } from '#shared/docs-project/site-model.ts';
import { exportedPages } from './exported-pages.ts';
import type { RenderOptions } from './render-options.ts';

/** All of the model that the site segment may depend on: no page's source, no file's bytes, so that editing a text does not change it. */
export type SiteSlice = {
  model: Pick<SiteModel, 'settings' | 'navigation' | 'redirects'> & {
    pages: Omit<PageEntry, 'sha256' | 'sizeBytes' | 'dependencies' | 'linkTargets' | 'keywords'>[];
    files: string[];
    specs: string[];
    styles: string[];
    scripts: string[];
  };
  exported: string[];
  options: Pick<RenderOptions, 'deployment' | 'allowTenantScripts'>;
};

export function siteSlice(model: SiteModel, options: RenderOptions, exported?: Iterable<string>): SiteSlice {
  const paths = (files: readonly FileEntry[]) => files.map((file) => file.path);
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
    },
    exported: [...(exported ?? exportedPages(model, options.groups))],
    options: { deployment: options.deployment, allowTenantScripts: options.allowTenantScripts },
  };
}
