import type { Command } from 'commander';
import { parseServiceNames, runServices } from '../run-services.ts';

export function startCommand(program: Command): void {
  program
    .command('start')
    .description('run everything on this machine, with embedded adapters, until Ctrl-C')
    .action(async () => {
      // Loaded here: bus, supervisor and renderer take longer to load than the commands that call a server take to answer.
      const { startInstallation } = await import('../start.ts');
      await startInstallation(process.env);
    });
}

export function runCommand(program: Command): void {
  program
    .command('run')
    .description('run one or several services in this process, configured by the environment')
    .argument('<services>', 'names, comma-separated: gateway,assistant')
    .action((names: string) => runServices(parseServiceNames(names)));
}
