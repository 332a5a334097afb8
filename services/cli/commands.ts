import type { Command } from 'commander';
import { askCommand } from './ask.ts';
import { auditCommand } from './audit.ts';
import { checkCommand } from './check.ts';
import { contentsCommand, publishCommand } from './content.ts';
import { eventsCommand } from './events.ts';
import { cancelCommand, exportCommand, replayCommand } from './export.ts';
import { housekeepingCommand } from './housekeeping.ts';
import { jobsCommand } from './jobs.ts';
import { keysCommand } from './keys.ts';
import { orgsCommand } from './organizations.ts';
import { projectionsCommand } from './projections.ts';
import { parseServiceNames, runServices } from './run-services.ts';
import { searchCommand } from './search.ts';
import { usageCommand } from './usage.ts';

/** Every sub-command. A new one is a file of its own and a line here. */
export function addCommands(program: Command): Command {
  program
    .command('start')
    .description('run everything on this machine, with embedded adapters, until Ctrl-C')
    .action(async () => {
      // Commands that call a server need no bus, supervisor or renderer; these take longer to load than such a command takes to answer.
      const { startCommand } = await import('./start.ts');
      await startCommand(process.env);
    });
  program
    .command('run')
    .description('run one or several services in this process, configured by the environment')
    .argument('<services>', 'names, comma-separated: gateway,assistant')
    .action((names: string) => runServices(parseServiceNames(names)));
  checkCommand(program);
  publishCommand(program);
  contentsCommand(program);
  exportCommand(program);
  jobsCommand(program);
  eventsCommand(program);
  replayCommand(program);
  cancelCommand(program);
  askCommand(program);
  searchCommand(program);
  keysCommand(program);
  orgsCommand(program);
  projectionsCommand(program);
  auditCommand(program);
  usageCommand(program);
  housekeepingCommand(program);
  return program;
}
