import { z } from 'zod';
import { messageOf } from '#shared/runtime/failures.ts';
import { DamagedObject, type ObjectStore, type ReadOptions } from './object-store.ts';

/**
 * The JSON object under a key, parsed with `schema`; undefined when there is none. Rejects with `BrokenObject` when it is damaged or does
 * not match the schema, and with the store's own errors.
 */
export const getJson = <T>(
  objectStore: Pick<ObjectStore, 'get'>,
  key: string,
  schema: z.ZodType<T>,
  options?: ReadOptions,
): Promise<T | undefined> =>
  getParsed(objectStore, key, (stored) => schema.parse(JSON.parse(new TextDecoder().decode(stored))), options);

/** Returns the object under a key as `parse` reads it. Otherwise it works like `getJson`. */
export async function getParsed<T>(
  objectStore: Pick<ObjectStore, 'get'>,
  key: string,
  parse: (stored: Uint8Array) => T,
  options: ReadOptions = {},
): Promise<T | undefined> {
  const stored = await objectStore.get(key, options).catch((error: unknown) => {
    throw error instanceof DamagedObject ? new BrokenObject(key, error) : error;
  });
  return stored && orBroken(key, () => parse(stored));
}

/** Throws `BrokenObject` when `parse` throws. */
export function orBroken<T>(key: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new BrokenObject(key, error);
  }
}

/** A stored object is damaged, or does not match the schema for its key. */
export class BrokenObject extends Error {
  override name = 'BrokenObject';

  constructor(key: string, cause: unknown) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : messageOf(cause);
    super(`The object ${key} cannot be read: ${why.replaceAll(/\s+/g, ' ').slice(0, 500)}`, { cause });
  }
}
