import { fromProjectChildLimits } from '#shared/docs/sandbox/child-messages.ts';
import { ChildDied, type ChildProgram, ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import { briefly, type ChildPool, childPool } from '#shared/docs/sandbox/child-pool.ts';
import { answerer } from '#shared/docs/sandbox/child-request.ts';
import { Misfit } from '#shared/docs/sandbox/frames.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { InvalidProject } from './diagnostics.ts';
import type { RereadPages } from './changed-pages.ts';
import {
  analysisQuestion,
  type AnalyzeResponse,
  expectedAnalysis,
  expectedReread,
  mostBytesInQuestion,
} from './expected-analysis.ts';
import type { FindingCode } from '#shared/docs/findings/finding-texts.ts';
import type { ProjectFile, ProjectFiles } from './project-files.ts';
import type { DocsProject } from './read-docs-project.ts';
import type { RereadRequest } from './reread-pages.ts';
import type { MadeFile } from '#shared/docs/reference/site-reference.ts';
import { maxMadeBytes } from '#shared/docs/reference/specification-limits.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';

export type AnalyzeRequest = {
  files: readonly ProjectFile[];
  /** Asks for the packed readings of the files. `known`: those of an earlier version of the project. */
  readings?: { known?: Uint8Array | undefined; readerVersion: string } | undefined;
};
/** Question of the child: files, and the number of bytes that it needs of each. */
export type FileQuestion = { path: string; maxBytes: number }[];
/** Answers in the order of the question. `failed` is the reason why a file cannot be read. */
export type FileAnswer = (Uint8Array | { failed: string })[];

/** A file that the child made for pages. */
export type FileMade = { made: MadeFile };

export type AnalyzeOptions = {
  organization: string;
  deadlineMs?: number;
  signal?: AbortSignal | undefined;
  /** Receives the files that are made for pages, each once; the model names them by their hashes. */
  keep?: (made: MadeFile) => void;
  /**
   * Readings of an earlier version of the project, and the version of the reading code; the outcome then has the readings of this version of the
   * project.
   */
  readings?: AnalyzeRequest['readings'];
};

export type Analysis = {
  project: DocsProject;
  /** Packed readings (`readings.ts`); absent if they are too large or were not asked for. */
  readings?: Uint8Array | undefined;
};

const defaultDeadlineMs = 60_000;
const answersAtOnce = 2;

/** The program of the children of `projectPool`. */
export const projectReader: ChildProgram = {
  entry: new URL('./project-child.ts', import.meta.url),
  limits: fromProjectChildLimits,
};

/** Child processes that read uploads. A service makes the pool once and drains it at shutdown. */
export function projectPool(
  options: { slots: number; memoryLimitMb?: number },
  program: ChildProgram = projectReader,
): ChildPool {
  return childPool({ ...options, ...briefly, ...program });
}

/**
 * `readDocsProject` in a killable child of `pool`, for files that a tenant sent. Throws `InvalidProject`, also when the files crash the
 * child or take longer than the deadline (60 s).
 */
export async function analyzeProject(
  pool: ChildPool,
  project: ProjectFiles,
  { organization, deadlineMs = defaultDeadlineMs, signal, keep, readings }: AnalyzeOptions,
): Promise<Analysis> {
  const request: AnalyzeRequest = { files: project.files, readings };
  const readAll = answersOf(project);
  const kept = new Map<string, number>();
  let keptCharacters = 0;
  /** The child is not trusted, so the hash of each file is checked before it is stored under it. */
  const keepMade = async ({ sha256, text }: MadeFile): Promise<FileAnswer> => {
    // If the first child died, the second one makes the same files again.
    if (kept.has(sha256)) return [];
    keptCharacters += text.length;
    if (keptCharacters > maxMadeBytes) throw new Error('the files that are made for pages are too large');
    if (sha256Of(text) !== sha256) throw new Misfit('it named a wrong hash for a file that it made');
    kept.set(sha256, Buffer.byteLength(text));
    keep?.({ sha256, text });
    return [];
  };
  const answers = answerer(
    analysisQuestion,
    async (asked) => ('made' in asked ? keepMade(asked.made) : readAll(asked)),
    { atOnce: answersAtOnce },
  );
  const run = { expects: expectedAnalysis(project.files, kept), deadlineMs, signal, affinity: organization, answers };
  const response = await responseOf(() => pool.run(request, run));
  if ('project' in response) return response;
  const { code, file, message } = response.invalid;
  throw new InvalidProject(code as FindingCode, file, message);
}

/**
 * `rereadPages` in a killable child of `pool`. Undefined also when the child fails: reading the whole project then tells the author about the cause.
 */
export async function rereadInChild(
  pool: ChildPool,
  request: RereadRequest,
  read: ProjectFiles['read'],
  { organization, signal }: { organization: string; signal: AbortSignal },
): Promise<RereadPages | undefined> {
  const readAll = answersOf({ files: request.changed, read });
  const answers = answerer(
    analysisQuestion,
    async (asked) => {
      if ('made' in asked) throw new Misfit('it made a file for a page that has none');
      return readAll(asked);
    },
    { atOnce: answersAtOnce },
  );
  const expects = expectedReread(request.changed);
  const run = { expects, deadlineMs: defaultDeadlineMs, signal, affinity: organization, answers };
  const response = await pool.run(request, run).catch((error: unknown) => {
    if (signal.aborted) throw error;
    return undefined;
  });
  return response === undefined || 'isMore' in response ? undefined : response;
}

/** Answers questions for bytes of files. */
function answersOf(project: ProjectFiles): (asked: FileQuestion) => Promise<FileAnswer> {
  const sizeOf = new Map(project.files.map(({ path, sizeBytes }) => [path, sizeBytes]));
  const read = async ({ path, maxBytes }: FileQuestion[number]): Promise<FileAnswer[number]> => {
    if (!sizeOf.has(path)) return { failed: 'there is no such file in the project' };
    try {
      return (await project.read(path, maxBytes)).subarray(0, maxBytes);
    } catch (error) {
      return { failed: messageOf(error) };
    }
  };
  return (asked) => {
    const bytes = asked.reduce((sum, { path, maxBytes }) => sum + Math.min(maxBytes, sizeOf.get(path) ?? 0), 0);
    if (bytes > mostBytesInQuestion) throw new Misfit('it asked for more bytes than it may at once');
    return Promise.all(asked.map(read));
  };
}

/** Tries again once after the child died, because the machine may have been the cause. */
async function responseOf(run: () => Promise<AnalyzeResponse>, attempt = 1): Promise<AnalyzeResponse> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ChildDied && attempt === 1) return responseOf(run, attempt + 1);
    if (!(error instanceof ChildTimedOut || error instanceof ChildDied)) throw error;
    const message = `The project cannot be read: ${error.message}. Publish part of it to find the file that causes this.`;
    throw new InvalidProject('project-not-read', '', message);
  }
}
