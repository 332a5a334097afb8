import { blobKey } from '#shared/contracts/stored-objects.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { DamagedObject, type ObjectStore, type ReadOptions } from '#shared/storage/object-store.ts';

/**
 * A file of a docs project, undefined if it is gone. Its hash is checked, because everything that is made from the file is stored under that hash: if
 * a store once answered with other bytes, every later export would contain them. Rejects with `DamagedObject` for other bytes, and with the store's
 * errors.
 */
export async function readBlob(
  objectStore: Pick<ObjectStore, 'get'>,
  organization: string,
  sha256: string,
  options: ReadOptions = {},
): Promise<Uint8Array | undefined> {
  const key = blobKey(organization, sha256);
  const stored = await objectStore.get(key, options);
  if (stored !== undefined && sha256Of(stored) !== sha256) {
    throw new DamagedObject(
      `the object ${key} does not have the bytes of its name: it was changed, or the store sent another one`,
    );
  }
  return stored;
}
