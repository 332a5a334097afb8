import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { loadConfig } from '#shared/runtime/config.ts';
import { askedPlatform, bundleOrigin, docsHostSettings } from './config.ts';
import { hostConfigScript } from './host-config-script.ts';
import { loginOf, sitesLoginsOf } from './login-settings.ts';
import { portOf, sitesPlatform } from './sites-settings.ts';

const config = (env: Record<string, string>) => loadConfig(docsHostSettings, env);
const link = 'https://objects.example.com/site.tar.gz?signature=x';

const ofPlatform = {
  BINDERY_SITES: 'platform',
  BINDERY_PLATFORM_URL: 'https://bindery.example.com',
  BINDERY_SITES_KEY: `svc_site_${'a'.repeat(36)}`,
};

test('all sites of a platform are served from its feed, on a port of their own', () => {
  const { BINDERY_PLATFORM_URL: url, BINDERY_SITES_KEY: key } = ofPlatform;
  expect(sitesPlatform(config(ofPlatform))).toEqual({ url, key });
  expect([portOf(config(ofPlatform)), portOf(config({}))]).toEqual([8_090, 8_080]);
  expect(portOf(config({ ...ofPlatform, BINDERY_DOCS_HOST_PORT: '0' }))).toBe(0);
  expect(sitesPlatform(config({ BINDERY_PLATFORM_URL: url }))).toBeUndefined();
});

test.each([
  ['BINDERY_STATIC_EXPORT_BUNDLE_URL', link],
  ['BINDERY_STATIC_EXPORT_ENABLED', '0'],
  ['BINDERY_STATIC_EXPORT_VERSION', 'v2'],
  ['BINDERY_STATIC_EXPORT_SHA256', 'a'.repeat(64)],
  ['BINDERY_BUNDLE_PATH', '/bundles/site.tar.gz'],
  ['BINDERY_EXPORT_KEY', 'svc_x'],
  ['BINDERY_ASK_KEY', 'svc_dsc_x'],
  ['BINDERY_DOCS_DOMAIN', 'acme'],
  ['BINDERY_SITE_DEPLOYMENT', 'cloud'],
  ['BINDERY_SITE_FEATURES', 'assistant=off'],
  ['BINDERY_SITE_URL', 'https://docs.example.com'],
  ['BINDERY_BASE_PATH', '/docs'],
  ['BINDERY_LOGIN', 'oidc'],
  ['BINDERY_LOGIN_USERS', `reader:${'a'.repeat(16)}`],
  ['BINDERY_LOGIN_GROUPS', 'docs'],
  ['BINDERY_LOGIN_EMAIL_DOMAINS', 'acme.com'],
])('%s beside all sites of a platform is an error', (name, value) => {
  expect(() => sitesPlatform(config({ ...ofPlatform, [name]: value }))).toThrow(
    `BINDERY_SITES is "platform", but ${name} is for a docs-host of one site.`,
  );
});

test('a provider for the logins of sites is complete or an error, and the rules of who may read are those of sites', () => {
  const login = {
    BINDERY_OIDC_ISSUER: 'https://login.example.com',
    BINDERY_OIDC_CLIENT_ID: 'docs',
    BINDERY_LOGIN_SESSION_SECRET: 'a-secret-of-32-characters-or-more',
    BINDERY_SITES_BASE: 'https://docs.example.com',
  };
  expect(sitesLoginsOf(config({ ...ofPlatform, ...login }))).toMatchObject({
    sessionSecret: login.BINDERY_LOGIN_SESSION_SECRET,
    provider: { settings: { clientId: 'docs' }, base: { protocol: 'https', host: 'docs.example.com' } },
  });
  for (const name of Object.keys(login))
    expect(() => sitesPlatform(config({ ...ofPlatform, ...login, [name]: '' }))).toThrow(
      `A provider for the logins of sites also needs ${name}.`,
    );
  expect(() => sitesPlatform(config({ ...ofPlatform, ...login, BINDERY_OIDC_SCOPES: 'email' }))).toThrow('"openid"');
  const { sessionSecret, provider } = sitesLoginsOf(config(ofPlatform));
  expect([sessionSecret, provider]).toEqual([ofPlatform.BINDERY_SITES_KEY, undefined]);
});

test('half of the settings for all sites of a platform, and its key alone, are errors', () => {
  for (const name of ['BINDERY_PLATFORM_URL', 'BINDERY_SITES_KEY'])
    expect(() => sitesPlatform(config({ ...ofPlatform, [name]: '' }))).toThrow('needs BINDERY_PLATFORM_URL and');
  expect(() => sitesPlatform(config({ ...ofPlatform, BINDERY_SITES: 'one' }))).toThrow(
    'BINDERY_SITES is not "platform"',
  );
});

