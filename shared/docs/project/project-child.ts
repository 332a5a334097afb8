import { serveChild } from '#shared/docs/sandbox/child-server.ts';
import type { AnalyzeRequest, FileMade } from './analyze-project.ts';
import { InvalidProject } from './diagnostics.ts';
import type { AnalyzeResponse } from './expected-analysis.ts';
import { fileReader } from './file-reader.ts';
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
