import { expect, test } from 'vitest';
import { generateApiKey } from '#shared/http/api-key.ts';
import { withoutKeys } from './without-keys.ts';

const key = generateApiKey('assistant');
const siteKey = generateApiKey('site');
const encoded = (text: string) => text.replaceAll(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`);

test.each([
  ['as it is', key],
  ['cut', key.slice(0, 20)],
  ['percent-encoded', encoded(key)],
  ['percent-encoded with capitals', encoded(key).toUpperCase()],
  ['percent-encoded in part', `${key.slice(0, 3)}%5f${key.slice(4, 20)}${encoded(key.slice(20, 22))}${key.slice(22)}`],
  ['percent-encoded twice', encoded(key).replaceAll('%', '%25')],
  ['of a host of sites', siteKey],
  ['of a host of sites, and percent-encoded', encoded(siteKey)],
])('no text has a key that is %s', (_, written) => {
  expect(withoutKeys(`There is no GET /a/${written}/b here.`)).toBe('There is no GET /a/svc_…/b here.');
});

test('a text that only begins like a key stays', () => {
  for (const text of ['svc_', 'svc_dsc_…', 'svc_site_', 'svc_short', '%20svc_%5f', 'abcdefghijklmnop'])
    expect(withoutKeys(text)).toBe(text);
});
