import { z } from 'zod';
import type { ProjectFile } from '#shared/docs/project/project-files.ts';
import type { PageFeed } from '#shared/docs/render/closing-part.ts';
import { fromProjectChildLimits } from '#shared/docs/sandbox/child-messages.ts';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { ChildDied, ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import { withSnapshotSoon } from '#shared/docs/sandbox/child-snapshot.ts';
import { answerer } from '#shared/docs/sandbox/child-request.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import type { DevFiles } from './dev-files.ts';
import type { PageToRender, SearchPlan, SiteAnswer, SiteReading, SiteRequest } from './site-questions.ts';

/** The model of the site, in a child process that is started again if it dies. */
export type DevModel = {
  load(): Promise<SiteReading>;
  change(files: readonly ProjectFile[], gone: readonly string[]): Promise<SiteReading>;
  find(target: string): Promise<SiteAnswer>;
  pages(paths: readonly string[]): Promise<(PageToRender | null)[]>;
  siteFiles(): Promise<[path: string, sha256: string][]>;
  search(): Promise<SearchPlan>;
  feed(page: PageFeed): Promise<string>;
  listed(): Promise<string[]>;
  close(): Promise<void>;
};

/** The frame of pages is written by the code that parses them, which has native parts. */
const siteChild = { entry: new URL('./site-child.ts', import.meta.url), addons: true };
const deadlineMs = 60_000;
/** Without a snapshot the children only start later. */
export const quiet = { info() {}, warn() {} };
/** The longest time that a timer can have: the child keeps the model, so it never ends because it is idle. */
const never = 2 ** 31 - 1;
const memoryLimitMb = 768;
/** The child only has the project of the person who started it, so its answers are not checked. */
const anyAnswer = <T>() => ({ schema: z.custom<T>() });

const question = z.array(z.object({ path: z.string(), maxBytes: z.number() }));

/**
 * Starts the child. A project that it cannot read within its deadline or memory is an invalid one, with the reason; the child then starts again with
 * the files of the next change.
 */
export async function devModel(files: DevFiles, signal: AbortSignal): Promise<DevModel> {
  const program = await withSnapshotSoon(siteChild, quiet, signal);
  const pool = childPool({
    ...program,
    limits: fromProjectChildLimits,
    ...{ slots: 1, warmSpares: 0, parked: 1, idleAfterMs: never, requestsPerChild: Infinity, memoryLimitMb },
  });
  let isLoaded = false;
  const answers = answerer(
    question,
    (asked) =>
      Promise.all(
        asked.map(({ path, maxBytes }) =>
          files.read(path, maxBytes).catch((error: unknown) => ({ failed: messageOf(error) })),
        ),
      ),
    { atOnce: 4 },
  );
  async function run<T>(request: SiteRequest): Promise<T> {
    try {
      return await pool.run<T>(request, { expects: anyAnswer<T>(), deadlineMs, affinity: 'local', answers });
    } catch (error) {
      if (error instanceof ChildDied || error instanceof ChildTimedOut) isLoaded = false;
      throw error;
    }
  }
  async function load(): Promise<SiteReading> {
    const reading = await run<SiteReading>({ kind: 'load', files: files.files, read: files.takeRead() });
    isLoaded = true;
    return reading;
  }
  /** Asks the child, which gets the whole project first if it is a new one. */
  async function ask<T>(request: SiteRequest): Promise<T> {
    if (!isLoaded) await load();
    return run<T>(request);
  }
  return {
    load,
    change: (changed, gone) => (isLoaded ? run({ kind: 'change', files: changed, gone }) : load()),
    find: (target) => ask({ kind: 'find', target }),
    pages: (paths) => ask({ kind: 'pages', paths }),
    siteFiles: () => ask({ kind: 'site-files' }),
    search: () => ask({ kind: 'search' }),
    feed: (page) => ask({ kind: 'feed', page }),
    listed: () => ask({ kind: 'listed' }),
    close: () => pool.close(),
  };
}
