import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode, messageOf } from './failures.ts';
import { problemText } from './problem-text.ts';

/**
 * One setting of a service: its environment variable, its schema, and a sentence for the person who runs the service.
 * A schema with a default makes it optional. `secret` values are never printed.
 */
export type Setting<T> = { env: string; schema: z.ZodType<T>; description: string; secret: boolean };

/** A setting that may be printed. `description` completes the sentence "<variable> is not set: …". */
export function setting<T>(env: string, schema: z.ZodType<T>, description: string): Setting<T> {
  return { env, schema, description, secret: false };
}

/** A setting that is never printed, and may also come from a file: see `secretIn`. */
export function secretSetting<T>(env: string, schema: z.ZodType<T>, description: string): Setting<T> {
  return { env, schema, description, secret: true };
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The configuration type of a set of settings. */
export type ConfigOf<S extends Settings> = { [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** Schemas for values that arrive as text. */
export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}
export const onOff = z.enum(['0', '1', 'false', 'true']).transform((text) => text === '1' || text === 'true');
export const portNumber = wholeNumber(0, 65_535);
export const webAddress = z
  .string()
  .refine(isWebAddress, 'must be http://<host>:<port>, or https:// with TLS, with no user and password in it');

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '';
}

/** The environment gives no usable configuration. The message names every variable that is wrong and its purpose. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Reads all settings from the environment at once, and secrets with `secretIn`. An empty variable counts as absent. Throws `ConfigError`. */
export function loadConfig<S extends Settings>(settings: S, env: Record<string, string | undefined>): ConfigOf<S> {
  const config: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, { env: variable, schema, description, secret }] of Object.entries(settings)) {
    try {
      const text = secret ? secretIn(env, variable) : env[variable] || undefined;
      const result = schema.safeParse(text, { error: problemText });
      if (result.success) config[name] = result.data;
      else if (text === undefined)
        problems.push(`${variable} is not set${secret ? lookedIn(env) : ''}: ${description}`);
      else problems.push(`${variable} is wrong (${result.error.issues[0]?.message}): ${description}`);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) throw new ConfigError([...new Set(problems)].join('\n'));
  return config as ConfigOf<S>;
}

/** The end of an error for a secret that is missing: the second place where it may be. */
const lookedIn = ({ BINDERY_SECRETS: folder }: Record<string, string | undefined>): string =>
  folder ? `, and the folder ${folder} has no file of that name` : '';

/** The text of a file that a setting names, such as certificates. Throws a `ConfigError` that names the variable. */
export function textOfFile(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${variable} is wrong: the file "${file}" cannot be read (${messageOf(error)})`, {
      cause: error,
    });
  }
}

/** The variable that names the file of a secret. */
export const secretFileVariable = (variable: string): string => `${variable}_FILE`;

/**
 * Reads a secret from the first of these places: the variable; the file that the variable with the suffix `_FILE` names; the file with the
 * variable's name in the folder `BINDERY_SECRETS`. Undefined when none is set. Throws `ConfigError` when a named file cannot be read or is
 * empty.
 */
export function secretIn(env: Record<string, string | undefined>, variable: string): string | undefined {
  const { [variable]: given, [secretFileVariable(variable)]: file, BINDERY_SECRETS: folder } = env;
  if (given) return given;
  if (file) return secretOfFile(file, `${secretFileVariable(variable)} is wrong`);
  if (!folder) return undefined;
  if (!existsSync(folder)) throw new ConfigError(`BINDERY_SECRETS is wrong: there is no folder "${folder}"`);
  return secretOfFile(join(folder, variable), 'BINDERY_SECRETS is wrong', 'may be missing');
}

/** The content of the file without the final line break that editors add. */
function secretOfFile(file: string, problem: string, presence?: 'may be missing'): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    if (presence === 'may be missing' && errorCode(error) === 'ENOENT') return undefined;
    throw new ConfigError(`${problem}: the file "${file}" cannot be read (${messageOf(error)})`, { cause: error });
  }
  if (text === '') throw new ConfigError(`${problem}: the file "${file}" is empty`);
  return text;
}
