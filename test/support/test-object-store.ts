import { folderObjectStore } from '#shared/storage/folder-object-store.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { newFolder } from './new-folder.ts';

/** A folder as object store, for tests that do not use its links. */
export function testObjectStore(folder = newFolder()): ObjectStore {
  return folderObjectStore({ folder, publicBaseUrl: 'http://x' });
}
