import type { objectStoreSettings } from '#shared/config/common-settings.ts';
import type { ConfigOf } from '#shared/config/setting.ts';
import type { ObjectStoreSettings } from './open-object-store.ts';

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
