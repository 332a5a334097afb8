import { folderObjectStore, type FolderObjectStoreSettings } from './folder-object-store.ts';
import type { ObjectStore } from './object-store.ts';
import { s3ObjectStore } from './s3-object-store.ts';
import type { S3ObjectStoreSettings } from './s3-settings.ts';

export type ObjectStoreSettings =
  | ({ kind: 'folder' } & FolderObjectStoreSettings)
  | ({ kind: 's3' } & S3ObjectStoreSettings);

/** The object store that the settings choose. Nothing is contacted: `check` says whether it can be used. */
export function openObjectStore(settings: ObjectStoreSettings): ObjectStore {
  return settings.kind === 'folder' ? folderObjectStore(settings) : s3ObjectStore(settings);
}
