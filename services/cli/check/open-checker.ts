import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { cacheFolder } from '#infra/setup/server-locations.mjs';
import { projectFilesIn, folderProject } from '../folder-project.ts';
import { withFiles } from '../remote/with-files.ts';
import { type FolderCheck, type FolderCheckOptions, checkFolder } from './check-folder.ts';
import type { childChecker } from './child-checker.ts';
import type { ThreadAnswer, ThreadData, ThreadQuestion } from './thread-checker.ts';

/** Checks folders, one after the other. Pages that a folder shares with one before are rendered once. */
export type FolderChecker = {
  /** Starts what the check of this folder will need, so that it starts while the caller does other things. Failures are those of `check`. */
  prepare(folder: string): Promise<void>;
  check(folder: string, options: FolderCheckOptions & { added: ReadonlyMap<string, Uint8Array> }): Promise<FolderCheck>;
  close(): Promise<void>;
};

/** Largest project that a thread checks. Rendering more pages takes longer than the start of several processes. */
const mostPagesOfThread = 120;
/** Time without a sign of life after which a thread hangs. A page takes milliseconds. */
const silentMs = 20_000;
const threadMemoryMb = 1_024;

type ChildChecker = ReturnType<typeof childChecker>;

const startChildren = async (): Promise<ChildChecker> => (await import('./child-checker.ts')).childChecker();

const checkThread = { entry: new URL('./check-thread.ts', import.meta.url), silentMs };

/**
 * Opens a checker. Its `check` rejects with `NotAProject` on a folder without `docs.json`. `openChildren` starts the processes that check large
 * projects, and those that the thread could not check, such as one with a page on which it hangs.
 */
export function openChecker(openChildren = startChildren, program = checkThread): FolderChecker {
  let thread: Worker | undefined;
  let children: ChildChecker | undefined;
  const isForThread = async (folder: string): Promise<boolean> => {
    const pages = (await projectFilesIn(folder)).filter((path) => /\.mdx?$/i.test(path));
    return children === undefined && pages.length <= mostPagesOfThread;
  };
  return {
    async prepare(folder) {
      if (await isForThread(folder).catch(() => false)) thread ??= startThread(program.entry);
    },
    async check(folder, { added, ...options }) {
      if (await isForThread(folder)) {
        thread ??= startThread(program.entry);
        const check = await askThread(thread, { folder, added, options }, program.silentMs);
        if (check !== undefined) return check;
        void thread.terminate();
        thread = undefined;
      }
      children ??= await openChildren();
      return await checkFolder(withFiles(await folderProject(folder), added), children, options);
    },
    async close() {
      void thread?.terminate();
      await children?.close();
    },
  };
}

function startThread(entry: URL): Worker {
  const thread = new Worker(entry, {
    workerData: { compiled: join(cacheFolder(), 'compiled') } satisfies ThreadData,
    resourceLimits: { maxOldGenerationSizeMb: threadMemoryMb },
    stdout: false,
  });
  // An error of a thread without a listener would end this process.
  return thread.on('error', () => undefined);
}

/** The answer of the thread; undefined if it hangs, ends or fails. Then child processes find the reason. */
function askThread(thread: Worker, question: ThreadQuestion, withinMs: number): Promise<FolderCheck | undefined> {
  return new Promise((resolve) => {
    const end = (check?: FolderCheck): void => {
      clearTimeout(timer);
      // Only these: `removeAllListeners` would also remove the worker's own listeners, without which it receives no further message.
      thread.off('message', hear).off('error', fail).off('exit', fail);
      resolve(check);
    };
    const fail = (): void => end();
    const hear = (answer: ThreadAnswer): void => {
      if (answer.kind === 'alive') timer.refresh();
      else end(answer.kind === 'checked' ? answer.check : undefined);
    };
    const timer = setTimeout(fail, withinMs);
    thread.on('message', hear).on('error', fail).on('exit', fail);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have an origin
    thread.postMessage(question);
  });
}
