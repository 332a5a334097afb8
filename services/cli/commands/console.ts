import type { Command } from 'commander';
import { startCommand } from '#shared/runtime/command-words.ts';
import { type DataFolderOptions, dataFolderOf, NotConnected, readLocalInstallation } from '../connection.ts';

export function consoleCommand(program: Command): void {
  program
    .command('console')
    .description('print a link that signs in to the console of this machine once, within a minute')
    .option('--data <folder>', 'data folder of a local installation (BINDERY_DATA, .bindery)')
    .action(async (options: DataFolderOptions) => {
      const dataFolder = dataFolderOf(options);
      const { consoleUrl } = readLocalInstallation(dataFolder) ?? {};
      if (consoleUrl === undefined)
        throw new NotConnected(
          `There is no console with the data folder ${dataFolder}. "${startCommand}" runs one; name its folder with --data or BINDERY_DATA. At another console, sign in with an admin key or an account.`,
        );
      const { newConsoleLink } = await import('../console-link.ts');
      process.stdout.write(`${await newConsoleLink(dataFolder, consoleUrl, new Date())}\n`);
    });
}
