import { z } from 'zod';

/**
 * One setting of a service: the environment variable it comes from, its schema, and a sentence for whoever runs the service.
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
export const wholeNumber = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
export const onOff = z.enum(['0', '1', 'false', 'true']).transform((text) => text === '1' || text === 'true');
export const portNumber = wholeNumber(0, 65_535);
