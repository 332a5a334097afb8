import { allDone, done, not, partly, type SupportTable } from './support.ts';

/** Support for the keys of a page's frontmatter. */
export const frontmatterSupport: SupportTable = {
  ...allDone('title description sidebarTitle icon iconType tag deprecated'),
  version: not('the version of a page is that of its place in the navigation'),
  mode: partly('`assistant` looks like `default`'),
  hideFooterPagination: done,
  hideApiMarker: not('pages of operations have no mark in the sidebar'),
  timestamp: done,
  lastUpdatedDate: done,
  related: not('Bindery generates no lists of pages: write cards'),
  rss: not('pages with `Update` have a feed, and their head names it'),
  contextual: done,
  url: done,
  ...allDone('hidden noindex searchable'),
  boost: done,
  ...allDone('keywords groups'),
  public: not('`groups` decides who may read a page'),
  ...allDone('openapi openapi-schema api asyncapi authMethod'),
  playground: partly('`auth` counts as `none`: nobody is signed in to a folder of files'),
  sdk: not('pages are made from OpenAPI and AsyncAPI descriptions'),
  ...allDone('canonical robots og:title twitter:title'),
};
