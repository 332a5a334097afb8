import type { ConfigOf, Settings } from './setting.ts';

/** The environment does not give a usable configuration; the message names every variable that is wrong and what it is for. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Reads all settings from the environment at once. An empty variable counts as absent. Throws `ConfigError`. */
export function loadConfig<S extends Settings>(settings: S, env: Record<string, string | undefined>): ConfigOf<S> {
  const config: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, { env: variable, schema, description }] of Object.entries(settings)) {
    const result = schema.safeParse(env[variable] === '' ? undefined : env[variable]);
    if (result.success) config[name] = result.data;
    else if (env[variable] === undefined) problems.push(`${variable} is not set: ${description}`);
    else problems.push(`${variable} is wrong (${result.error.issues[0]?.message}): ${description}`);
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return config as ConfigOf<S>;
}
