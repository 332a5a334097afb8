import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageEntry, SiteModel } from '#shared/docs/project/site-model.ts';
import { pageSlice, type RenderOptions } from '#shared/docs/render/page-slice.ts';
import type { RenderRequest } from '#shared/docs/render/render-request.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import type { WarmUp } from '#shared/docs/sandbox/child-pool.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';

/*
 * V8 compiles and optimizes frequently run code: the first 500 pages of a new child take a third more processor time than the next. So spares first
 * render sample pages, which have the most common features of documentation.
 */

const folder = join(import.meta.dirname, 'sample-pages');

/** Number of chunks after which pages take as long as in an old child. They take 0.8 s of processor time. */
const chunksToWarm = 60;
/** Interval of chunks with components. Pages with components take three times as long as others, and code that is optimized for them fits plain pages less. */
const componentsOnceIn = 6;

const options: RenderOptions = {
  groups: [],
  onPageError: 'report',
  allowTenantScripts: true,
  deployment: 'client-hosted',
};

/** Renders our sample pages in spares. Each chunk has other words and code than those before, so that no cache by text has an effect. */
export async function sampleWarmUp(): Promise<WarmUp> {
  const files = (await readdir(folder)).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  const pages = files.map((file, at) => pageOf(file, texts[at] ?? ''));
  const index = indexSite(siteOf(pages));
  const slices = pages.map(({ path }) => pageSlice(index, path, options));
  return {
    requests: chunksToWarm,
    request: (number): RenderRequest => ({
      kind: 'chunk',
      domain: 'samples',
      pages: slices.flatMap((slice, at) =>
        number % componentsOnceIn > 0 && slice.file.endsWith('.mdx')
          ? []
          : [{ slice, source: Buffer.from(numbered(texts[at] ?? '', number)) }],
      ),
      texts: {},
      options,
    }),
  };
}

/** Puts a number wherever the text varies: the sources have a 0 there. */
const numbered = (text: string, number: number): string => text.replace(/\b0\b|(?<=_)0/g, String(number));

function pageOf(file: string, source: string): PageEntry {
  const [, title = '', description = ''] = /^title: "(.*)"\ndescription: "(.*)"$/m.exec(source) ?? [];
  return {
    path: `samples/${file.replace(/\.mdx?$/, '')}`,
    file: `samples/${file}`,
    sha256: sha256Of(source),
    sizeBytes: Buffer.byteLength(source),
    title,
    description,
    deprecated: false,
    inNavigation: true,
    hidden: false,
    noindex: false,
    searchable: true,
    groups: [],
    keywords: [],
    frontmatter: { title, description },
    dependencies: [],
    linkTargets: [
      ...new Set([...source.matchAll(/(?:\(|")(\/samples\/[a-z]+)/g)].map(([, target = '']) => target)),
    ].sort(),
  };
}

function siteOf(pages: PageEntry[]): SiteModel {
  return {
    formatVersion: 1,
    contentVersion: `cv_${'0'.repeat(32)}`,
    settings: {
      name: 'Samples',
      theme: 'mint',
      colors: { primary: '#0d9373' },
      appearance: { default: 'system', strict: false },
      iconLibrary: 'fontawesome',
      styling: { eyebrows: 'section' },
      navbar: { links: [] },
      footer: { socials: {}, links: [] },
      variables: {},
      seo: { indexing: 'navigable', metatags: {} },
      notFound: { redirect: true },
      timestamp: false,
      markdownInstructions: [],
    },
    navigation: [
      {
        kind: 'group',
        title: 'Samples',
        hidden: false,
        children: pages.map(({ path }) => ({ kind: 'page', path })),
      },
    ],
    pages,
    snippets: [],
    specs: [],
    assets: [],
    styles: [],
    scripts: [],
    redirects: [],
    diagnostics: [],
  };
}