test('a bundle comes from one place', () => {
  expect(bundleOrigin(config({ BINDERY_STATIC_EXPORT_BUNDLE_URL: link }))).toEqual({ kind: 'link', url: link });
  expect(bundleOrigin(config({ BINDERY_BUNDLE_PATH: '/bundles/site.tar.gz' }))).toEqual({
    kind: 'mounted',
    path: '/bundles/site.tar.gz',
  });
  expect(
    bundleOrigin(
      config({
        BINDERY_EXPORT_KEY: 'svc_x',
        BINDERY_PLATFORM_URL: 'https://bindery.example.com',
        BINDERY_DOCS_DOMAIN: 'acme',
      }),
    ),
  ).toMatchObject({ kind: 'platform' });
});

test('without a bundle the error names the ways to get one; when it is off, there is none', () => {
  expect(() => bundleOrigin(config({}))).toThrow(
    /BINDERY_STATIC_EXPORT_BUNDLE_URL.*BINDERY_BUNDLE_PATH.*BINDERY_EXPORT_KEY/,
  );
  expect(bundleOrigin(config({ BINDERY_STATIC_EXPORT_ENABLED: 'false' }))).toEqual({ kind: 'none' });
  expect(bundleOrigin(config({ BINDERY_STATIC_EXPORT_ENABLED: '0', BINDERY_STATIC_EXPORT_BUNDLE_URL: link }))).toEqual({
    kind: 'none',
  });
});

test('two places, or half of one, are errors', () => {
  expect(() => bundleOrigin(config({ BINDERY_STATIC_EXPORT_BUNDLE_URL: link, BINDERY_BUNDLE_PATH: '/x' }))).toThrow(
    'one place',
  );
  expect(() => bundleOrigin(config({ BINDERY_EXPORT_KEY: 'svc_x' }))).toThrow('BINDERY_PLATFORM_URL');
  expect(() => askedPlatform(config({ BINDERY_ASK_KEY: 'svc_dsc_x' }))).toThrow('BINDERY_PLATFORM_URL');
  expect(() => askedPlatform(config({ BINDERY_ASK_KEY: 'svc_dsc_x', BINDERY_SITE_DEPLOYMENT: 'air-gapped' }))).toThrow(
    'calls no server',
  );
});

test.each([
  ['BINDERY_STATIC_EXPORT_BUNDLE_URL', 'ftp://x'],
  ['BINDERY_STATIC_EXPORT_BUNDLE_URL', 'site.tar.gz'],
  ['BINDERY_STATIC_EXPORT_ENABLED', 'yes'],
  ['BINDERY_STATIC_EXPORT_SHA256', 'abc'],
  ['BINDERY_BUNDLE_PATH', 'site.tar.gz'],
  ['BINDERY_BASE_PATH', 'docs'],
  ['BINDERY_BASE_PATH', '/docs/../x'],
  ['BINDERY_SITE_FEATURES', 'search=on'],
  ['BINDERY_SITE_FEATURES', 'chat=on'],
  ['BINDERY_SITE_DEPLOYMENT', 'moon'],
  // A key with the message of the command that printed it, and a key for the other purpose: no request with them could succeed.
  ['BINDERY_EXPORT_KEY', 'svc_x\nThis is the secret of the admin key key_1.'],
  ['BINDERY_EXPORT_KEY', 'svc_dsc_x'],
  ['BINDERY_ASK_KEY', 'svc_dsc_x\nThis is the secret of the assistant key key_1.'],
  ['BINDERY_ASK_KEY', 'svc_x'],
  ['BINDERY_EXPORT_KEY', `svc_site_${'a'.repeat(36)}`],
  ['BINDERY_SITES_KEY', `svc_${'a'.repeat(36)}`],
  ['BINDERY_SITES_KEY', 'svc_site_short'],
  ['BINDERY_SITES', 'all'],
])('%s=%s is refused by its name', (name, value) => {
  expect(() => config({ [name]: value })).toThrow(`${name} is wrong`);
});

const bundle =
  'window.binderyConfig = {\n  "deployment": "cloud",\n  "features": {\n    "search": "server",\n    "assistant": true\n  },\n  "siteUrl": "https://docs.example.com",\n  "serverUrl": "https://bindery.example.com",\n  "assistantKey": "svc_dsc_1",\n  "analytics": {\n    "plausible": {\n      "domain": "docs.example.com"\n    },\n    "consent": {\n      "key": "cookies",\n      "value": "yes"\n    }\n  }\n};\n';
