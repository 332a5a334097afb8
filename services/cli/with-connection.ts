import { type Command, Option } from 'commander';
import type { ConnectionOptions } from './connection.ts';

export type ServerCommandOptions = ConnectionOptions & { json: boolean };

const keys = {
  key: 'API key (BINDERY_KEY; else that of the installation in the data folder)',
  operator: "the operator's token (BINDERY_OPERATOR_TOKEN; else that of the installation in the data folder)",
};

/** The options that every command which calls the server takes. */
export function withConnection(command: Command, key: keyof typeof keys = 'key'): Command {
  const option = (flags: string, description: string) => new Option(flags, description).helpGroup('Server:');
  return command
    .option('--json', 'print JSON only', false)
    .addOption(
      option(
        '--url <address>',
        'address of the server (BINDERY_URL; else that of the installation in the data folder)',
      ),
    )
    .addOption(option('--key <key>', keys[key]))
    .addOption(option('--data <folder>', 'data folder of a local installation (BINDERY_DATA, .bindery)'));
}
