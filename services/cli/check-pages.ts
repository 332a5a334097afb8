import { availableParallelism } from 'node:os';
import { renderChild, renderPage } from '#services/page-renderer/render-pages.ts';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { RenderedPage } from '#shared/contracts/stored-objects.ts';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import type { DocsProject } from '#shared/docs/project/read-docs-project.ts';
import type { MadeFile } from '#shared/docs/reference/site-reference.ts';
import { brokenLinkDiagnostic } from '#shared/docs/render/broken-link.ts';
import { brokenLinks } from '#shared/docs/render/export-report.ts';
import { type PageSlice, pageSlice, type RenderOptions } from '#shared/docs/render/page-slice.ts';
import type { RenderRequest } from '#shared/docs/render/render-request.ts';
import { renderSite } from '#shared/docs/render/site/render-site.ts';
import { filesOfSite, indexSite } from '#shared/docs/render/site-index.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { requireNativeParser } from '#shared/docs/sandbox/native-code.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';

const options: RenderOptions = {
  groups: [],
  onPageError: 'fail',
  allowTenantScripts: true,
  deployment: 'client-hosted',
};
const pageDeadlineMs = 30_000;
const whole = Number.MAX_SAFE_INTEGER;
const never = new AbortController().signal;

/**
 * The findings of an export of the pages that everybody may read, in the order of the project. Each page is rendered in a child process, and the
 * result is discarded. `made`: the files that reading the project made. Broken links are found at the end, as in an export. Rejects when a file
 * cannot be read, or children could not start.
 */
export async function checkPages(
  project: DocsProject,
  { read }: Pick<ProjectFiles, 'read'>,
  made: readonly MadeFile[],
): Promise<Diagnostic[]> {
  requireNativeParser();
  const model = { ...project, contentVersion: `cv_${'0'.repeat(32)}` };
  const index = indexSite(model);
  const slots = Math.min(4, availableParallelism());
  const pool = childPool({ ...renderChild, slots, warmSpares: 0 });
  const freshPool = () => childPool({ ...renderChild, slots: 1, warmSpares: 0 });
  const texts = new Map(made.map(({ sha256, text }) => [sha256, Promise.resolve(text)]));
  const textOf = ({ path, sha256 }: { path: string; sha256: string }): Promise<string> => {
    const text = texts.get(sha256) ?? read(path, whole).then((bytes) => Buffer.from(bytes).toString());
    texts.set(sha256, text);
    return text;
  };
  const render = async (slice: PageSlice): Promise<RenderedPage | Diagnostic> => {
    const pairs = slice.dependencies.map(async (file) => [file.path, await textOf(file)] as const);
    const dependencies = Object.fromEntries(await Promise.all(pairs));
    const { sha256, file } = slice;
    const source = texts.has(sha256) ? await textOf({ path: file, sha256 }) : await read(file, whole);
    const request = { kind: 'page', slice, source, dependencies, options } as const satisfies RenderRequest;
    // A page whose child dies or hangs has a second attempt in a new one, as in an export.
    const outcome = await renderPage({ pool, freshPool, pageDeadlineMs }, request, {
      organization: 'checked',
      alone: false,
      signal: never,
    });
    return outcome.kind === 'failed' ? notRendered(slice, `${outcome.reason}.`) : outcome.page;
  };
  try {
    const slices = [...index.exported].map((path) => pageSlice(index, path, options));
    const results = await inParallel(slices, slots, render);
    const pages = results.flatMap((result) => ('path' in result ? [result] : []));
    const files = new Set(
      [...renderSite(model, { ...options, domain: 'checked' }), ...filesOfSite(model).files].map(({ path }) => path),
    );
    for (const path of index.exported) for (const ending of ['.html', '.md']) files.add(`${path}${ending}`);
    for (const { path } of pages.filter(({ feedItems }) => feedItems.length > 0)) files.add(`${path}/rss.xml`);
    files.add('llms-full.txt');
    const fileOf = new Map(slices.map(({ path, file }) => [path, file]));
    const linked = pages.map(({ path, links, linkLines, linkColumns, anchors }) => {
      return { path, links, linkLines, linkColumns, anchors: new Set(anchors) };
    });
    return [
      ...foundOnce(results.flatMap((result) => ('path' in result ? result.diagnostics : [result]))),
      ...[...brokenLinks(model, linked, files)].map((link) =>
        brokenLinkDiagnostic(link, fileOf.get(link.page) ?? link.page),
      ),
    ];
  } finally {
    await pool.close();
  }
}

/** Removes duplicates: a snippet has the same findings on every page that includes it. */
const foundOnce = (found: readonly Diagnostic[]): Iterable<Diagnostic> =>
  new Map(found.map((each) => [JSON.stringify(each), each])).values();

const notRendered = ({ file }: PageSlice, reason: string): Diagnostic => ({
  severity: 'error',
  code: 'page-not-rendered',
  message: `The page cannot be rendered: ${reason}`,
  file,
});
