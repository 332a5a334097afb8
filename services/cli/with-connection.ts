import type { Command } from 'commander';
import type { ConnectionOptions } from './connection.ts';

export type ServerCommandOptions = ConnectionOptions & { json: boolean };

/** The options that every command which calls the server takes. */
export function withConnection(command: Command): Command {
  return command
    .option('--url <address>', 'address of the server (BINDERY_URL; else that of the installation in the data folder)')
    .option('--key <key>', 'API key (BINDERY_KEY; else that of the installation in the data folder)')
    .option('--data <folder>', 'data folder of a local installation (BINDERY_DATA, .bindery)')
    .option('--json', 'print JSON only', false);
}
