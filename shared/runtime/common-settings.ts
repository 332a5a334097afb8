import { z } from 'zod';
import { portNumber, secretSetting, setting, wholeNumber } from './config.ts';

/** Name of a service in variables: `page-renderer` → `PAGE_RENDERER`. */
export const variableName = (service: string): string => service.toUpperCase().replaceAll('-', '_');

/** How a service reaches the bus. Its NATS user is the service's name. */
export const busSettings = (service: string) => ({
  natsUrl: setting(
    'BINDERY_NATS_URL',
    z.string().default('nats://127.0.0.1:4222'),
    'addresses of the NATS servers, comma-separated',
  ),
  natsPassword: secretSetting(
    `BINDERY_NATS_PASSWORD_${variableName(service)}`,
    z.string().min(1),
    `password of the NATS user "${service}"`,
  ),
});

/** Where a service's own HTTP server listens; 0 takes a free port. */
const internalServerSettings = (service: string) => ({
  host: setting(
    'BINDERY_INTERNAL_HOST',
    z.string().default('127.0.0.1'),
    'address that internal HTTP servers listen on',
  ),
  port: setting(
    `BINDERY_${variableName(service)}_PORT`,
    portNumber.default(0),
    `port of the ${service}'s internal HTTP server (health, and calls from the gateway if it takes any); 0: a free one`,
  ),
});

/** The shared secret of calls between services. */
export const serviceTokenSettings = {
  serviceToken: secretSetting(
    'BINDERY_SERVICE_TOKEN',
    z.string().min(16),
    'secret that services show each other; 16 characters or more',
  ),
};

export const dataFolderSettings = {
  dataFolder: setting(
    'BINDERY_DATA',
    z.string().default('.bindery'),
    'folder for everything that the embedded adapters keep',
  ),
};

/** Key of keyed hashes: job ids from idempotency keys, fingerprints. Changing it forgets idempotency keys and threads. */
export const hashKeySettings = {
  hashKey: secretSetting(
    'BINDERY_HASH_KEY',
    z.string().min(16),
    'key of keyed hashes in the log; 16 characters or more, same for all services',
  ),
};

/** The object store: a folder, or an S3 API. */
export const objectStoreSettings = {
  objectStore: setting(
    'BINDERY_OBJECT_STORE',
    z.enum(['folder', 's3']).default('folder'),
    'where objects are kept: folder or s3',
  ),
  objectFolder: setting(
    'BINDERY_OBJECT_FOLDER',
    z.string().default('.bindery/objects'),
    'folder of the object store "folder"',
  ),
  publicUrl: setting(
    'BINDERY_PUBLIC_URL',
    z.string().default('http://127.0.0.1:8080'),
    'address under which clients reach the gateway; links of the object store "folder" start with it',
  ),
  linkSigningKey: secretSetting(
    'BINDERY_LINK_SIGNING_KEY',
    z.string().min(16).optional(),
    'key that signs links of the object store "folder"',
  ),
  maxLinkLifetimeSeconds: setting(
    'BINDERY_MAX_LINK_LIFETIME_SECONDS',
    wholeNumber(60, 604_800).default(604_800),
    'no bundle link lives longer, in seconds (at most 7 days)',
  ),
  s3Endpoint: setting('BINDERY_S3_ENDPOINT', z.string().optional(), 'address of the S3 API; absent: AWS'),
  s3PublicEndpoint: setting(
    'BINDERY_S3_PUBLIC_ENDPOINT',
    z.string().optional(),
    'address of the S3 API in signed links, if clients use another one',
  ),
  s3Region: setting('BINDERY_S3_REGION', z.string().default('us-east-1'), 'region of the S3 API'),
  s3Bucket: setting('BINDERY_S3_BUCKET', z.string().default('bindery'), 'bucket for all objects'),
  s3AccessKeyId: setting(
    'BINDERY_S3_ACCESS_KEY_ID',
    z.string().optional(),
    "access key; absent: the SDK's own chain of credentials",
  ),
  s3SecretAccessKey: secretSetting('BINDERY_S3_SECRET_ACCESS_KEY', z.string().optional(), 'secret of the access key'),
  s3ForcePathStyle: setting(
    'BINDERY_S3_FORCE_PATH_STYLE',
    z.enum(['0', '1']).default('0'),
    '1: bucket in the path instead of the host name',
  ),
};

/** What every service has: its user of the bus, its HTTP server, and the object store. */
export const serviceSettings = (service: string) => ({
  ...busSettings(service),
  ...internalServerSettings(service),
  ...objectStoreSettings,
});
