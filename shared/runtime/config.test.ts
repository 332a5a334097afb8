import { expect, test } from 'vitest';
import { z } from 'zod';
import { ConfigError, loadConfig, setting, wholeNumber } from './config.ts';

const settings = {
  port: setting('X_PORT', wholeNumber(1, 65_535).default(8080), 'port to listen on'),
  name: setting('X_NAME', z.string().min(1), 'name of the thing'),
};

test('defaults fill what is absent or empty', () => {
  expect(loadConfig(settings, { X_NAME: 'a', X_PORT: '' })).toEqual({ port: 8080, name: 'a' });
});

test('every wrong variable is named in one error', () => {
  expect(() => loadConfig(settings, { X_PORT: 'eighty' })).toThrow(ConfigError);
  expect(() => loadConfig(settings, { X_PORT: 'eighty' })).toThrow(
    /X_PORT is wrong.*\nX_NAME is not set: name of the thing/,
  );
});

test.each(['nine', '0', '70000', '1.5'])('a number that is "%s" is told which numbers are right', (X_PORT) => {
  expect(() => loadConfig(settings, { X_NAME: 'a', X_PORT })).toThrow(
    'X_PORT is wrong (must be a whole number from 1 to 65535): port to listen on',
  );
});
