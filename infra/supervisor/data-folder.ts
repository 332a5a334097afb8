import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { callPairs, callTokenVariable } from '#shared/interfaces/internal/internal-calls.ts';
import { generateApiKey } from '#shared/http/api-key.ts';
import { serverUsers } from '#shared/messaging/subjects/permissions.ts';
import { errorCode, messageOf } from '#shared/runtime/failures.ts';

const secret = z.string().min(16);

/** The secrets of an installation, created once per data folder and kept in `secrets.json` with mode 0600. */
const secretsSchema = z.object({
  natsPasswords: z.record(z.string(), secret),
  /** Tokens of calls between services, by their environment variables. */
  callTokens: z.record(z.string(), secret),
  operatorToken: secret,
  hashKey: secret,
  linkSigningKey: secret,
  auditKey: secret,
  /** Key with which the host of sites follows the sites. */
  siteKey: secret,
  /** Secret that encrypts the sessions of the console. */
  consoleSecret: secret,
  /** Secret that the console shares with the gateway, with which it signs the requests of people. */
  personTokenKey: secret,
  /** Password with which the servers of a NATS cluster connect to each other. */
  natsRoutePassword: secret,
  /** Secrets of the S3 server, the Redis and the Elasticsearch that run beside the services. */
  s3SecretAccessKey: secret,
  redisPassword: secret,
  elasticsearchPassword: secret,
});

/** Stored secrets of any version: the file of an older one may lack a kind of secret, and that of a newer one may have more kinds. */
const keptSecretsSchema = secretsSchema.partial().loose();

export type Secrets = z.infer<typeof secretsSchema>;

/**
 * The secrets of a data folder exist, but cannot be read. New ones would invalidate all keys and links, and histories could no longer be verified.
 * The message names the file.
 */
class SecretsUnreadable extends Error {
  override name = 'SecretsUnreadable';
}

/**
 * Reads the secrets of a data folder, or creates them. Missing secrets, such as the password of a new service, are added; the others stay. Secrets
 * that only another version knows are kept in the file and not returned, because that version may start again and verify its signatures with them.
 * The caller must hold the lock of the folder. Throws `SecretsUnreadable`.
 */
export async function openSecrets(dataFolder: string): Promise<Secrets> {
  const file = join(dataFolder, 'secrets.json');
  const known = await readSecrets(file);
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
    siteKey: known?.siteKey ?? generateApiKey('site'),
    consoleSecret: known?.consoleSecret ?? random(),
    personTokenKey: known?.personTokenKey ?? random(),
    natsRoutePassword: known?.natsRoutePassword ?? random(),
    s3SecretAccessKey: known?.s3SecretAccessKey ?? random(),
    redisPassword: known?.redisPassword ?? random(),
    elasticsearchPassword: known?.elasticsearchPassword ?? random(),
  };
  await writePrivateJson(file, {
    ...known,
    ...secrets,
    natsPasswords: { ...known?.natsPasswords, ...secrets.natsPasswords },
    callTokens: { ...known?.callTokens, ...secrets.callTokens },
  });
  return secrets;
}

/** The stored secrets; undefined when there are none yet. */
async function readSecrets(file: string): Promise<z.infer<typeof keptSecretsSchema> | undefined> {
  try {
    return keptSecretsSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new SecretsUnreadable(
      `The secrets of this installation are in ${file}, which cannot be read: ${why}. Make it readable, or restore it from a copy.`,
      { cause: error },
    );
  }
}

/** Writes a file that only its owner may read, atomically. */
export async function writePrivateJson(file: string, value: unknown): Promise<void> {
  await makeFolder(dirname(file));
  const unfinished = `${file}.${process.pid}.part`;
  try {
    await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
    await chmod(unfinished, 0o600);
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/**
 * Creates a folder and its parents, unless they exist. A recursive `mkdir` of Node never returns where nothing can be created, as in `/proc`: it
 * creates the parent, which exists, and tries again.
 */
export async function makeFolder(folder: string): Promise<void> {
  await makeBelow(resolve(folder)).catch((error: unknown) => {
    throw new Error(`The folder ${folder} cannot be made: ${messageOf(error)}. Name another one.`, { cause: error });
  });
}

async function makeBelow(folder: string): Promise<void> {
  const make = async (): Promise<void> => {
    await mkdir(folder).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  };
  await make().catch(async (error: unknown) => {
    const parent = dirname(folder);
    if (errorCode(error) !== 'ENOENT' || parent === folder) throw error;
    await makeBelow(parent);
    await make();
  });
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
