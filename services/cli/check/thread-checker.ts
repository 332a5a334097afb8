import type { MessagePort } from 'node:worker_threads';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { folderProject } from '../folder-project.ts';
import { withFiles } from '../remote/with-files.ts';
import {
  type Checker,
  checkFolder,
  type FolderCheck,
  type FolderCheckOptions,
  checkRenderOptions,
} from './check-folder.ts';

/** Settings of a thread. `compiled` is the folder of Node's compile cache. */
export type ThreadData = { compiled: string };

/** A question to the thread. `added`: files that are not in the folder. */
export type ThreadQuestion = { folder: string; added: ReadonlyMap<string, Uint8Array>; options: FolderCheckOptions };
/** Messages of the thread: a sign of life for each page, and at the end the result or the reason of a failure. */
export type ThreadAnswer =
  | { kind: 'alive' }
  | { kind: 'checked'; check: FolderCheck }
  | { kind: 'failed'; why: string };

/** Answers questions one after the other, and keeps the rendered pages for the next one. */
export function threadChecker(port: Pick<MessagePort, 'postMessage'>): (question: ThreadQuestion) => Promise<void> {
  const say = (answer: ThreadAnswer): void => port.postMessage(answer);
  const checker: Checker = {
    known: new Map(),
    read: (project, keep) => readDocsProject(project, (made) => Promise.resolve(keep(made))),
    async render(inputs) {
      // The renderer is most of the code, and a check without pages does not need it.
      const { checkedPages } = await import('#shared/docs/render/checked-page.ts');
      return inputs.flatMap(({ texts, ...page }) => {
        say({ kind: 'alive' });
        return checkedPages({ pages: [page], texts, options: checkRenderOptions });
      });
    },
  };
  return async ({ folder, added, options }) => {
    try {
      const project = withFiles(await folderProject(folder), added);
      say({ kind: 'checked', check: await checkFolder(project, checker, options) });
    } catch (error) {
      say({ kind: 'failed', why: messageOf(error) });
    }
  };
}
