import type { Command } from 'commander';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { DiagnosticTally } from '#shared/contracts/diagnostic-tally.ts';
import { analyzeProject, projectPool } from '#shared/docs/project/analyze-project.ts';
import type { MadeFile } from '#shared/docs/reference/site-reference.ts';
import { InvalidProject } from '#shared/docs/project/diagnostics.ts';
import { counted, formatNumber, printable } from '#shared/runtime/figures.ts';
import { diagnosticCounts, diagnosticLine } from '../format.ts';
import { privateAddresses } from '../command-options.ts';
import { folderProject } from '../folder-project.ts';
import { noDescriptions, remoteDescriptions, withFiles } from '../remote-descriptions.ts';
import { createOutput, paintFor, textTable } from '../terminal.ts';

type CheckOptions = { pages: boolean; remote: boolean; privateAddresses: boolean };

export function checkCommand(program: Command): void {
  program
    .command('check')
    .description('check a docs project as publication would, without a server')
    .argument('<folder>', 'the folder with docs.json')
    .option('--pages', 'also render every page, and say what an export would leave out', false)
    .option('--remote', 'fetch the API descriptions that the project names by address, as publish does', false)
    .option(...privateAddresses)
    .option('--json', 'print JSON only', false)
    .addHelpText(
      'after',
      `
Prints one line per problem, "file:line:column: severity code: sentence", then a table of them by code. The exit code is 1 if there is an error.`,
    )
    .action(async (folder: string, options: CheckOptions & { json: boolean }) => {
      const check = await checkProject(folder, options);
      const paint = paintFor(process.stdout, process.env);
      const counts = diagnosticCounts(check.diagnostics);
      const verdict = check.publishable ? counted(check.pages, 'page') : 'The project cannot be published';
      createOutput(options.json).result(
        check,
        [
          ...check.diagnostics.map((diagnostic) => diagnosticLine(diagnostic, paint)),
          ...(check.diagnostics.length > 1 ? ['', diagnosticTable(check.diagnostics), ''] : []),
          `${verdict}: ${counts}.`,
        ].join('\n'),
      );
      if (check.diagnostics.some(({ severity }) => severity === 'error')) process.exitCode = 1;
    });
}

/** Number of diagnostics of each code, errors first. */
export function diagnosticTable(diagnostics: readonly Diagnostic[]): string {
  return textTable(
    ['Code', 'Severity', 'Count', 'Files', 'The first of them'],
    new DiagnosticTally()
      .add(diagnostics)
      .rows()
      .map(({ code, severity, count, files, example }) => [
        code,
        severity,
        formatNumber(count).padStart('Count'.length),
        formatNumber(files).padStart('Files'.length),
        cutText(printable(example)),
      ]),
  );
}

const mostText = 100;

const cutText = (text: string): string => (text.length > mostText ? `${text.slice(0, mostText - 1)}…` : text);

/** `pages` is 0 if the project cannot be published. */
type ProjectCheck = { publishable: boolean; pages: number; diagnostics: Diagnostic[] };

/**
 * The diagnostics that publishing this folder would give, and with `pages` also those of its export. The project is read in a child process, as the
 * publisher does it. Throws `NotAProject` when the folder has no `docs.json` or `mint.json`.
 */
async function checkProject(folder: string, options: CheckOptions): Promise<ProjectCheck> {
  const own = await folderProject(folder);
  const remote = options.remote
    ? await remoteDescriptions(own, { allowPrivate: options.privateAddresses })
    : noDescriptions;
  const project = withFiles(own, remote.files);
  const pool = projectPool({ slots: 1 });
  try {
    const made: MadeFile[] = [];
    const keep = (file: MadeFile): void => void made.push(file);
    const { project: docs } = await analyzeProject(pool, project, { organization: 'local', keep });
    const ofPages = options.pages ? await (await import('../check-pages.ts')).checkPages(docs, project, made) : [];
    return {
      publishable: true,
      pages: docs.pages.length,
      diagnostics: [...remote.diagnostics, ...remote.withoutSaid(docs.diagnostics), ...ofPages],
    };
  } catch (error) {
    if (!(error instanceof InvalidProject)) throw error;
    const { code, file, message } = error;
    return { publishable: false, pages: 0, diagnostics: [{ severity: 'error', code, file, message }] };
  } finally {
    await pool.close();
  }
}
