import type { Command } from 'commander';
import type { Settings } from '#shared/runtime/config.ts';
import { programNames } from '#infra/supervisor/services.ts';
import { parseServiceNames, runServices } from '../run-services.ts';

export function startCommand(program: Command): void {
  program
    .command('start')
    .description('run everything on this machine, with embedded adapters, until Ctrl-C')
    .helpOption(false)
    .option('--watch', 'restart services when their code changes, for work on Bindery itself')
    .option('-h, --help', 'display help for command, and the settings')
    .action(async ({ help, watch = false }: { help?: true; watch?: boolean }, command: Command) => {
      // The installation is loaded on demand: bus, supervisor and renderer take longer to load than most commands take to run.
      const { startInstallation, startSettings } = await import('../start.ts');
      if (help) process.stdout.write(`${command.helpInformation()}\n${settingsText(startSettings)}`);
      else await startInstallation(process.env, watch);
    });
}

function settingsText(settings: Settings): string {
  const lines = Object.values(settings).map(({ env, schema, description }) => {
    const byDefault = schema.safeParse(undefined);
    return `  ${env.padEnd(18)} ${description}${byDefault.success ? ` (default: ${asWritten(byDefault.data)})` : ''}\n`;
  });
  return `Settings, in the environment:\n${lines.join('')}\nSettings of the services apply too: see the page Settings of the documentation.\n`;
}

/** The value as it is written in its variable: booleans are 1 or 0. */
const asWritten = (value: unknown): string => String(typeof value === 'boolean' ? Number(value) : value);

export function runCommand(program: Command): void {
  program
    .command('run')
    .description('run one or several services in this process, configured by the environment')
    .argument('<services>', 'names, comma-separated: gateway,assistant')
    .addHelpText('after', `\nServices: ${programNames.join(', ')}`)
    .action((names: string) => runServices(parseServiceNames(names)));
}
