import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { hostName, wholeNumber, withRemote } from '../command-options.ts';
import type { DevOptions } from '../dev/run-dev.ts';

export function devCommand(program: Command): void {
  withRemote(program.command('dev'))
    .description('show the site of a docs project in the browser, and every change as soon as it is saved')
    .argument('[folder]', 'the folder with docs.json', '.')
    .option('--port <number>', 'first port to try', wholeNumber(0, 65_535), 3_000)
    .option(
      '--host <address>',
      'address to listen on, such as 0.0.0.0 for other machines (only this machine)',
      hostName,
    )
    .option('--open', 'open the site in the browser', false)
    .addOption(
      new Option(
        '--poll [ms]',
        'interval of checks of all files in milliseconds (1000), for folders that send no events',
      ).argParser(wholeNumber(50, 600_000)),
    )
    .option(
      '--assistant',
      'let readers ask the assistant, which quotes the pages of the folder; nothing leaves this machine',
      false,
    )
    .addHelpText(
      'after',
      '\nNeeds no server and no account. Pages are those of an export for all groups, with a small script that applies changes.',
    )
    .action(async (folder: string, options: DevOptions) => {
      const { runDev } = await import('../dev/run-dev.ts');
      await runDev(resolve(folder), options);
    });
}
