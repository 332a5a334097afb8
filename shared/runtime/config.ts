import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { messageOf } from './failures.ts';

/**
 * One setting of a service: its environment variable, its schema, and a sentence for the person who runs the service.
 * A schema with a default makes it optional. `secret` values are never printed.
 */
export type Setting<T> = { env: string; schema: z.ZodType<T>; description: string; secret: boolean };

export function setting<T>(env: string, schema: z.ZodType<T>, description: string): Setting<T> {
  return { env, schema, description, secret: false };
}

export function secretSetting<T>(env: string, schema: z.ZodType<T>, description: string): Setting<T> {
  return { env, schema, description, secret: true };
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The configuration that a set of settings gives. */
export type ConfigOf<S extends Settings> = { [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** Schemas for values that arrive as text. */
export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}
export const onOff = z.enum(['0', '1', 'false', 'true']).transform((text) => text === '1' || text === 'true');
export const portNumber = wholeNumber(0, 65_535);

/** The environment does not give a usable configuration; the message names every variable that is wrong and what it is for. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/**
 * Reads all settings from the environment at once. An empty variable counts as absent. A secret may be in a file, which the variable with
 * `_FILE` after its name says. Throws `ConfigError`.
 */
export function loadConfig<S extends Settings>(settings: S, env: Record<string, string | undefined>): ConfigOf<S> {
  const config: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, { env: variable, schema, description, secret }] of Object.entries(settings)) {
    const given = env[variable] || undefined;
    const file = secret && given === undefined ? env[secretFileVariable(variable)] || undefined : undefined;
    const text = file === undefined ? given : secretIn(file, variable, problems);
    if (file !== undefined && text === undefined) continue;
    const result = schema.safeParse(text);
    if (result.success) config[name] = result.data;
    else if (text === undefined) problems.push(`${variable} is not set: ${description}`);
    else problems.push(`${variable} is wrong (${result.error.issues[0]?.message}): ${description}`);
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return config as ConfigOf<S>;
}

/** The variable that names the file of a secret. */
export const secretFileVariable = (variable: string): string => `${variable}_FILE`;

/** The text of a secret's file, without the line's end that editors leave there. */
function secretIn(file: string, variable: string, problems: string[]): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    if (text !== '') return text;
    problems.push(`${secretFileVariable(variable)} is wrong: the file "${file}" is empty`);
  } catch (error) {
    problems.push(`${secretFileVariable(variable)} is wrong: the file "${file}" cannot be read (${messageOf(error)})`);
  }
  return undefined;
}
