import { z } from 'zod';
import { type ConfigOf, secretSetting, setting, webAddress } from '#shared/runtime/config.ts';
import type { FolderObjectStoreSettings } from './folder-object-store.ts';
import { type Clock, systemClock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from './object-store.ts';
import type { S3ObjectStoreSettings } from './s3-client.ts';

/** Settings of the object store: a folder, or an S3 API. */
export const objectStoreSettings = {
  objectStore: setting(
    'BINDERY_OBJECT_STORE',
    z.enum(['folder', 's3']).default('folder'),
    'object store: folder or s3',
  ),
  objectFolder: setting(
    'BINDERY_OBJECT_FOLDER',
    z.string().default('.bindery/objects'),
    'folder of the object store "folder"',
  ),
  publicUrl: setting(
    'BINDERY_PUBLIC_URL',
    webAddress.default('http://127.0.0.1:8080'),
    'public address of the gateway: exported pages send requests to it, and links of the object store "folder" start with it',
  ),
  s3Endpoint: setting('BINDERY_S3_ENDPOINT', webAddress.optional(), 'address of the S3 API; if absent, AWS'),
  s3PublicEndpoint: setting(
    'BINDERY_S3_PUBLIC_ENDPOINT',
    webAddress.optional(),
    'address of the S3 API in signed links, if clients use another one',
  ),
  s3Region: setting('BINDERY_S3_REGION', z.string().default('us-east-1'), 'region of the S3 API'),
  s3Bucket: setting('BINDERY_S3_BUCKET', z.string().default('bindery'), 'bucket for all objects'),
  s3AccessKeyId: setting(
    'BINDERY_S3_ACCESS_KEY_ID',
    z.string().optional(),
    "access key; if absent, the SDK's default credentials",
  ),
  s3SecretAccessKey: secretSetting('BINDERY_S3_SECRET_ACCESS_KEY', z.string().optional(), 'secret of the access key'),
  s3ForcePathStyle: setting(
    'BINDERY_S3_FORCE_PATH_STYLE',
    z.enum(['0', '1']).default('0'),
    '1: bucket in the path instead of the host name',
  ),
};

/** Settings of services that sign links or check them. */
export const linkSigningSettings = {
  linkSigningKey: secretSetting(
    'BINDERY_LINK_SIGNING_KEY',
    z.string().min(16).optional(),
    'key that signs links of the object store "folder"',
  ),
};

export type ObjectStoreConfig = ConfigOf<typeof objectStoreSettings> & { linkSigningKey?: string | undefined };

/**
 * The object store that the configuration names. Nothing is contacted: `check` tells whether it can be used. Links expire by `clock`, by
 * default that of this machine.
 */
export async function openObjectStore(config: ObjectStoreConfig, clock: Clock = systemClock): Promise<ObjectStore> {
  const settings = { ...objectStoreFromConfig(config), clock };
  // The module is loaded on demand, because the AWS SDK costs each process 40 MB and a tenth of a second.
  if (settings.kind === 's3') return (await import('./s3-object-store.ts')).s3ObjectStore(settings);
  return (await import('./folder-object-store.ts')).folderObjectStore(settings);
}

/** The settings of the object store. Throws a sentence that names the variable when only half of a pair is set. */
export function objectStoreFromConfig(
  config: ObjectStoreConfig,
): ({ kind: 'folder' } & FolderObjectStoreSettings) | ({ kind: 's3' } & S3ObjectStoreSettings) {
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config;
  if (config.objectStore === 'folder') {
    const { objectFolder: folder, publicUrl: publicBaseUrl, linkSigningKey: signingKey } = config;
    return { kind: 'folder', folder, publicBaseUrl, signingKey };
  }
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new Error(`BINDERY_S3_ACCESS_KEY_ID and BINDERY_S3_SECRET_ACCESS_KEY belong together: set both or neither`);
  }
  return {
    kind: 's3',
    bucket: config.s3Bucket,
    region: config.s3Region,
    endpoint: config.s3Endpoint,
    publicEndpoint: config.s3PublicEndpoint,
    forcePathStyle: config.s3ForcePathStyle === '1',
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined,
  };
}
