import { z } from 'zod';
import { diagnosticSchema } from '#shared/contracts/diagnostic.ts';
import { type ContentId, contentVersion, sha256Hex } from '#shared/contracts/identifiers.ts';
import { siteModelKey } from '#shared/contracts/stored-objects.ts';
import type { ObjectStore, ReadOptions } from '#shared/storage/object-store.ts';
import { getJson } from '#shared/storage/stored-json.ts';
import { pictureSizeSchema } from './picture-size.ts';
import { thumbnailsSchema } from './read-thumbnails.ts';

const optionalText = z.string().optional();
const lightDark = z.object({ light: z.string(), dark: z.string() });

/** A font by name. `file`: where it is in the project, and in bundles; without one it is left to the reader's system. */
const siteFontSchema = z.object({
  family: z.string(),
  weight: z.number().optional(),
  /** `variable`: it has all weights. */
  file: z
    .object({ path: z.string(), format: z.enum(['woff2', 'woff', 'truetype', 'opentype']), variable: z.boolean() })
    .optional(),
});
const siteFontsSchema = z.object({ body: siteFontSchema.optional(), heading: siteFontSchema.optional() });
export type SiteFont = z.infer<typeof siteFontSchema>;
export type SiteFonts = z.infer<typeof siteFontsSchema>;

/**
 * `docs.json` (or `mint.json`, in the same shape) without its navigation: what pages and the site's files show. Values that a project left
 * out are absent, not null. Unknown keys are dropped with a diagnostic.
 */
export const siteSettingsSchema = z.object({
  name: z.string(),
  description: optionalText,
  theme: z.string(),
  colors: z.object({ primary: z.string(), light: optionalText, dark: optionalText }),
  logo: lightDark.extend({ href: optionalText }).optional(),
  favicon: lightDark.optional(),
  appearance: z.object({ default: z.enum(['system', 'light', 'dark']), strict: z.boolean() }),
  iconLibrary: z.enum(['fontawesome', 'lucide', 'tabler']),
  /** Earlier models have what docs.json says, in any shape. */
  fonts: siteFontsSchema.optional().catch(undefined),
  background: z.json().optional(),
  styling: z.object({
    eyebrows: z.enum(['section', 'breadcrumbs']),
    latex: z.boolean().optional(),
    codeblocks: z.json().optional(),
  }),
  navbar: z.object({
    links: z.array(z.object({ label: z.string(), href: z.string(), icon: optionalText, type: optionalText })),
    primary: z.object({ label: z.string(), href: z.string(), type: optionalText }).optional(),
  }),
  footer: z.object({
    socials: z.record(z.string(), z.string()),
    links: z.array(
      z.object({ header: optionalText, items: z.array(z.object({ label: z.string(), href: z.string() })) }),
    ),
  }),
  banner: z
    .object({ content: z.string(), dismissible: z.boolean(), type: optionalText, color: lightDark.optional() })
    .optional(),
  variables: z.record(z.string(), z.string()),
  seo: z.object({
    indexing: z.enum(['navigable', 'all']),
    metatags: z.record(z.string(), z.string()),
    organization: z.json().optional(),
  }),
  searchPrompt: optionalText,
  notFound: z.object({ redirect: z.boolean(), title: optionalText, description: optionalText }),
  timestamp: z.boolean(),
  contextual: z.json().optional(),
  /** Pictures for links to pages in social networks are made. Earlier models do not say. */
  thumbnails: thumbnailsSchema.optional(),
  /** A group that opens leads to its first page. Earlier models do not say. */
  drilldown: z.boolean().optional(),
  api: z.json().optional(),
  integrations: z.json().optional(),
  markdownInstructions: z.array(z.string()),
});

export type SiteSettings = z.infer<typeof siteSettingsSchema>;

/**
 * What the pages of one content version share, made once at publication and stored as
 * `contents/<org>/<domain>/<contentVersion>/site-model.json`. Page paths are as readers know them: `guides/x`, no slash in front,
 * no extension; the start page is `index`. File paths are as in the project: `guides/x.mdx`.
 */
