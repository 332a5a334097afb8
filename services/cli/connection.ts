import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { startCommand } from '#shared/runtime/command-words.ts';
import { secretIn } from '#shared/runtime/config.ts';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { type ApiClient, apiClient } from './api-client.ts';

/** The file that `bindery start` writes into the data folder for commands on the same machine; for development only. */
export const localInstallationSchema = z.object({
  baseUrl: z.string(),
  organization: z.string(),
  domain: z.string(),
  adminKey: z.string(),
  assistantKey: z.string(),
  operatorToken: z.string(),
  /** Address of the console on this machine, if there is one. */
  consoleUrl: z.string().optional(),
});

export type LocalInstallation = z.infer<typeof localInstallationSchema>;

export type DataFolderOptions = { data?: string };

export type ConnectionOptions = DataFolderOptions & { url?: string; key?: string };

/** The data folder of a local installation: `--data`, else `BINDERY_DATA`, else `.bindery`. */
export const dataFolderOf = ({ data }: DataFolderOptions): string => data ?? process.env.BINDERY_DATA ?? '.bindery';

/** The command does not know which server to call; the message names the option or variable to give. */
export class NotConnected extends Error {
  override name = 'NotConnected';
}

/**
 * The server and the key of a command: `--url` and `--key`, else `BINDERY_URL` and `BINDERY_KEY`, else those of the installation in the data folder
 * (`--data`, `BINDERY_DATA`, `.bindery`). A key of that installation is sent to its own address only.
 */
export function connect(options: ConnectionOptions, keyKind: 'admin' | 'assistant' | 'operator'): ApiClient {
  const localKeys = { admin: 'adminKey', assistant: 'assistantKey', operator: 'operatorToken' } as const;
  const variable = keyKind === 'operator' ? 'BINDERY_OPERATOR_TOKEN' : 'BINDERY_KEY';
  const url = givenUrl(options);
  const given = (options.key ?? secretIn(process.env, variable))?.trim();
  // The file is read only when needed, because it may be damaged.
  const local = url === undefined || given === undefined ? readLocalInstallation(dataFolderOf(options)) : undefined;
  const address = url ?? local?.baseUrl;
  if (address === undefined) throw noServer(options);
  checkAddress(address);
  const isLocal = local !== undefined && isSameServer(address, local.baseUrl);
  const key = given ?? (isLocal ? local[localKeys[keyKind]] : undefined);
  if (key === undefined) {
    const why = local === undefined ? '' : ` Those of ${dataFolderOf(options)} are for ${local.baseUrl} only.`;
    throw new NotConnected(`This command needs a key. Give --key or ${variable}.${why}`);
  }
  // The message does not show the value, which may be a secret with surrounding text.
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new NotConnected(
      `The key in --key or ${variable} is empty, or has a space or another character that keys never have.`,
    );
  return apiClient(address, key);
}

const noServer = (options: DataFolderOptions): NotConnected =>
  new NotConnected(
    `The address of the server is not known: there is no installation in the data folder ${dataFolderOf(options)}. Give --url or BINDERY_URL, name another folder with --data or BINDERY_DATA, or start a server here with "${startCommand}".`,
  );

const givenUrl = ({ url }: ConnectionOptions): string | undefined => url ?? process.env.BINDERY_URL;

/** Throws `NotConnected`, without parts of the address that may be a password. */
function checkAddress(address: string): void {
  const parsed = URL.parse(address);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw new NotConnected(
      `"${address}" is not the address of a server. Give an address such as http://localhost:8080 as --url or BINDERY_URL.`,
    );
  if (parsed.username !== '' || parsed.password !== '')
    throw new NotConnected(
      `The address of the server must have no name and no password: give ${parsed.origin} as --url or BINDERY_URL.`,
    );
}

/** The loopback addresses of a machine are the same server. */
function isSameServer(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)];
  const isHere = ({ hostname }: URL) => /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
  return a.origin === b.origin || (a.protocol === b.protocol && a.port === b.port && isHere(a) && isHere(b));
}

/** The named domain, else that of the installation in the data folder if the command calls it. */
export function domainOrLocal(domain: string | undefined, options: ConnectionOptions): string {
  if (domain !== undefined) return domain;
  const local = readLocalInstallation(dataFolderOf(options));
  if (local === undefined && givenUrl(options) === undefined) throw noServer(options);
  if (local === undefined || !isSameServer(givenUrl(options) ?? local.baseUrl, local.baseUrl))
    throw new NotConnected('This command needs a domain. Name it, for example "acme" or "docs.acme.com".');
  return local.domain;
}

/** The file of the local installation cannot be read. New keys would not belong to its organization, so none are made. */
class LocalUnreadable extends Error {
  override name = 'LocalUnreadable';
}

/** Undefined if there is no such file. Throws `LocalUnreadable`. */
export function readLocalInstallation(dataFolder: string): LocalInstallation | undefined {
  const file = join(dataFolder, 'local.json');
  try {
    return localInstallationSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new LocalUnreadable(
      `The keys of the local installation are in ${file}, which cannot be read: ${why}. Make it readable, or remove it: then "${startCommand}" makes a new organization.`,
      { cause: error },
    );
  }
}
