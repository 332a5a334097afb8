import { type Command, InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import { problemText } from '#shared/runtime/problem-text.ts';
import type { ConnectionOptions, DataFolderOptions } from './connection.ts';

export type ServerCommandOptions = ConnectionOptions & { json: boolean };
export type BusCommandOptions = DataFolderOptions & { json: boolean };

const dataFolder = ['--data <folder>', 'data folder of a local installation (BINDERY_DATA, .bindery)'] as const;

const keys = {
  key: 'API key (BINDERY_KEY; else that of the installation in the data folder)',
  operator: "the operator's token (BINDERY_OPERATOR_TOKEN; else that of the installation in the data folder)",
};

/** Adds the options of every command that calls the server. */
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
    .addOption(option(...dataFolder));
}

/** Adds the options of every command that connects to the bus. */
export function withBusOptions(command: Command): Command {
  return command.option(...dataFolder).option('--json', 'print JSON only', false);
}

export type RemoteFlags = { remote: boolean; remotePictures?: boolean; refresh: boolean; privateAddresses: boolean };

/** Adds the options of commands that fetch what a project names by address. `refresh`: what else `--refresh` does. */
export function withRemote(command: Command, refresh = ''): Command {
  const option = (flags: string, description: string) =>
    new Option(flags, description).helpGroup('Files at an address:');
  return (
    command
      // The option of earlier versions, in which the commands had another default.
      .addOption(option('--remote', 'fetch the files that the project names by address').default(true).hideHelp())
      .addOption(
        option('--no-remote', 'fetch nothing: files at an address come from the cache, as docs.lock.json says'),
      )
      .addOption(
        option('--remote-pictures', 'bring the pictures that pages name by address into the site, now and later'),
      )
      .addOption(option('--no-remote-pictures', 'leave these pictures on their sites again'))
      .addOption(
        option(
          '--refresh',
          `fetch all files at an address again and write docs.lock.json${refresh === '' ? '' : `; ${refresh}`}`,
        ).default(false),
      )
      .addOption(option('--private-addresses', 'also fetch from this machine and from private networks').default(false))
  );
}

/** An option with several of these values, separated by spaces or commas. */
export function choiceList(flags: string, description: string, choices: readonly string[]): Option {
  const option = new Option(flags, description).choices(choices);
  option.argParser((text, before: unknown) => {
    const named = text.split(',');
    if (!named.every((name) => choices.includes(name)))
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}, with spaces or commas between them.`);
    return [...(Array.isArray(before) ? (before as string[]) : []), ...named];
  });
  return option;
}

// Parsers for option values. Errors that they throw become "option … argument … is invalid" and these sentences.

export function parsed(schema: z.ZodType<string>): (text: string) => string {
  return (text) => {
    const result = schema.safeParse(text, { error: problemText });
    if (result.success) return result.data;
    throw new InvalidArgumentError(`It ${result.error.issues[0]?.message ?? 'is not an id'}.`);
  };
}

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** A host name or an address. An empty text, such as an unset variable of a shell, would listen on all addresses. */
export function hostName(text: string): string {
  if (/^[^\s/]+$/.test(text)) return text;
  throw new InvalidArgumentError('It must be an address of this machine or a host name.');
}

export function numberBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };
}