const pageEntrySchema = z.object({
  path: z.string(),
  file: z.string(),
  sha256: sha256Hex,
  sizeBytes: z.int(),
  title: z.string(),
  sidebarTitle: optionalText,
  description: optionalText,
  icon: optionalText,
  tag: optionalText,
  deprecated: z.boolean(),
  /** Reachable through the navigation. */
  inNavigation: z.boolean(),
  hidden: z.boolean(),
  noindex: z.boolean(),
  searchable: z.boolean(),
  /** Only readers of these groups may see it; empty: everyone. */
  groups: z.array(z.string()),
  keywords: z.array(z.string()),
  /** Position in a navigation with languages and versions. */
  language: optionalText,
  version: optionalText,
  /** The whole frontmatter by YAML's core schema, without dangerous keys. */
  frontmatter: z.record(z.string(), z.json()),
  /** Project files that its bytes may depend on: all snippets, specs. Too many are fine, a missing one is a bug. */
  dependencies: z.array(z.string()),
  /** The slice of a specification that it shows, by its name among `operations`. */
  reference: optionalText,
  /** Internal targets that the source seems to link to, `/`-rooted without anchor and query; a superset. */
  linkTargets: z.array(z.string()),
});

const fileEntrySchema = z.object({ path: z.string(), sha256: sha256Hex, sizeBytes: z.int() });

/** A place in the sidebar. `kind: 'division'` is any of tab, anchor, dropdown, product, version, language, menu item. */
const navigationNodeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('page'), path: z.string(), title: optionalText, icon: optionalText, tag: optionalText }),
  z.object({ kind: z.literal('link'), title: z.string(), href: z.string(), icon: optionalText }),
  z.object({
    kind: z.literal('group'),
    title: z.string(),
    icon: optionalText,
    tag: optionalText,
    root: optionalText,
    expanded: z.boolean().optional(),
    hidden: z.boolean(),
    get children() {
      return z.array(navigationNodeSchema);
    },
  }),
  z.object({
    kind: z.literal('division'),
    division: z.enum(['tab', 'anchor', 'dropdown', 'product', 'version', 'language', 'item']),
    title: z.string(),
    icon: optionalText,
    description: optionalText,
    tag: optionalText,
    href: optionalText,
    isDefault: z.boolean(),
    hidden: z.boolean(),
    get children() {
      return z.array(navigationNodeSchema);
    },
  }),
]);

export type NavigationNode = z.infer<typeof navigationNodeSchema>;

export const siteModelSchema = z.object({
  formatVersion: z.literal(1),
  contentVersion,
  settings: siteSettingsSchema,
  navigation: z.array(navigationNodeSchema),
  /** Sorted by path. */
  pages: z.array(pageEntrySchema),
  /** MDX, Markdown and JSX files that other files import; with their own imports. */
  snippets: z.array(fileEntrySchema.extend({ dependencies: z.array(z.string()) })),
  /** OpenAPI and AsyncAPI files. */
  specs: z.array(fileEntrySchema),
  /** The part of a specification that one page shows, as publication made it: `openapi.json#GET /users`. Earlier models have none. */
  operations: z.array(fileEntrySchema).optional(),
  /** Files that are copied as they are, images above all. Earlier models have no sizes of pictures. */
  assets: z.array(fileEntrySchema.extend({ picture: pictureSizeSchema.optional() })),
  /** The project's own .css and .js files, in the order in which every page loads them. */
  styles: z.array(fileEntrySchema),
  scripts: z.array(fileEntrySchema),
  /** Files that style sheets, scripts and HTML files name, sorted; a superset. Earlier models do not say. */
  namedFiles: z.array(z.string()).optional(),
  /** Groups of words and phrases that mean the same in this documentation, for its search. Earlier models have none. */
  synonyms: z.array(z.array(z.string())).optional(),
  redirects: z.array(z.object({ source: z.string(), destination: z.string(), permanent: z.boolean() })),
  diagnostics: z.array(diagnosticSchema),
});

export type SiteModel = z.infer<typeof siteModelSchema>;
export type PageEntry = z.infer<typeof pageEntrySchema>;
export type FileEntry = z.infer<typeof fileEntrySchema>;

/** The site model of a published content version; undefined when there is none. Rejects as `getJson` does. */
export const readSiteModel = (
  objectStore: Pick<ObjectStore, 'get'>,
  content: ContentId,
  options?: ReadOptions,
): Promise<SiteModel | undefined> => getJson(objectStore, siteModelKey(content), siteModelSchema, options);
