import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { callPairs, callTokenVariable } from '#shared/contracts/internal/internal-calls.ts';
import { serverUsers } from '#shared/messaging/subjects/permissions.ts';

const secret = z.string().min(16);

/** The secrets of an installation: made once per data folder, kept in `secrets.json` with mode 0600. */
const secretsSchema = z.object({
  natsPasswords: z.record(z.string(), secret),
  /** By their environment variables. */
  callTokens: z.record(z.string(), secret),
  operatorToken: secret,
  hashKey: secret,
  linkSigningKey: secret,
  auditKey: secret,
});

export type Secrets = z.infer<typeof secretsSchema>;

/** Reads the secrets of a data folder, or makes them. A new service gets a password, and a new kind of secret is made; the others stay. */
export async function openSecrets(dataFolder: string): Promise<Secrets> {
  const file = join(dataFolder, 'secrets.json');
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  const known = kept === undefined ? undefined : secretsSchema.partial().parse(JSON.parse(kept));
  const random = () => randomBytes(24).toString('base64url');
  const secrets: Secrets = {
    natsPasswords: Object.fromEntries(serverUsers.map((user) => [user, known?.natsPasswords?.[user] ?? random()])),
    callTokens: Object.fromEntries(
      callPairs
        .map(({ caller, service }) => callTokenVariable(caller, service))
        .map((variable) => [variable, known?.callTokens?.[variable] ?? random()]),
    ),
    operatorToken: known?.operatorToken ?? random(),
    hashKey: known?.hashKey ?? random(),
    linkSigningKey: known?.linkSigningKey ?? random(),
    auditKey: known?.auditKey ?? random(),
  };
  await writePrivateJson(file, secrets);
  return secrets;
}

/** Writes a file that only its owner may read, all or nothing. */
export async function writePrivateJson(file: string, value: unknown): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true });
  const unfinished = `${file}.${process.pid}.part`;
  await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await chmod(unfinished, 0o600);
  await rename(unfinished, file);
}

/** Another process uses the data folder; the message names it. */
export class FolderInUse extends Error {
  override name = 'FolderInUse';
}

/** Takes the data folder for this process until `release`. The lock of a process that has ended is ignored. */
export async function lockFolder(dataFolder: string): Promise<{ release(): Promise<void> }> {
  const file = join(dataFolder, 'lock');
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return undefined;
      throw error;
    });
    if (handle !== undefined) {
      await handle.writeFile(String(process.pid));
      await handle.close();
      return { release: () => rm(file, { force: true }) };
    }
    const holder = Number(await readFile(file, 'utf8').catch(() => ''));
    if (Number.isInteger(holder) && holder > 0 && holder !== process.pid && isAlive(holder)) {
      throw new FolderInUse(
        `Process ${holder} runs on the data folder ${dataFolder} already. Stop it first (Ctrl-C, or "kill ${holder}"), or choose another folder with BINDERY_DATA.`,
      );
    }
    await rm(file, { force: true });
  }
  throw new FolderInUse(`The data folder ${dataFolder} was taken by another process just now.`);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
