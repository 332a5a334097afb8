import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ConfigError, loadConfig, secretSetting, setting, wholeNumber } from './config.ts';

const settings = {
  port: setting('X_PORT', wholeNumber(1, 65_535).default(8080), 'port to listen on'),
  name: setting('X_NAME', z.string().min(1), 'name of the thing'),
};

test('defaults replace absent and empty values', () => {
  expect(loadConfig(settings, { X_NAME: 'a', X_PORT: '' })).toEqual({ port: 8080, name: 'a' });
});

test('every wrong variable is named in one error', () => {
  expect(() => loadConfig(settings, { X_PORT: 'eighty' })).toThrow(ConfigError);
  expect(() => loadConfig(settings, { X_PORT: 'eighty' })).toThrow(
    /X_PORT is wrong.*\nX_NAME is not set: name of the thing/,
  );
});

test.each(['nine', '0', '70000', '1.5'])('for the number "%s" the error names the valid range', (X_PORT) => {
  expect(() => loadConfig(settings, { X_NAME: 'a', X_PORT })).toThrow(
    'X_PORT is wrong (must be a whole number from 1 to 65535): port to listen on',
  );
});

test.each([
  [{ X_MODE: 'fats' }, 'X_MODE is wrong (must be "fast" or "slow", not "fats"; did you mean "fast"): mode'],
  [{ X_TOKEN: 'short' }, 'X_TOKEN is wrong (must have at least 16 characters): token'],
  [{ X_ADDRESS: 'nowhere' }, 'X_ADDRESS is wrong (must be an address such as https://docs.acme.com): address'],
])('a wrong value is explained in words: %j', (env, sentence) => {
  const plain = {
    mode: setting('X_MODE', z.enum(['fast', 'slow']).optional(), 'mode'),
    token: secretSetting('X_TOKEN', z.string().min(16).optional(), 'token'),
    address: setting('X_ADDRESS', z.url().optional(), 'address'),
  };
  expect(() => loadConfig(plain, env)).toThrow(sentence);
});

test('a secret may be in a file; its own variable wins', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-secrets-'));
  const [file, empty] = [join(folder, 'secret'), join(folder, 'empty')];
  await writeFile(file, 'from the file\n');
  await writeFile(empty, '\n');
  const secrets = { token: secretSetting('X_TOKEN', z.string(), 'token'), name: setting('X_NAME', z.string(), 'name') };
  const load = (env: Record<string, string>) => loadConfig(secrets, { X_NAME: 'a', ...env });
  expect(load({ X_TOKEN_FILE: file })).toEqual({ token: 'from the file', name: 'a' });
  expect(load({ X_TOKEN_FILE: file, X_TOKEN: 'own' })).toEqual({ token: 'own', name: 'a' });
  expect(() => load({ X_TOKEN_FILE: empty })).toThrow(`X_TOKEN_FILE is wrong: the file "${empty}" is empty`);
  expect(() => load({ X_TOKEN_FILE: join(folder, 'none') })).toThrow(
    /X_TOKEN_FILE is wrong: the file ".*none" cannot be read/,
  );
  expect(() => load({ X_TOKEN: 'own', X_NAME: '', X_NAME_FILE: file })).toThrow('X_NAME is not set');
  await rm(folder, { recursive: true });
});

test('a secret may be a file of its name in the folder of secrets, and other settings may not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-secrets-'));
  try {
    const settings = {
      token: secretSetting('X_TOKEN', z.string(), 'token'),
      other: secretSetting('X_OTHER', z.string().optional(), 'other token'),
      place: setting('X_PLACE', z.string().default('here'), 'place'),
    };
    await writeFile(join(folder, 'X_TOKEN'), 'from the folder\n');
    await writeFile(join(folder, 'X_PLACE'), 'there');
    const env = { BINDERY_SECRETS: folder };
    expect(loadConfig(settings, env)).toEqual({ token: 'from the folder', other: undefined, place: 'here' });
    expect(loadConfig(settings, { ...env, X_TOKEN: 'given' }).token).toBe('given');
    await writeFile(join(folder, 'X_TOKEN'), '\n');
    expect(() => loadConfig(settings, env)).toThrow(/BINDERY_SECRETS is wrong: the file ".*X_TOKEN" is empty/);
    await rm(join(folder, 'X_TOKEN'));
    expect(() => loadConfig(settings, env)).toThrow(
      `X_TOKEN is not set, and the folder ${folder} has no file of that name: token`,
    );
    expect(() => loadConfig(settings, { BINDERY_SECRETS: '/nowhere' })).toThrow(
      /^BINDERY_SECRETS is wrong: there is no folder "\/nowhere"$/,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
