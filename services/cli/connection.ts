import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { secretIn } from '#shared/runtime/config.ts';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';
import { type ApiClient, apiClient } from './api-client.ts';

/** What `bindery start` writes into the data folder for commands on the same machine; for development only. */
export const localInstallationSchema = z.object({
  baseUrl: z.string(),
  organization: z.string(),
  domain: z.string(),
  adminKey: z.string(),
  assistantKey: z.string(),
  operatorToken: z.string(),
});

export type LocalInstallation = z.infer<typeof localInstallationSchema>;

export type DataFolderOptions = { data?: string };

export type ConnectionOptions = DataFolderOptions & { url?: string; key?: string };

/** The data folder of a local installation: `--data`, else `BINDERY_DATA`, else `.bindery`. */
export const dataFolderOf = ({ data }: DataFolderOptions): string => data ?? process.env.BINDERY_DATA ?? '.bindery';

/** The command does not know which server to call; the message says which option or variable to give. */
export class NotConnected extends Error {
  override name = 'NotConnected';
}

/**
 * The server and the key of a command: `--url` and `--key`, else `BINDERY_URL` and `BINDERY_KEY`, else those of the installation in the
 * data folder (`--data`, `BINDERY_DATA`, `.bindery`).
 */
export function connect(options: ConnectionOptions, keyKind: 'admin' | 'assistant' | 'operator'): ApiClient {
  // Not read when it is not needed: it may be damaged.
  const local = () => readLocalInstallation(dataFolderOf(options));
  const localKeys = { admin: 'adminKey', assistant: 'assistantKey', operator: 'operatorToken' } as const;
  const variable = keyKind === 'operator' ? 'BINDERY_OPERATOR_TOKEN' : 'BINDERY_KEY';
  const url = options.url ?? process.env.BINDERY_URL ?? local()?.baseUrl;
  const key = options.key ?? secretIn(process.env, variable) ?? local()?.[localKeys[keyKind]];
  if (url === undefined)
    throw new NotConnected('Where is the server? Give --url or BINDERY_URL, or start one here with "npm start".');
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new NotConnected(
      `"${url}" is no address of a server. Give one such as http://localhost:8080 as --url or BINDERY_URL.`,
    );
  if (key === undefined) throw new NotConnected(`Which key? Give --key or ${variable}.`);
  return apiClient(url, key);
}

/** The domain that was named, else the one of the installation in the data folder. */
export function domainOrLocal(domain: string | undefined, options: ConnectionOptions): string {
  const chosen = domain ?? readLocalInstallation(dataFolderOf(options))?.domain;
  if (chosen === undefined) throw new NotConnected('Which domain? Name it, for example "acme" or "docs.acme.com".');
  return chosen;
}

/** What is known of the local installation cannot be read. New keys in its place would not be those of its organization. */
class LocalUnreadable extends Error {
  override name = 'LocalUnreadable';
}

/** Undefined when there is none. Throws `LocalUnreadable`. */
export function readLocalInstallation(dataFolder: string): LocalInstallation | undefined {
  const file = join(dataFolder, 'local.json');
  try {
    return localInstallationSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new LocalUnreadable(
      `The keys of the local installation are in ${file}, which cannot be read: ${why}. Make it readable, or remove it: then "npm start" makes a new organization.`,
      { cause: error },
    );
  }
}
