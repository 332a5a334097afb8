import { expect, test } from 'vitest';
import { loadConfig } from '#shared/runtime/config.ts';
import { objectStoreFromConfig, objectStoreSettings } from './open-object-store.ts';

test('a folder is the default', () => {
  expect(objectStoreFromConfig(loadConfig(objectStoreSettings, {}))).toEqual({
    kind: 'folder',
    folder: '.bindery/objects',
    publicBaseUrl: 'http://127.0.0.1:8080',
  });
});

test('S3 with a key pair, or with the credentials that the SDK finds', () => {
  const env = { BINDERY_OBJECT_STORE: 's3', BINDERY_S3_ENDPOINT: 'http://s3:7070', BINDERY_S3_FORCE_PATH_STYLE: '1' };
  const settings = {
    kind: 's3',
    bucket: 'bindery',
    region: 'us-east-1',
    endpoint: 'http://s3:7070',
    forcePathStyle: true,
  };
  expect(objectStoreFromConfig(loadConfig(objectStoreSettings, env))).toEqual(settings);
  const pair = { BINDERY_S3_ACCESS_KEY_ID: 'id', BINDERY_S3_SECRET_ACCESS_KEY: 'secret' };
  expect(objectStoreFromConfig(loadConfig(objectStoreSettings, { ...env, ...pair }))).toEqual({
    ...settings,
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  });
  expect(() =>
    objectStoreFromConfig(loadConfig(objectStoreSettings, { ...env, BINDERY_S3_ACCESS_KEY_ID: 'id' })),
  ).toThrow('belong together');
});
