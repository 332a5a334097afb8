import { ChildDied, type ChildProgram, ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import { briefly, type ChildPool, childPool } from '#shared/docs/sandbox/child-pool.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { InvalidProject } from './diagnostics.ts';
import type { ProjectFile, ProjectFiles } from './project-files.ts';
import type { DocsProject } from './read-docs-project.ts';
import { type MadeFile, maxMadeBytes } from '#shared/docs/reference/site-reference.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';

export type AnalyzeRequest = { files: readonly ProjectFile[] };
export type AnalyzeResponse = { project: DocsProject } | { invalid: { code: string; file: string; message: string } };
/** What the child asks for. It has no right to read uploads itself, so a child never sees files of another organization. */
export type FileQuestion = { path: string; maxBytes: number }[];
/** File by file. `failed`: why it cannot be read. */
export type FileAnswer = (Uint8Array | { failed: string })[];

/** A file that the child made for pages. */
export type FileMade = { made: MadeFile };

export type AnalyzeOptions = {
  organization: string;
  deadlineMs?: number;
  signal?: AbortSignal | undefined;
  /** Gets the files that are made for pages, each once; the model names them by their hashes. */
  keep?: (made: MadeFile) => void;
};

const defaultDeadlineMs = 60_000;

/** What the children of `projectPool` run. */
export const projectReader: ChildProgram = { entry: new URL('./project-child.ts', import.meta.url) };

/** Child processes that read uploads. A service makes the pool once and drains it when it stops. */
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
  { organization, deadlineMs = defaultDeadlineMs, signal, keep }: AnalyzeOptions,
): Promise<DocsProject> {
  const known = new Set(project.files.map(({ path }) => path));
  const request: AnalyzeRequest = { files: project.files };
  const read = async ({ path, maxBytes }: FileQuestion[number]): Promise<FileAnswer[number]> => {
    if (!known.has(path)) return { failed: 'there is no such file in the project' };
    try {
      return (await project.read(path, maxBytes)).subarray(0, maxBytes);
    } catch (error) {
      return { failed: messageOf(error) };
    }
  };
  const kept = new Set<string>();
  let keptCharacters = 0;
  /** The child is not trusted: under a hash there is only what has it. */
  const keepMade = async ({ sha256, text }: MadeFile): Promise<FileAnswer> => {
    // A child that died begins again.
    if (kept.has(sha256)) return [];
    keptCharacters += text.length;
    if (keptCharacters > maxMadeBytes) throw new Error('the files that are made for pages are too large');
    if (sha256Of(text) !== sha256) throw new Error('a file that is made for pages has another hash');
    kept.add(sha256);
    keep?.({ sha256, text });
    return [];
  };
  const answer = (content: unknown): Promise<FileAnswer> => {
    const asked = content as FileQuestion | FileMade;
    return 'made' in asked ? keepMade(asked.made) : Promise.all(asked.map(read));
  };
  const run = (): Promise<unknown> => pool.run(request, { deadlineMs, signal, affinity: organization, answer });
  const response = (await responseOf(run)) as AnalyzeResponse;
  if ('project' in response) return response.project;
  const { code, file, message } = response.invalid;
  throw new InvalidProject(code, file, message);
}

/** A child that died gets a second chance: the cause may have been the machine. */
async function responseOf(run: () => Promise<unknown>, attempt = 1): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ChildDied && attempt === 1) return responseOf(run, attempt + 1);
    if (!(error instanceof ChildTimedOut || error instanceof ChildDied)) throw error;
    const message = `The project cannot be read: ${error.message}. Publish part of it to find the file that causes this.`;
    throw new InvalidProject('project-not-read', '', message);
  }
}
