import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { variableName } from '#shared/config/common-settings.ts';
import { NotConnected } from './connection.ts';

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
