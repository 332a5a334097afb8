import type { Command } from 'commander';
import { checkProject } from './check-project.ts';
import { diagnosticCounts, diagnosticLine } from './diagnostic-line.ts';
import { createOutput } from './output.ts';
import { paintFor } from './paint.ts';
import { counted } from './timeline/words.ts';

export function checkCommand(program: Command): void {
  program
    .command('check')
    .description('say what publication would say about a docs project, without a server and without publishing')
    .argument('<folder>', 'the folder with docs.json')
    .option('--json', 'print JSON only', false)
    .addHelpText(
      'after',
      `
One line a problem, "file:line:column: severity code: sentence". The exit code is 1 when there is an error.`,
    )
    .action(async (folder: string, options: { json: boolean }) => {
      const check = await checkProject(folder);
      const paint = paintFor(process.stdout, process.env);
      const counts = diagnosticCounts(check.diagnostics);
      const verdict = check.publishable ? counted(check.pages, 'page') : 'The project cannot be published';
      createOutput(options.json).result(
        check,
        [...check.diagnostics.map((diagnostic) => diagnosticLine(diagnostic, paint)), `${verdict}: ${counts}.`].join(
          '\n',
        ),
      );
      if (check.diagnostics.some(({ severity }) => severity === 'error')) process.exitCode = 1;
    });
}
