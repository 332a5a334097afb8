import { expect, test } from 'vitest';
import type { SiteView } from '#shared/interfaces/http/sites.ts';
import { type SiteOptions, siteSettings } from './site-settings.ts';

const site: SiteView = {
  domain: 'acme',
  address: 'https://docs.acme.com',
  name: 'acme-docs',
  hosts: ['docs.acme.com'],
  previews: false,
  assistant: false,
  counts: false,
};
const kept = { name: 'acme-docs', hosts: ['docs.acme.com'], previews: false, assistant: false, counts: false };

test.each<[SiteOptions, object]>([
  [{}, kept],
  [{ previews: true }, { ...kept, previews: true }],
  [{ host: ['help.acme.com'] }, { ...kept, hosts: ['help.acme.com'] }],
  [{ host: false }, { ...kept, hosts: [] }],
  [
    { name: 'docs', counts: true },
    { ...kept, name: 'docs', counts: true },
  ],
])('%j changes nothing else of a site that is open', (options, settings) => {
  expect(siteSettings(options, site)).toEqual(settings);
});

test('pages ask with a key or through their host, and keep what they had', () => {
  const { assistant: _, ...others } = kept;
  const withKey: SiteView = { ...site, assistantKey: 'svc_dsc_1' };
  expect(siteSettings({}, withKey)).toEqual({ ...others, assistantKey: 'svc_dsc_1' });
  expect(siteSettings({ assistant: true }, withKey)).toEqual({ ...others, assistant: true });
  expect(siteSettings({ assistantKey: 'svc_dsc_2' }, site)).toEqual({ ...others, assistantKey: 'svc_dsc_2' });
});

test('a new site has the defaults of the server', () => {
  expect(JSON.stringify(siteSettings({}, undefined))).toBe('{}');
  expect(JSON.stringify(siteSettings({ host: ['docs.acme.com'] }, undefined))).toBe('{"hosts":["docs.acme.com"]}');
});
