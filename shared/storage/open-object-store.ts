import type { objectStoreSettings } from '#shared/runtime/common-settings.ts';
import type { ConfigOf } from '#shared/runtime/config.ts';
import type { FolderObjectStoreSettings } from './folder-object-store.ts';
import type { ObjectStore } from './object-store.ts';
import type { S3ObjectStoreSettings } from './s3-client.ts';

export type ObjectStoreSettings =
  | ({ kind: 'folder' } & FolderObjectStoreSettings)
  | ({ kind: 's3' } & S3ObjectStoreSettings);

/** The object store that the settings choose. Nothing is contacted: `check` says whether it can be used. */
export async function openObjectStore(settings: ObjectStoreSettings): Promise<ObjectStore> {
  // Loaded when needed: the AWS SDK costs each process 40 MB and a tenth of a second.
  if (settings.kind === 's3') return (await import('./s3-object-store.ts')).s3ObjectStore(settings);
  return (await import('./folder-object-store.ts')).folderObjectStore(settings);
}

/** Settings of the object store from a service's configuration. Throws a sentence that names the variable when half of a pair is set. */
export function objectStoreFromConfig(config: ConfigOf<typeof objectStoreSettings>): ObjectStoreSettings {
  const { maxLinkLifetimeSeconds } = config;
  if (config.objectStore === 'folder') {
    return {
      kind: 'folder',
      folder: config.objectFolder,
      publicBaseUrl: config.publicUrl,
      ...(config.linkSigningKey === undefined ? {} : { signingKey: config.linkSigningKey }),
      maxLinkLifetimeSeconds,
    };
  }
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new Error(
      `BINDERY_S3_ACCESS_KEY_ID and BINDERY_S3_SECRET_ACCESS_KEY belong together: set both, or none of them`,
    );
  }
  return {
    kind: 's3',
    bucket: config.s3Bucket,
    region: config.s3Region,
    ...(config.s3Endpoint === undefined ? {} : { endpoint: config.s3Endpoint }),
    ...(config.s3PublicEndpoint === undefined ? {} : { publicEndpoint: config.s3PublicEndpoint }),
    forcePathStyle: config.s3ForcePathStyle === '1',
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
    maxLinkLifetimeSeconds,
  };
}
