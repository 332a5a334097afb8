import { messageOf } from '#shared/runtime/failures.ts';
import type { Ask } from '#shared/docs/sandbox/child-server.ts';
import type { FileAnswer, FileQuestion } from './analyze-project.ts';
import { mostBytesInQuestion, mostFilesInQuestion } from './expected-analysis.ts';
import type { ProjectFile, ProjectFiles } from './project-files.ts';

/**
 * Reads files of a project from a child process by questions to its parent. Files that are requested at the same time are in one question: a message
 * for each would cost as much as the work on the files.
 */
export function fileReader(ask: Ask, files: readonly ProjectFile[]): ProjectFiles['read'] {
  const sizeOf = new Map(files.map(({ path, sizeBytes }) => [path, sizeBytes]));
  let wanted: (FileQuestion[number] & { answered: (answer: FileAnswer[number] | undefined) => void })[] = [];

  async function askFor(some: typeof wanted): Promise<void> {
    const question: FileQuestion = some.map(({ path, maxBytes }) => ({ path, maxBytes }));
    const answer = (await ask(question).catch((error: unknown) =>
      question.map(() => ({ failed: messageOf(error) })),
    )) as FileAnswer;
    for (const [at, { answered }] of some.entries()) answered(answer[at]);
  }

  function askForAll(): void {
    const all = wanted;
    wanted = [];
    let some: typeof wanted = [];
    let bytes = 0;
    for (const one of all) {
      const more = Math.min(one.maxBytes, sizeOf.get(one.path) ?? 0);
      if (some.length === mostFilesInQuestion || (some.length > 0 && bytes + more > mostBytesInQuestion)) {
        void askFor(some);
        some = [];
        bytes = 0;
      }
      some.push(one);
      bytes += more;
    }
    if (some.length > 0) void askFor(some);
  }

  return (path, maxBytes) =>
    new Promise((resolve, reject) => {
      if (wanted.length === 0) setImmediate(askForAll);
      const answered = (answer: FileAnswer[number] | undefined): void => {
        if (answer instanceof Uint8Array) resolve(answer);
        else reject(new Error(answer?.failed ?? 'the service did not return it'));
      };
      wanted.push({ path, maxBytes, answered });
    });
}
