import { availableParallelism } from 'node:os';
import { LRUCache } from 'lru-cache';
import { renderChild, renderPage, runChild } from '#services/page-renderer/render-pages.ts';
import type { RenderedPage } from '#shared/contracts/stored-objects.ts';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import type { RenderedFile, RenderedText } from '#shared/docs/render/bundle-paths.ts';
import type { RenderOptions } from '#shared/docs/render/page-slice.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { withSnapshotSoon } from '#shared/docs/sandbox/child-snapshot.ts';
import { requireNativeParser } from '#shared/docs/sandbox/native-code.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { quiet } from './dev-model.ts';
import type { PageToRender } from './site-questions.ts';

/** A rendered page. `key` is the digest of everything that a browser shows of it. */
export type DevPage = {
  path: string;
  file: string;
  key: string;
  files: ReadonlyMap<string, string | Uint8Array>;
  facts: RenderedPage;
  /** Files of the project that it includes, and its scripts. */
  includes: readonly string[];
  scripts: readonly string[];
  /** The reason why the page shows its plain source: no process could render it. */
  failure?: string;
};

/** Renders pages as an export does, in the same sandboxed children, and keeps the last ones. */
export type DevPages = {
  render(page: PageToRender): Promise<DevPage>;
  /** A file of a rendered page that is still kept. */
  fileOf(path: string): string | Uint8Array | undefined;
  /** Runs a request of an export that changes a project file. */
  published(path: string, source: Uint8Array, leftOut: readonly string[]): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
};

const usualDeadlineMs = 30_000;
const whole = Number.MAX_SAFE_INTEGER;
const never = new AbortController().signal;
const organization = 'local';
const keptBytes = 48 * 1024 * 1024;
/** Texts of snippets and of parts of API descriptions are read again for each rendering: the file may have changed since the model was made. */
const readsAtOnce = 8;

/** Options of the children, for tests. `pageDeadlineMs` is processor time. */
export type DevPagesOptions = { program?: typeof renderChild; pageDeadlineMs?: number };

export async function devPages(
  { read }: Pick<ProjectFiles, 'read'>,
  signal: AbortSignal,
  { program: written = renderChild, pageDeadlineMs = usualDeadlineMs }: DevPagesOptions = {},
): Promise<DevPages> {
  requireNativeParser();
  const program = await withSnapshotSoon(written, quiet, signal);
  const slots = Math.max(1, Math.min(2, availableParallelism()));
  const pool = childPool({ ...program, slots, warmSpares: 1, idleAfterMs: 2 ** 31 - 1 });
  const freshPool = () => childPool({ ...program, slots: 1, warmSpares: 0 });
  const context = { pool, freshPool, pageDeadlineMs };
  // The first child starts while the project is read.
  const first = { kind: 'isolated-file', path: 'first.svg', source: undefined } as const;
  runChild(pool, first, { deadlineMs: pageDeadlineMs, affinity: organization, signal: never }).catch(() => undefined);
  const underWay = new Map<string, Promise<DevPage>>();
  /** Files that only one page uses, by path. */
  const ofPages = new Map<string, string>();
  const kept = new LRUCache<string, { inputs: string; page: DevPage }>({
    maxSize: keptBytes,
    sizeCalculation: ({ page }) => 1_000 + [...page.files.values()].reduce((sum, { length }) => sum + length, 0),
  });

  async function rendered({ slice, made }: PageToRender): Promise<DevPage> {
    const textOf = async (path: string): Promise<string> =>
      made[path] ?? Buffer.from(await read(path, whole).catch(() => new Uint8Array())).toString();
    const texts = await inParallel(
      slice.dependencies,
      readsAtOnce,
      async ({ path }) => [path, await textOf(path)] as const,
    );
    const source = made[slice.file] ?? (await read(slice.file, whole).catch(() => new Uint8Array()));
    const dependencies = Object.fromEntries(texts);
    const inputs = sha256Of(JSON.stringify([slice, dependencies, sha256Of(source)]));
    const known = kept.get(slice.path);
    if (known?.inputs === inputs) return known.page;
    const options: RenderOptions = {
      groups: [],
      onPageError: 'fail',
      allowTenantScripts: true,
      deployment: 'client-hosted',
    };
    const how = { organization, alone: false, signal: never };
    const first = await renderPage(context, { kind: 'page', slice, source, dependencies, options }, how);
    const reason = first.kind === 'failed' ? first.reason : undefined;
    const shown =
      reason === undefined ? first : await renderPage(context, { kind: 'failed-page', slice, source, reason }, how);
    if (shown.kind === 'failed') throw new Error(shown.reason);
    const files = new Map<string, string | Uint8Array>(
      [...shown.files, ...(shown.pictures ?? [])].map(({ path, body }: RenderedText | RenderedFile) => [path, body]),
    );
    const key = sha256Of(
      JSON.stringify(
        [...files].filter(([path]) => !path.endsWith('.md')).map(([path, body]) => [path, sha256Of(body)]),
      ),
    );
    const page: DevPage = {
      ...{ path: slice.path, file: slice.file, key: key.slice(0, 16), files, facts: shown.page },
      includes: slice.dependencies.map(({ path }) => path),
      scripts: slice.scripts,
      ...(reason !== undefined && { failure: reason }),
    };
    kept.set(slice.path, { inputs, page });
    for (const path of files.keys()) ofPages.set(path, slice.path);
    return page;
  }

  return {
    async render(asked) {
      const key = sha256Of(JSON.stringify([asked.slice.path, asked.slice.sha256, asked.slice.dependencies]));
      const known = underWay.get(key);
      if (known !== undefined) return known;
      const page = rendered(asked).finally(() => underWay.delete(key));
      underWay.set(key, page);
      return page;
    },
    fileOf(path) {
      const page = ofPages.get(path);
      return page === undefined ? undefined : kept.get(page)?.page.files.get(path);
    },
    async published(path, source, leftOut) {
      const readers = { groups: [], leftOut };
      const { files } = await runChild(
        pool,
        { kind: 'description', path, source, readers },
        { deadlineMs: pageDeadlineMs, affinity: organization, signal: never },
      );
      return files[0]?.body;
    },
    close: () => pool.close(),
  };
}
