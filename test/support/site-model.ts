import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { type FileEntry, type PageEntry, type SiteModel, siteModelSchema } from '#shared/docs/project/site-model.ts';

export type PageOfModel = { path: string; text?: string; groups?: string[]; dependencies?: string[] };
type Texts = Readonly<Record<string, string>>;

/** A site model as the publisher makes it, with pages whose source is `text`. Tests override the fields that matter to them. */
export function siteModel(
  pages: readonly PageOfModel[],
  files: { assets?: Texts; styles?: Texts; scripts?: Texts; snippets?: Texts } = {},
): SiteModel {
  const sorted = [...pages].sort((a, b) => (a.path < b.path ? -1 : 1));
  return siteModelSchema.parse({
    formatVersion: 1,
    contentVersion: `cv_${sha256Of(JSON.stringify([sorted, files])).slice(0, 32)}`,
    settings: {
      name: 'Docs',
      theme: 'mint',
      colors: { primary: '#0d9373' },
      appearance: { default: 'system', strict: false },
      iconLibrary: 'fontawesome',
      styling: { eyebrows: 'section' },
      navbar: { links: [] },
      footer: { socials: {}, links: [] },
      variables: {},
      seo: { indexing: 'navigable', metatags: {} },
      notFound: { redirect: false },
      timestamp: false,
      markdownInstructions: [],
    },
    navigation: sorted.map(({ path }) => ({ kind: 'page', path })),
    pages: sorted.map(pageEntry),
    snippets: entries(files.snippets).map((file) => ({ ...file, dependencies: [] })),
    specs: [],
    assets: entries(files.assets),
    styles: entries(files.styles),
    scripts: entries(files.scripts),
    redirects: [],
    diagnostics: [],
  } satisfies SiteModel);
}

/** Default source of a page. */
export const sourceOf = ({ path, text }: PageOfModel): string => text ?? `# ${path}\n\nText of ${path}.\n`;

function pageEntry(page: PageOfModel): PageEntry {
  const source = sourceOf(page);
  return {
    path: page.path,
    file: `${page.path}.mdx`,
    sha256: sha256Of(source),
    sizeBytes: Buffer.byteLength(source),
    title: `Title of ${page.path}`,
    deprecated: false,
    inNavigation: true,
    hidden: false,
    noindex: false,
    searchable: true,
    groups: page.groups ?? [],
    keywords: [],
    frontmatter: {},
    dependencies: page.dependencies ?? [],
    linkTargets: [],
  };
}

function entries(texts: Texts = {}): FileEntry[] {
  return Object.entries(texts)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, text]) => ({ path, sha256: sha256Of(text), sizeBytes: Buffer.byteLength(text) }));
}
