import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { variableName } from '#shared/runtime/common-settings.ts';
import { type ApiClient, apiClient } from './api-client.ts';

/** What `bindery start` leaves in the data folder for the commands of the same machine; for development only. */
export const localInstallationSchema = z.object({
  baseUrl: z.string(),
  organization: z.string(),
  domain: z.string(),
  adminKey: z.string(),
  assistantKey: z.string(),
  operatorToken: z.string(),
});

export type LocalInstallation = z.infer<typeof localInstallationSchema>;

export type ConnectionOptions = { url?: string; key?: string; data?: string };

/** The command cannot know whom to call; the message says which option or variable to give. */
export class NotConnected extends Error {
  override name = 'NotConnected';
}

/**
 * Where a command goes and with which key: `--url` and `--key`, else `BINDERY_URL` and `BINDERY_KEY`, else what the data folder
 * (`--data`, `BINDERY_DATA`, `.bindery`) says of the installation started there.
 */
export function connect(options: ConnectionOptions, keyKind: 'admin' | 'assistant' | 'operator'): ApiClient {
  const local = readLocalInstallation(options.data ?? process.env.BINDERY_DATA ?? '.bindery');
  const localKey = { admin: local?.adminKey, assistant: local?.assistantKey, operator: local?.operatorToken }[keyKind];
  const variable = keyKind === 'operator' ? 'BINDERY_OPERATOR_TOKEN' : 'BINDERY_KEY';
  const url = options.url ?? process.env.BINDERY_URL ?? local?.baseUrl;
  const key = options.key ?? process.env[variable] ?? localKey;
  if (url === undefined)
    throw new NotConnected('Where is the server? Give --url or BINDERY_URL, or start one here with "npm start".');
  if (key === undefined) throw new NotConnected(`Which key? Give --key or ${variable}.`);
  return apiClient(url, key);
}

/** The domain that a command is about: the one named, else the only one of the installation in the data folder. */
export function domainOrLocal(domain: string | undefined, options: ConnectionOptions): string {
  const chosen = domain ?? readLocalInstallation(options.data ?? process.env.BINDERY_DATA ?? '.bindery')?.domain;
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

export type BusAccess = { url: string; user: 'auditor' | 'operator' | 'housekeeper'; password: string };

/**
 * How an operator's command reaches the bus itself: `BINDERY_NATS_PASSWORD_AUDITOR` (or another user's) and `BINDERY_NATS_URL` where they are
 * set, else what the data folder says of the installation that runs there. Throws `NotConnected` with what to give.
 */
export function busAccess(
  user: BusAccess['user'],
  dataFolder: string,
  environment: Record<string, string | undefined>,
): BusAccess {
  const variable = `BINDERY_NATS_PASSWORD_${variableName(user)}`;
  const given = environment[variable];
  if (given !== undefined) {
    return { url: environment.BINDERY_NATS_URL ?? 'nats://127.0.0.1:4222', user, password: given };
  }
  const read = (file: string): unknown => JSON.parse(readFileSync(join(dataFolder, file), 'utf8'));
  try {
    const { natsPasswords } = z.object({ natsPasswords: z.record(z.string(), z.string()) }).parse(read('secrets.json'));
    const { nats } = z.object({ nats: z.int() }).parse(read('ports.json'));
    return {
      url: environment.BINDERY_NATS_URL ?? `nats://127.0.0.1:${nats}`,
      user,
      password: z.string().parse(natsPasswords[user]),
    };
  } catch {
    throw new NotConnected(
      `This command goes to the bus as "${user}". Give ${variable} and BINDERY_NATS_URL, or --data with the data folder of an installation that was started on this machine (looked in ${dataFolder}).`,
    );
  }
}

const deadlineMs = 5_000;

/** Services wait for their bus however long; whoever sits at a terminal wants to know after a few seconds. */
export async function withinDeadline<T>(access: BusAccess, connecting: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `No answer from the bus at ${access.url} within ${deadlineMs / 1000} s. Is nats-server running there, and does it know the user "${access.user}"?`;
    timer = setTimeout(() => reject(new NotConnected(message)), deadlineMs);
  });
  return Promise.race([connecting, late]).finally(() => clearTimeout(timer));
}
