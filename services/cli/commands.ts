import type { Command } from 'commander';
import { askCommand } from './ask.ts';
import { eventsCommand } from './events.ts';
import { exportCommand } from './export.ts';
import { jobsCommand } from './jobs.ts';
import { publishCommand } from './publish.ts';
import { runServices, parseServiceNames } from './run-services.ts';
import { startCommand } from './start.ts';

/** Every sub-command: a new one is a file of its own and a line here. */
export function addCommands(program: Command): void {
  program
    .command('start')
    .description('run everything on this machine, with embedded adapters, until Ctrl-C')
    .action(() => startCommand(process.env));
  program
    .command('run')
    .description('run one or several services in this process, configured by the environment')
    .argument('<services>', 'names, comma-separated: gateway,assistant')
    .action((names: string) => runServices(parseServiceNames(names)));
  publishCommand(program);
  exportCommand(program);
  jobsCommand(program);
  eventsCommand(program);
  askCommand(program);
}
