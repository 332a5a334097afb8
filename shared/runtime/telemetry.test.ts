import { expect, test } from 'vitest';
import { ConfigError } from './config.ts';
import { logLevel } from './telemetry.ts';

test('an unknown level of log lines is a wrong setting', () => {
  expect(logLevel({ BINDERY_LOG_LEVEL: 'warn' })).toBe('warn');
  expect(logLevel({ BINDERY_LOG_LEVEL: '' })).toBe('info');
  const unknown = () => logLevel({ BINDERY_LOG_LEVEL: 'verbose' });
  expect(unknown).toThrow(ConfigError);
  expect(unknown).toThrow('BINDERY_LOG_LEVEL is wrong (must be debug, info, warn or error, not "verbose")');
});
