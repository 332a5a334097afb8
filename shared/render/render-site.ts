import type { SiteModel } from '#shared/docs-project/site-model.ts';
import type { RenderedFile } from './rendered-file.ts';
import type { RenderOptions } from './render-options.ts';
import { indexSite } from './site-index.ts';
import { type SiteSlice, siteSlice } from './site-slice.ts';
import { llmsText } from './site/llms-text.ts';
import { navigationScript } from './site/navigation-script.ts';
import { notFoundPage } from './site/not-found-page.ts';
import { ownFile } from './site/own-file.ts';
import { paletteCss } from './site/palette.ts';
import { redirectPages } from './site/redirect-pages.ts';
import { robotsText } from './site/robots-text.ts';
import { siteConfig, siteConfigScript } from './site/site-config.ts';
import { sitemapXml } from './site/sitemap-xml.ts';
import { siteBase } from './site-address.ts';

const THEME = ownFile('theme.css');
const SCRIPTS = [
  ['start.js', ownFile('start.js')],
  ['sidebar.js', ownFile('sidebar.js')],
  ['site.js', ownFile('site.js')],
] as const;

/**
 * Files of the site segment, sorted by path: theme, scripts, sidebars, settings, redirects, and what crawlers read. A file of the same name at the
 * project's root goes before a generated one. `exported`: the paths of the plan's pages; without it all that need no group.
 */
export function renderSite(model: SiteModel, options: RenderOptions, exported?: Iterable<string>): RenderedFile[] {
  return filesOf(siteSlice(model, options, exported), model);
}

/** All of it from the slice: that is what the segment's key is made of. */
function filesOf(slice: SiteSlice, model: SiteModel): RenderedFile[] {
  const { settings } = slice.model;
  const index = indexSite(indexable(slice, model), slice.exported);
  const files = new Map<string, string>([
    ['_bindery/theme.css', `${paletteCss(settings.colors)}\n${THEME}`],
    ['_bindery/config.js', siteConfigScript(siteConfig(slice.options.deployment, siteBase(settings)))],
  ]);
  for (const [name, text] of SCRIPTS) files.set(`_bindery/${name}`, text);
  for (const sidebar of index.sidebars)
    files.set(`_bindery/navigation/${sidebar.id}.js`, navigationScript(sidebar, index));
  for (const [path, text] of redirectPages(index)) files.set(path, text);
  const generated: [string, () => string][] = [
    ['404.html', () => notFoundPage(index)],
    ['robots.txt', () => robotsText(settings)],
    ['sitemap.xml', () => sitemapXml(index)],
    ['llms.txt', () => llmsText(index)],
  ];
  const own = new Set(slice.model.files);
  for (const [path, make] of generated) if (!own.has(path)) files.set(path, make());
  return [...files]
    .filter(([path]) => !own.has(path))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, text]) => ({ path, body: Buffer.from(text) }));
}

/** The slice in the form of a model; what the slice does not have is empty, so that nothing here can read it. */
function indexable({ model }: SiteSlice, { contentVersion }: Pick<SiteModel, 'contentVersion'>): SiteModel {
  const named = (paths: readonly string[]) => paths.map((path) => ({ path, sha256: '', sizeBytes: 0 }));
  return {
    formatVersion: 1,
    contentVersion,
    settings: model.settings,
    navigation: model.navigation,
    redirects: model.redirects,
    pages: model.pages.map((page) => ({
      ...page,
      sha256: '',
      sizeBytes: 0,
      dependencies: [],
      linkTargets: [],
      keywords: [],
    })),
    snippets: [],
    specs: named(model.specs),
    assets: named(model.files),
    styles: named(model.styles),
    scripts: named(model.scripts),
    diagnostics: [],
  };
}
