import { type Ask, serveChild } from '#shared/docs/sandbox/child-server.ts';
import type { AnalyzeRequest, FileMade } from './analyze-project.ts';
import { InvalidProject } from './diagnostics.ts';
import type { AnalyzeResponse, RereadResponse } from './expected-analysis.ts';
import { fileReader } from './file-reader.ts';
import type { MadeFile } from '#shared/docs/reference/site-reference.ts';
import { readDocsProject } from './read-docs-project.ts';
import { openReadings } from './readings.ts';
import { type RereadRequest, rereadPages } from './reread-pages.ts';

/** The child of `analyzeProject` and `rereadInChild`. It asks its parent for the files of the project. */
serveChild((request, ask) =>
  'changed' in (request as object) ? reread(request as RereadRequest, ask) : analyze(request as AnalyzeRequest, ask),
);

async function reread(request: RereadRequest, ask: Ask): Promise<RereadResponse> {
  return (await rereadPages(request, fileReader(ask, request.changed))) ?? { isMore: true };
}

async function analyze({ files, readings: asked }: AnalyzeRequest, ask: Ask): Promise<AnalyzeResponse> {
  const readings = openReadings(asked?.known, asked?.readerVersion ?? '');
  try {
    const keep = async (made: MadeFile): Promise<void> => void (await ask({ made } satisfies FileMade));
    const project = await readDocsProject({ files, read: fileReader(ask, files) }, keep, readings);
    return { project, readings: asked && readings.packed() };
  } catch (error) {
    if (!(error instanceof InvalidProject)) throw error;
    return { invalid: { code: error.code, file: error.file, message: error.message } };
  }
}
