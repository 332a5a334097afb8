import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { BusOf } from '#shared/messaging/bus.ts';
import { variableName } from '#shared/service/common-settings.ts';
import { secretIn } from '#shared/runtime/config.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import { type DataFolderOptions, dataFolderOf, NotConnected } from './connection.ts';

/** The variable that holds the password of a user of the bus. */
export const passwordVariable = (user: string): string => `BINDERY_NATS_PASSWORD_${variableName(user)}`;

type BusAccess = { url: string; user: 'auditor' | 'operator' | 'housekeeper'; password: string };

/** Connects an operator's command to the bus with the rights of one user while `work` runs. Throws `NotConnected`. */
export async function withBus<User extends BusAccess['user']>(
  user: User,
  options: DataFolderOptions,
  work: (bus: BusOf<User>, access: BusAccess) => Promise<void>,
): Promise<void> {
  const access = busAccess(user, dataFolderOf(options), process.env);
  // The bus client is loaded on demand, because other commands do not need it.
  const { connectBus } = await import('#shared/messaging/nats/connect-bus.ts');
  const { url, password } = access;
  const bus = await withinDeadline(
    access,
    connectBus({ url, service: user, password, instance: `cli-${process.pid}` }),
  );
  try {
    await work(bus, access);
  } finally {
    await bus.close();
  }
}

/** The audit key: `BINDERY_AUDIT_KEY`, else the key of a local installation; undefined if there is neither. */
export function auditKeyOf(options: DataFolderOptions): string | undefined {
  const given = secretIn(process.env, 'BINDERY_AUDIT_KEY');
  if (given !== undefined) return given;
  try {
    const secrets: unknown = JSON.parse(readFileSync(join(dataFolderOf(options), 'secrets.json'), 'utf8'));
    return z.object({ auditKey: z.string() }).parse(secrets).auditKey;
  } catch {
    return undefined;
  }
}

/** The environment, with the object folder of a local installation unless it names another store. */
export function withLocalObjects(options: DataFolderOptions): Record<string, string | undefined> {
  return { BINDERY_OBJECT_FOLDER: join(dataFolderOf(options), 'objects'), ...process.env };
}

/**
 * Address and password for the bus: `BINDERY_NATS_PASSWORD_AUDITOR` (or the variable of another user) and `BINDERY_NATS_URL`, else those of the
 * running installation in the data folder. Throws `NotConnected`, which names the options to give.
 */
function busAccess(
  user: BusAccess['user'],
  dataFolder: string,
  environment: Record<string, string | undefined>,
): BusAccess {
  const variable = passwordVariable(user);
  const given = secretIn(environment, variable);
  if (given !== undefined) {
    return { url: environment.BINDERY_NATS_URL ?? 'nats://127.0.0.1:4222', user, password: given };
  }
  try {
    const { nats, natsPasswords } = natsOf(dataFolder);
    return {
      url: environment.BINDERY_NATS_URL ?? `nats://127.0.0.1:${nats}`,
      user,
      password: z.string().parse(natsPasswords[user]),
    };
  } catch {
    throw new NotConnected(
      `This command connects to the bus as "${user}". Give BINDERY_NATS_URL and ${variable}, or --data with the data folder of an installation that was started on this machine; ${dataFolder} is none. If "bindery secrets" made the passwords, BINDERY_SECRETS=<folder>/${user === 'housekeeper' ? user : 'operator'} names the folder of this one.`,
    );
  }
}

/** Port and passwords of the bus, as `bindery start` wrote them into its data folder. Throws if it did not. */
function natsOf(dataFolder: string): { nats: number; natsPasswords: Record<string, string> } {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(dataFolder, file), 'utf8'));
  return {
    ...z.object({ natsPasswords: z.record(z.string(), z.string()) }).parse(read('secrets.json')),
    ...z.object({ nats: z.int() }).parse(read('ports.json')),
  };
}

/** The addresses and secrets that `bindery start` wrote into its data folder, as variables; empty if it was not started there. */
export function localEnvironment(dataFolder: string): Record<string, string> {
  try {
    const { nats, natsPasswords } = natsOf(dataFolder);
    return {
      BINDERY_NATS_URL: `nats://127.0.0.1:${nats}`,
      BINDERY_OBJECT_FOLDER: join(dataFolder, 'objects'),
      BINDERY_DATA: dataFolder,
      ...Object.fromEntries(
        Object.entries(natsPasswords).map(([user, password]) => [passwordVariable(user), password]),
      ),
    };
  } catch {
    return {};
  }
}

const deadlineMs = 5_000;

/** Services wait for their bus without a limit; a person at a terminal gets an error after a few seconds. */
export async function withinDeadline<T>({ url, user }: BusAccess, connecting: Promise<T>): Promise<T> {
  const message = `No answer from the bus at ${url} within ${deadlineMs / 1000} s. Is nats-server running there, and does it know the user "${user}"?`;
  return await withDeadline(connecting, deadlineMs, () => new NotConnected(message));
}
