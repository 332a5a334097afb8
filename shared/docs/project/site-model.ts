import { z } from 'zod';
import { agentSkillSchema } from './agent-skills.ts';
import { assistantGuidanceSchema } from './assistant-guidance.ts';
import { diagnosticSchema } from '#shared/contracts/diagnostic.ts';
import { type ContentId, contentVersion, sha256Hex } from '#shared/contracts/identifiers.ts';
import { siteModelKey } from '#shared/contracts/stored-objects.ts';
import type { ObjectStore, ReadOptions } from '#shared/storage/object-store.ts';
import { getJson } from '#shared/storage/stored-json.ts';
import { anyJson } from './any-json.ts';
import { pictureSizeSchema } from './picture-size.ts';
import { thumbnailsSchema } from './read-thumbnails.ts';

const optionalText = z.string().optional();
const lightDark = z.object({ light: z.string(), dark: z.string() });

const fontFormat = z.enum(['woff2', 'woff', 'truetype', 'opentype']);

/** A font by name. `file` is its place in the project and in bundles; without one the font is left to the reader's system. */
const siteFontSchema = z.object({
  family: z.string(),
  weight: z.number().optional(),
  /** `variable` is true if the file has all weights. */
  file: z.object({ path: z.string(), format: fontFormat, variable: z.boolean() }).optional(),
  /** Instead of one file, several: `weight` and `range` are those of CSS. Models of earlier versions have none. */
  faces: z
    .array(z.object({ path: z.string(), format: fontFormat, weight: z.string(), range: optionalText }))
    .optional(),
});
const siteFontsSchema = z.object({ body: siteFontSchema.optional(), heading: siteFontSchema.optional() });
export type SiteFont = z.infer<typeof siteFontSchema>;
export type SiteFonts = z.infer<typeof siteFontsSchema>;

/**
 * `docs.json` (or `mint.json`, in the same shape) without its navigation: settings that pages and files of the site use. Values that a project omits
 * are absent, not null. Unknown keys are dropped with a diagnostic.
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
  /** Models of earlier versions have the unparsed value of docs.json. */
  fonts: siteFontsSchema.optional().catch(undefined),
  background: anyJson.optional(),
  styling: z.object({
    eyebrows: z.enum(['section', 'breadcrumbs']),
    latex: z.boolean().optional(),
    codeblocks: anyJson.optional(),
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
    organization: anyJson.optional(),
  }),
  searchPrompt: optionalText,
  notFound: z.object({ redirect: z.boolean(), title: optionalText, description: optionalText }),
  timestamp: z.boolean(),
  contextual: anyJson.optional(),
  /** Settings of the pictures for links to pages in social networks. Models of earlier versions have none. */
  thumbnails: thumbnailsSchema.optional(),
  /** True if a group that opens leads to its first page. Models of earlier versions have no value. */
  drilldown: z.boolean().optional(),
  api: anyJson.optional(),
  integrations: anyJson.optional(),
  markdownInstructions: z.array(z.string()),
});

export type SiteSettings = z.infer<typeof siteSettingsSchema>;

/**
 * The data that the pages of one content version share, made once at publication and stored as
 * `contents/<org>/<domain>/<contentVersion>/site-model.json`. Page paths are those that readers know: `guides/x`, without leading slash and
 * extension; the start page is `index`. File paths are those in the project: `guides/x.mdx`.
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
  /** True if it is reachable through the navigation. */
  inNavigation: z.boolean(),
  hidden: z.boolean(),
  noindex: z.boolean(),
  searchable: z.boolean(),
  /** Only readers of these groups may see the page; if empty, everyone. */
  groups: z.array(z.string()),
  keywords: z.array(z.string()),
  /** `language` and `version` of its place in the navigation. */
  language: optionalText,
  version: optionalText,
  /** The whole frontmatter by YAML's core schema, without dangerous keys. */
  frontmatter: z.record(z.string(), anyJson),
  /**
   * Project files that its bytes may depend on: those that the page names, which name more themselves (`snippets`), or all of them. Additional files
   * are harmless; a missing one is a bug. Read them by `reachedFiles`.
   */
  dependencies: z.array(z.string()),
  /** The slice of a specification that it shows, by its name among `operations`. */
  reference: optionalText,
  /**
   * Internal targets that the source seems to link to, with a leading slash, without anchor and query; a superset. Those of imported files are here or in
   * `snippets`. Read them by `reachedTargets`.
   */
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
  /** All pages, sorted by path. */
  pages: z.array(pageEntrySchema),
  /**
   * MDX, Markdown and JSX files that other files import, with their direct imports and own link targets. Those of earlier versions have all imports, and no
   * link targets, which are in the entries of pages.
   */
  snippets: z.array(
    fileEntrySchema.extend({ dependencies: z.array(z.string()), linkTargets: z.array(z.string()).optional() }),
  ),
  /** OpenAPI and AsyncAPI files. */
  specs: z.array(fileEntrySchema),
  /** Parts of specifications that one page shows, as made at publication: `openapi.json#GET /users`. Models of earlier versions have none. */
  operations: z.array(fileEntrySchema).optional(),
  /** Files that are copied unchanged, mainly images. Models of earlier versions have no sizes of pictures. */
  assets: z.array(fileEntrySchema.extend({ picture: pictureSizeSchema.optional() })),
  /** The project's own .css and .js files, in the order in which every page loads them. */
  styles: z.array(fileEntrySchema),
  scripts: z.array(fileEntrySchema),
  /** Files that style sheets, scripts and HTML files name, sorted; a superset. Models of earlier versions have none. */
  namedFiles: z.array(z.string()).optional(),
  /** Groups of words and phrases that mean the same, for the search of this documentation. Models of earlier versions have none. */
  synonyms: z.array(z.array(z.string())).optional(),
  /** Instructions for the assistant. Models of earlier versions have none. */
  guidance: assistantGuidanceSchema.optional(),
  /** Skills for agents of readers. Models of earlier versions have none. */
  agentSkills: z.array(agentSkillSchema).optional(),
  redirects: z.array(z.object({ source: z.string(), destination: z.string(), permanent: z.boolean() })),
  diagnostics: z.array(diagnosticSchema),
});

export type SiteModel = z.infer<typeof siteModelSchema>;
export type PageEntry = z.infer<typeof pageEntrySchema>;
export type FileEntry = z.infer<typeof fileEntrySchema>;

/** The site model of a published content version; undefined if there is none. Rejects like `getJson`. */
export const readSiteModel = (
  objectStore: Pick<ObjectStore, 'get'>,
  content: ContentId,
  options?: ReadOptions,
): Promise<SiteModel | undefined> => getJson(objectStore, siteModelKey(content), siteModelSchema, options);
