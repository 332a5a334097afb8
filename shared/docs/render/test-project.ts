import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import type { PageText, RenderedPage, SegmentSidecar } from '#shared/contracts/stored-objects.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import { textsOf } from '#shared/export/bundle/packed-segment.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import type { RenderedFile, RenderedText } from './bundle-paths.ts';
import { pageSlice, type SiteRenderOptions } from './page-slice.ts';
import { closingPart } from './closing-part.ts';
import type { StoredText } from './closing-store.ts';
import { type ClosingInput, renderClosing } from './render-closing.ts';
import { indexSite } from './site-index.ts';
import { renderPage } from './render-page.ts';

/** A docs project in memory, for tests. */
export type TestProject = {
  model: SiteModel;
  text(path: string): string;
  bytes(path: string): Uint8Array;
  render: (path: string, options?: SiteRenderOptions) => ReturnType<typeof renderPage>;
};

export const testOptions: SiteRenderOptions = {
  domain: 'test',
  groups: [],
  onPageError: 'fail',
  allowTenantScripts: true,
  deployment: 'client-hosted',
};

const settings = { name: 'Test', theme: 'mint', colors: { primary: '#0f766e' } };

/** Reads a project from texts by path. Without a docs.json, all pages are in its navigation. */
export async function testProject(files: Record<string, string | Uint8Array>): Promise<TestProject> {
  const pages = Object.keys(files).filter((path) => /\.mdx?$/.test(path) && !/^_?snippets\//.test(path));
  const navigation = { pages: pages.map((path) => path.replace(/\.mdx?$/, '')) };
  const written = { 'docs.json': JSON.stringify({ ...settings, navigation }), ...files };
  const all = new Map(Object.entries(written).map(([path, file]) => [path, Buffer.from(file)]));
  const bytes = (path: string): Uint8Array => all.get(path) ?? new Uint8Array();
  const text = (path: string): string => Buffer.from(bytes(path)).toString();
  const made = new Map<string, string>();
  const source = {
    files: [...all].map(([path, bytes]) => ({ path, sha256: sha256Of(bytes), sizeBytes: bytes.length })),
    read: (path: string) => Promise.resolve(bytes(path)),
  };
  const project = await readDocsProject(source, ({ sha256, text }) => Promise.resolve(void made.set(sha256, text)));
  const model: SiteModel = { ...project, contentVersion: `cv_${'0'.repeat(32)}` };
  const textOf = (file: { path: string; sha256: string }): string => made.get(file.sha256) ?? text(file.path);
  return { model, text, bytes, render: (path, options) => renderOne(model, textOf, path, options) };
}

function renderOne(
  model: SiteModel,
  textOf: (file: { path: string; sha256: string }) => string,
  path: string,
  options: SiteRenderOptions = testOptions,
): ReturnType<typeof renderPage> {
  const slice = pageSlice(indexSite(model), path, options);
  const dependencies = Object.fromEntries(slice.dependencies.map((file) => [file.path, textOf(file)]));
  const source = textOf({ path: slice.file, sha256: slice.sha256 });
  return renderPage({ slice, source, dependencies, options });
}

/** Renders a project of one page and returns its content's HTML, its Markdown and the codes of its diagnostics. */
export async function renderedContent(source: string, others: Record<string, string> = {}) {
  const project = await testProject({ 'page.mdx': source, ...others });
  const { files, page } = project.render('page');
  const html = Buffer.from(files[0]?.body ?? '').toString();
  const start = html.indexOf('class="mdx-content">') + 'class="mdx-content">'.length;
  const end = html.lastIndexOf('\n</div></div>\n', html.indexOf('</main>'));
  return {
    html,
    content: html.slice(start, end).trim(),
    markdown: Buffer.from(files[1]?.body ?? '').toString(),
    page,
    codes: page.diagnostics.map((diagnostic) => diagnostic.code),
  };
}

/** The closing segment of a site with two segments: one has these files, the other these pages. */
export function closingFiles(
  model: SiteModel,
  pages: readonly RenderedPage[],
  bundle: {
    domain: string;
    label?: string;
    site?: readonly RenderedFile[];
    files?: readonly (RenderedFile | RenderedText)[];
  },
): Promise<RenderedFile[]> {
  const { domain, label, site = [], files = [] } = bundle;
  const { contentVersion } = model;
  const rendered = { rendererVersion: 'r-000000000000', deployment: 'cloud' as const, groups: [] };
  const plan = { domain, contentVersion, ...rendered, ...(label !== undefined && { label }) };
  const summary = {
    version: 1 as const,
    sha256: '0'.repeat(64),
    crc32: 0,
    rawLength: 0,
    sizeBytes: 0,
    diagnostics: [],
  };
  const listed = (of: readonly (RenderedFile | RenderedText)[]) =>
    of.map(({ path, body }) => ({
      path: `${domain}/${path}`,
      size: Buffer.byteLength(body),
      sha256: sha256Of(body),
    }));
  return closingFrom({ model, plan }, [
    { ...summary, files: listed(site), pages: [] },
    { ...summary, files: listed(files), pages: [...pages] },
  ]);
}

/** The closing segment of a site with these sidecars and the texts of their pages. */
export async function closingFrom(
  site: Pick<ClosingInput, 'model' | 'plan'>,
  sidecars: readonly (SegmentSidecar & { pages: RenderedPage[] })[],
): Promise<RenderedFile[]> {
  const made: RenderedFile[] = [];
  const { lost } = await renderClosing(
    { ...site, runCount: sidecars.length },
    {
      part(run) {
        const { part, add } = closingPart(`${site.plan.domain}/`);
        for (const sidecar of sidecars.slice(run, run + 1)) add(sidecar);
        return Promise.resolve({ part, segmentCount: 1, isLast: true });
      },
      text: (stored) => Promise.resolve(textOf(sidecars, stored)),
      shortSizes: (_, texts) => Promise.resolve(texts.map(() => null)),
      async write(path, size, pieces) {
        const parts = [...pieces].flatMap((piece) => {
          if (piece instanceof Uint8Array) return [piece];
          if ('longest' in piece) return piece.made.map((short) => short ?? Buffer.of());
          return piece.map((stored) => textOf(sidecars, stored));
        });
        const body = Buffer.concat(parts);
        if (body.length !== size) throw new Error(`${path} has ${body.length} bytes, and ${size} were stated`);
        made.push({ path, body });
        return sha256Of(body);
      },
    },
  );
  if (lost.length > 0) throw new Error('a sidecar is missing');
  return made;
}

function textOf(
  sidecars: readonly { pages: readonly PageText[] }[],
  { segment, of, begin, end }: StoredText,
): Uint8Array {
  return textsOf(sidecars[segment]?.pages ?? [], of).subarray(begin, end);
}
