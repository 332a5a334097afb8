import type { FolderObjectStoreSettings } from './folder-object-store.ts';
import type { ObjectStore } from './object-store.ts';
import type { S3ObjectStoreSettings } from './s3-settings.ts';

export type ObjectStoreSettings =
  | ({ kind: 'folder' } & FolderObjectStoreSettings)
  | ({ kind: 's3' } & S3ObjectStoreSettings);

/** The object store that the settings choose. Nothing is contacted: `check` says whether it can be used. */
export async function openObjectStore(settings: ObjectStoreSettings): Promise<ObjectStore> {
  // Loaded when needed: the AWS SDK costs each process 40 MB and a tenth of a second.
  if (settings.kind === 's3') return (await import('./s3-object-store.ts')).s3ObjectStore(settings);
  return (await import('./folder-object-store.ts')).folderObjectStore(settings);
}
