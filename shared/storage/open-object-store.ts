import type { objectStoreSettings } from '#shared/runtime/common-settings.ts';
import type { ConfigOf } from '#shared/runtime/config.ts';
import type { FolderObjectStoreSettings } from './folder-object-store.ts';
import type { ObjectStore } from './object-store.ts';
import type { S3ObjectStoreSettings } from './s3-client.ts';

type ObjectStoreConfig = ConfigOf<typeof objectStoreSettings>;

/** The object store that the configuration chooses. Nothing is contacted: `check` says whether it can be used. */
export async function openObjectStore(config: ObjectStoreConfig): Promise<ObjectStore> {
  const settings = objectStoreFromConfig(config);
  // Loaded when needed: the AWS SDK costs each process 40 MB and a tenth of a second.
  if (settings.kind === 's3') return (await import('./s3-object-store.ts')).s3ObjectStore(settings);
  return (await import('./folder-object-store.ts')).folderObjectStore(settings);
}

/** Throws a sentence that names the variable when half of a pair is set. */
export function objectStoreFromConfig(
  config: ObjectStoreConfig,
): ({ kind: 'folder' } & FolderObjectStoreSettings) | ({ kind: 's3' } & S3ObjectStoreSettings) {
  const { maxLinkLifetimeSeconds, s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config;
  if (config.objectStore === 'folder') {
    const { objectFolder: folder, publicUrl: publicBaseUrl, linkSigningKey: signingKey } = config;
    return { kind: 'folder', folder, publicBaseUrl, signingKey, maxLinkLifetimeSeconds };
  }
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new Error(
      `BINDERY_S3_ACCESS_KEY_ID and BINDERY_S3_SECRET_ACCESS_KEY belong together: set both, or none of them`,
    );
  }
  return {
    kind: 's3',
    bucket: config.s3Bucket,
    region: config.s3Region,
    endpoint: config.s3Endpoint,
    publicEndpoint: config.s3PublicEndpoint,
    forcePathStyle: config.s3ForcePathStyle === '1',
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined,
    maxLinkLifetimeSeconds,
  };
}
