import { messageOf } from '#shared/runtime/failures.ts';
import { type Ask, serveChild } from '#shared/docs/sandbox/child-server.ts';
import type { AnalyzeRequest, FileAnswer, FileMade, FileQuestion } from './analyze-project.ts';
import { InvalidProject } from './diagnostics.ts';
import { type AnalyzeResponse, mostBytesInQuestion, mostFilesInQuestion } from './expected-analysis.ts';
import type { ProjectFiles } from './project-files.ts';
import type { MadeFile } from '#shared/docs/reference/site-reference.ts';
import { readDocsProject } from './read-docs-project.ts';
import { openReadings } from './readings.ts';

/** The child of `analyzeProject`. It asks its parent for the files of the project. */
serveChild(async (request, ask): Promise<AnalyzeResponse> => {
  const { files, readings: asked } = request as AnalyzeRequest;
  const readings = openReadings(asked?.known, asked?.readerVersion ?? '');
  try {
    const keep = async (made: MadeFile): Promise<void> => void (await ask({ made } satisfies FileMade));
    const project = await readDocsProject({ files, read: fileReader(ask, files) }, keep, readings);
    return { project, readings: asked && readings.packed() };
  } catch (error) {
    if (!(error instanceof InvalidProject)) throw error;
    return { invalid: { code: error.code, file: error.file, message: error.message } };
  }
});

/** Batches files that are requested at the same time into one question: a message for each would cost as much as the work on the files. */
function fileReader(ask: Ask, files: AnalyzeRequest['files']): ProjectFiles['read'] {
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
