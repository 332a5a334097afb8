import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
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
  const local = readLocalInstallation(dataFolderOf(options));
  const localKey = { admin: local?.adminKey, assistant: local?.assistantKey, operator: local?.operatorToken }[keyKind];
  const variable = keyKind === 'operator' ? 'BINDERY_OPERATOR_TOKEN' : 'BINDERY_KEY';
  const url = options.url ?? process.env.BINDERY_URL ?? local?.baseUrl;
  const key = options.key ?? process.env[variable] ?? localKey;
  if (url === undefined)
    throw new NotConnected('Where is the server? Give --url or BINDERY_URL, or start one here with "npm start".');
  if (key === undefined) throw new NotConnected(`Which key? Give --key or ${variable}.`);
  return apiClient(url, key);
}

/** The domain that was named, else the one of the installation in the data folder. */
export function domainOrLocal(domain: string | undefined, options: ConnectionOptions): string {
  const chosen = domain ?? readLocalInstallation(dataFolderOf(options))?.domain;
  if (chosen === undefined) throw new NotConnected('Which domain? Name it, for example "acme" or "docs.acme.com".');
  return chosen;
}

export function readLocalInstallation(dataFolder: string): LocalInstallation | undefined {
  try {
    return localInstallationSchema.parse(JSON.parse(readFileSync(join(dataFolder, 'local.json'), 'utf8')));
  } catch {
    return undefined;
  }
}
