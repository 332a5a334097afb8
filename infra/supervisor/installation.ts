import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { busUsers } from '#shared/subjects/subject-table.ts';

const secret = z.string().min(16);

/** What services show each other and sign with; made once per data folder, kept in `secrets.json`, mode 0600. */
const secretsSchema = z.object({
  natsPasswords: z.record(z.string(), secret),
  serviceToken: secret,
  operatorToken: secret,
  hashKey: secret,
  linkSigningKey: secret,
});

export type Secrets = z.infer<typeof secretsSchema>;

/** Reads the secrets of a data folder, or makes them. New services get a password, old ones keep theirs. */
export async function openSecrets(dataFolder: string): Promise<Secrets> {
  const file = join(dataFolder, 'secrets.json');
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  const known = kept === undefined ? undefined : secretsSchema.parse(JSON.parse(kept));
  const random = () => randomBytes(24).toString('base64url');
  const secrets: Secrets = {
    natsPasswords: Object.fromEntries(
      [...busUsers, 'provisioner'].map((user) => [user, known?.natsPasswords[user] ?? random()]),
    ),
    serviceToken: known?.serviceToken ?? random(),
    operatorToken: known?.operatorToken ?? random(),
    hashKey: known?.hashKey ?? random(),
    linkSigningKey: known?.linkSigningKey ?? random(),
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
