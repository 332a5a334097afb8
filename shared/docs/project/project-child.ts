import { serveChild } from '#shared/docs/sandbox/child-server.ts';
import { InvalidProject } from './diagnostics.ts';
import type { AnalyzeRequest, AnalyzeResponse, FileQuestion } from './analyze-project.ts';
import { readDocsProject } from './read-docs-project.ts';

/** The child of `analyzeProject`. It asks its parent for the files of the project. */
serveChild(async (request, ask): Promise<AnalyzeResponse> => {
  const { files } = request as AnalyzeRequest;
  const read = async (path: string, maxBytes: number): Promise<Uint8Array> =>
    (await ask({ path, maxBytes } satisfies FileQuestion)) as Uint8Array;
  try {
    return { project: await readDocsProject({ files, read }) };
  } catch (error) {
    if (!(error instanceof InvalidProject)) throw error;
    return { invalid: { code: error.code, file: error.file, message: error.message } };
  }
});
