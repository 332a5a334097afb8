import { z } from 'zod';
import { messageOf } from '#shared/runtime/failures.ts';
import { DamagedObject, type ObjectStore, type ReadOptions } from './object-store.ts';

/**
 * The JSON object under a key, parsed with `schema`; undefined when there is none. Rejects with `BrokenObject` when it is damaged or does
 * not match the schema, and with the store's own errors.
 */
export async function getJson<T>(
  objectStore: Pick<ObjectStore, 'get'>,
  key: string,
  schema: z.ZodType<T>,
  options: ReadOptions = {},
): Promise<T | undefined> {
  const stored = await objectStore.get(key, options).catch((error: unknown) => {
    throw error instanceof DamagedObject ? new BrokenObject(key, error) : error;
  });
  if (stored === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(new TextDecoder().decode(stored)));
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
