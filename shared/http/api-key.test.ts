import { expect, test } from 'vitest';
import { generateApiKey, parseApiKey } from './api-key.ts';

test.each(['admin', 'assistant'] as const)('a generated %s key is recognized', (kind) => {
  const key = generateApiKey(kind);
  expect(key).toMatch(kind === 'admin' ? /^svc_[0-9A-Za-z]{36}$/ : /^svc_dsc_[0-9A-Za-z]{36}$/);
  expect(parseApiKey(key)?.kind).toBe(kind);
});

test('the same random digits give the same key', () => {
  const digits = (length: number) => 'a'.repeat(length);
  expect(generateApiKey('admin', digits)).toBe(generateApiKey('admin', digits));
  expect(generateApiKey('admin')).not.toBe(generateApiKey('admin'));
});

test('a key with a wrong digit, cut, or of another form is refused', () => {
  const key = generateApiKey('admin', (length) => 'a'.repeat(length));
  expect(parseApiKey(`svc_b${key.slice(5)}`)).toBeUndefined();
  expect(parseApiKey(key.slice(0, -1))).toBeUndefined();
  expect(parseApiKey(`${key}x`)).toBeUndefined();
  expect(parseApiKey(key.replace('svc_', 'svc_dsc_'))).toBeUndefined();
  expect(parseApiKey('')).toBeUndefined();
});
