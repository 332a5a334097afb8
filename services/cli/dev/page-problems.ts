import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';

/** A problem as the browser shows it: with the lines around its place. */
export type ShownProblem = Diagnostic & { lines: { number: number; text: string; isPlace: boolean }[] };

const around = 2;
const mostCharacters = 240;
const mostBytes = 4 * 1024 * 1024;
const mostShown = 20;

/** Adds the lines of the source around each problem. Problems without a line, and those of files that cannot be read, have none. */
export async function withLines(
  problems: readonly Diagnostic[],
  { read }: Pick<ProjectFiles, 'read'>,
): Promise<ShownProblem[]> {
  const texts = new Map<string, Promise<string[]>>();
  const linesOf = (file: string): Promise<string[]> => {
    const lines =
      texts.get(file) ??
      read(file, mostBytes).then(
        (bytes) =>
          Buffer.from(bytes)
            .toString()
            .split(/\r\n|\r|\n/),
        () => [],
      );
    texts.set(file, lines);
    return lines;
  };
  return Promise.all(
    problems.slice(0, mostShown).map(async (problem) => {
      const { line } = problem;
      if (line === undefined) return { ...problem, lines: [] };
      const all = await linesOf(problem.file);
      const first = Math.max(1, line - around);
      const lines = all.slice(first - 1, line + around).map((text, at) => {
        return { number: first + at, text: text.slice(0, mostCharacters), isPlace: first + at === line };
      });
      return { ...problem, lines };
    }),
  );
}

/** The problem of a project that cannot be read. Problems of JSON name their line in the sentence. */
export function invalidProblem({ code, file, message }: { code: string; file: string; message: string }): Diagnostic {
  const [, line, column] = /\bline (\d+),? column (\d+)/.exec(message) ?? [];
  return {
    ...{ severity: 'error', code, file, message },
    ...(line !== undefined && { line: Number(line), column: Number(column) }),
  };
}