const manifest = { sha256: '0'.repeat(64), domain: 'acme', deployment: 'cloud' as const };

/** The configuration that a page would find on `window`. */
function configOf(env: Record<string, string>, asked?: { domain: string }, script = bundle) {
  const window: { binderyConfig?: Record<string, unknown> } = {};
  runInNewContext(hostConfigScript(script, manifest, config(env), asked), {
    window,
    location: { origin: 'https://here.example' },
  });
  return window.binderyConfig;
}

test('config.js is that of the bundle where the host has nothing to say', () => {
  expect(configOf({})).toMatchObject({
    deployment: 'cloud',
    siteUrl: 'https://docs.example.com',
    serverUrl: 'https://bindery.example.com',
    assistantKey: 'svc_dsc_1',
    features: { search: 'server', assistant: true },
    analytics: { plausible: { domain: 'docs.example.com' }, consent: { key: 'cookies', value: 'yes' } },
  });
});

test('a config.js with many beginnings and no end is read in one pass', () => {
  const script = 'window.binderyConfig = {'.repeat(40_000);
  expect(configOf({}, undefined, script)).toMatchObject({ deployment: 'cloud', siteUrl: '' });
});

test('another deployment type has its own features, and an air-gapped site names no server', () => {
  expect(configOf({ BINDERY_SITE_DEPLOYMENT: 'client-hosted' })).toMatchObject({
    features: { search: 'bundle', assistant: false, playground: true },
  });
  expect(configOf({ BINDERY_SITE_DEPLOYMENT: 'air-gapped' })).toMatchObject({
    serverUrl: '',
    assistantKey: '',
    features: { search: 'off', assistant: false, analytics: false, playground: false },
    analytics: {},
  });
  expect(
    configOf({
      BINDERY_SITE_DEPLOYMENT: 'air-gapped',
      BINDERY_SITE_FEATURES: 'search=bundle,playground=on,assistant=on',
    }),
  ).toMatchObject({ features: { search: 'bundle', assistant: false, playground: true } });
});

test('with a key of its own the host is the server that pages ask', () => {
  const found = configOf(
    { BINDERY_BASE_PATH: '/docs', BINDERY_SITE_URL: 'https://kb.example.com/docs/' },
    { domain: 'handbook' },
  );
  expect(found).toMatchObject({
    serverUrl: 'https://here.example/docs',
    siteUrl: 'https://kb.example.com/docs',
    domain: 'handbook',
    features: { search: 'server', assistant: true },
  });
  expect(found?.assistantKey).toMatch(/^svc_dsc_[0-9A-Za-z]{36}$/);
});

test('with a key search and assistant are on, also if the bundle was exported without them, unless the host turns them off', () => {
  const off = bundle
    .replace('"search": "server"', '"search": "bundle"')
    .replace('"assistant": true', '"assistant": false');
  expect(configOf({}, { domain: 'handbook' }, off)).toMatchObject({ features: { search: 'server', assistant: true } });
  expect(configOf({ BINDERY_SITE_FEATURES: 'assistant=off' }, { domain: 'handbook' }, off)).toMatchObject({
    features: { search: 'server', assistant: false },
  });
});

test('a config.js that cannot be read counts as none', () => {
  expect(configOf({}, undefined, 'alert(1)')).toMatchObject({ deployment: 'cloud', serverUrl: '' });
});

test('a digest in capitals, as some systems print it, is the same digest', () => {
  expect(config({ BINDERY_STATIC_EXPORT_SHA256: 'AB'.repeat(32) }).sha256).toBe('ab'.repeat(32));
  expect(() => config({ BINDERY_STATIC_EXPORT_SHA256: 'abc' })).toThrow('must be 64 hexadecimal digits');
});

test.each([
  ['BINDERY_LOGIN_USERS', 'reader:sixteen-letters-x'],
  ['BINDERY_OIDC_ISSUER', 'https://login.example.com'],
  ['BINDERY_LOGIN_GROUPS', 'engineering'],
  ['BINDERY_LOGIN_EMAIL_DOMAINS', 'example.com'],
])('%s without BINDERY_LOGIN is an error, not a site that everybody may read', (name, value) => {
  expect(() => loginOf(config({ [name]: value }))).toThrow(`${name} is set, but BINDERY_LOGIN is not`);
  expect(loginOf(config({ [name]: value, BINDERY_LOGIN: 'none' }))).toEqual({ kind: 'none' });
});
