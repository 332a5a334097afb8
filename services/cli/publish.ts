import type { Command } from 'commander';
import { connect, domainOrLocal } from './connection.ts';
import { diagnosticLine } from './diagnostic-line.ts';
import { createOutput } from './output.ts';
import { publishProject } from './publish-project.ts';
import { type ServerCommandOptions, withConnection } from './with-connection.ts';

type Options = ServerCommandOptions & { domain?: string; label?: string };

export function publishCommand(program: Command): void {
  withConnection(program.command('publish'))
    .description('publish a docs project: a folder with docs.json and MDX files')
    .argument('<folder>')
    .option('--domain <domain>', 'slug or host name of the domain')
    .option('--label <label>', 'name for this content version')
    .action(async (folder: string, options: Options) => {
      const output = createOutput(options.json);
      const domain = domainOrLocal(options.domain, options);
      const publication = await publishProject(connect(options, 'admin'), domain, folder, options.label);
      const lines = publication.diagnostics.map((diagnostic) => diagnosticLine(diagnostic));
      output.result(
        publication,
        [
          ...lines,
          `Published ${publication.pages} pages to "${domain}" as ${publication.contentVersion}${options.label ? ` (${options.label})` : ''}.`,
        ].join('\n'),
      );
    });
}
