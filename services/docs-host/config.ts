import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { contentLabel, domainName, sha256Hex } from '#shared/contracts/identifiers.ts';
import { deploymentTypes, siteFeatures } from '#shared/contracts/stored-objects.ts';
import { redisSettings } from '#shared/http/redis-settings.ts';
import { dataFolderSettings, trustProxySettings } from '#shared/service/common-settings.ts';
import {
  ConfigError,
  type ConfigOf,
  onOff,
  portNumber,
  secretSetting,
  setting,
  wholeNumber,
} from '#shared/runtime/config.ts';
import { loginSettings } from './login-settings.ts';

const webAddress = (example: string) =>
  z.string().refine(isWebAddress, `must be an address such as ${example}`).optional();

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

const oneKey = (pattern: RegExp, what: string) =>
  z.string().regex(pattern, `must be ${what} without further text, such as a second line`);

/** `search=bundle,playground=off` */
const featureList = z
  .string()
  .default('')
  .transform((text, context) => {
    const parsed = featuresSchema.safeParse(
      Object.fromEntries(
        text.split(',').flatMap((part) => {
          const [name = '', value = ''] = part.split('=').map((piece) => piece.trim());
          return name === '' ? [] : [[name, name === 'search' ? value : switchValues[value]]];
        }),
      ),
    );
    if (parsed.success) return parsed.data;
    context.addIssue({
      code: 'custom',
      message:
        'must be a list such as "search=bundle,playground=off"; search is server, bundle or off, others on or off',
    });
    return z.NEVER;
  });

const switchValues: Readonly<Record<string, boolean>> = { on: true, off: false };

const featuresSchema = z.strictObject(siteFeatures).partial();

export const docsHostSettings = {
  ...dataFolderSettings,
  enabled: setting(
    'BINDERY_STATIC_EXPORT_ENABLED',
    onOff.default(true),
    '1: the docs-host looks for a bundle; 0: it serves its stored version, or none',
  ),
  bundleUrl: secretSetting(
    'BINDERY_STATIC_EXPORT_BUNDLE_URL',
    webAddress('https://objects.example.com/site.tar.gz'),
    'link to the bundle that the docs-host downloads and serves: the bundleUrl of the platform',
  ),
  version: setting(
    'BINDERY_STATIC_EXPORT_VERSION',
    contentLabel.optional(),
    'version of the export that the docs-host serves; a bundle of another one is refused',
  ),
  sha256: setting(
    'BINDERY_STATIC_EXPORT_SHA256',
    z
      .string()
      .transform((text) => text.toLowerCase())
      .refine((text) => sha256Hex.safeParse(text).success, 'must be 64 hexadecimal digits')
      .optional(),
    'SHA-256 of the bundle, as the platform gives it with the link; a bundle with another one is refused',
  ),
  bundlePath: setting(
    'BINDERY_BUNDLE_PATH',
    z.string().refine(isAbsolute, 'must be an absolute path').optional(),
    'bundle (.tar.gz) or unpacked bundle on this machine, for a docs-host without a network',
  ),
  platformUrl: setting(
    'BINDERY_PLATFORM_URL',
    webAddress('https://bindery.example.com'),
    'platform whose exports the docs-host follows, and that answers search and assistant of its pages',
  ),
  exportKey: secretSetting(
    'BINDERY_EXPORT_KEY',
    oneKey(/^svc_(?!dsc_|site_)\w+$/, 'an admin key ("svc_…")').optional(),
    'admin key with the scope "read", with which the docs-host finds the newest completed export of its domain',
  ),
  askKey: secretSetting(
    'BINDERY_ASK_KEY',
    oneKey(/^svc_dsc_\w+$/, 'an assistant key ("svc_dsc_…")').optional(),
    'assistant key with which the docs-host passes search and questions of readers on to the platform; its scopes: "read" and "proxy"',
  ),
  domain: setting('BINDERY_DOCS_DOMAIN', domainName.optional(), 'domain of the site on the platform'),
  checkSeconds: setting(
    'BINDERY_DOCS_HOST_CHECK_SECONDS',
    wholeNumber(1, 86_400).default(60),
    'interval at which the docs-host looks for a newer bundle, in seconds',
  ),
  deployment: setting(
    'BINDERY_SITE_DEPLOYMENT',
    z.enum(deploymentTypes).optional(),
    'deployment type of the site, which decides the features of its pages; default: that of the bundle',
  ),
  features: setting(
    'BINDERY_SITE_FEATURES',
    featureList,
    'features of pages that differ from those of the deployment type, such as "search=bundle,playground=off"',
  ),
  siteUrl: setting(
    'BINDERY_SITE_URL',
    webAddress('https://docs.example.com'),
    'address under which readers reach the site; default: that of the bundle',
  ),
  basePath: setting(
    'BINDERY_BASE_PATH',
    z
      .string()
      .default('')
      .transform((text) => text.replace(/\/+$/, ''))
      .refine(
        (text) => /^(\/[A-Za-z0-9._~-]+)*$/.test(text) && !/\/\.{1,2}(\/|$)/.test(text),
        'must be a path such as /docs',
      ),
    'path under which the site is served, such as /docs',
  ),
  host: setting('BINDERY_HOST', z.string().default('127.0.0.1'), 'address that the docs-host listens on'),
  port: setting(
    'BINDERY_DOCS_HOST_PORT',
    portNumber.optional(),
    'port of the sites; 0: a free one; default: 8080, with BINDERY_SITES=platform 8090',
  ),
  healthPort: setting(
    'BINDERY_DOCS_HOST_HEALTH_PORT',
    portNumber.optional(),
    'port of the health and metrics of the docs-host; default: that of the site',
  ),
  ...trustProxySettings,
  maxBundleMegabytes: setting(
    'BINDERY_MAX_BUNDLE_MB',
    wholeNumber(1, 100_000).default(2_000),
    'size limit of a bundle, in MB; unpacked it may be ten times as large',
  ),
  ...loginSettings,
  ...redisSettings,
  memoryMegabytes: setting(
    'BINDERY_DOCS_HOST_MEMORY_MB',
    wholeNumber(0, 100_000).default(64),
    'memory cache of the docs-host for files, in MB',
  ),
  sites: setting(
    'BINDERY_SITES',
    z.enum(['one', 'platform'], 'must be one or platform').default('one'),
    'sites that the docs-host serves: one (from a bundle), or platform (each site and preview of the platform, by host name)',
  ),
  sitesKey: secretSetting(
    'BINDERY_SITES_KEY',
    oneKey(/^svc_site_[0-9A-Za-z]{36}$/, 'a sites key ("svc_site_…")').optional(),
    'with BINDERY_SITES=platform: key with which the docs-host learns of sites and fetches their bundles',
  ),
  listsMegabytes: setting(
    'BINDERY_DOCS_HOST_LISTS_MB',
    wholeNumber(1, 100_000).default(96),
    'with BINDERY_SITES=platform: memory for lists of the files of sites, in MB; those of sites that nobody reads are evicted first',
  ),
};

export type DocsHostConfig = ConfigOf<typeof docsHostSettings>;

/** The source of bundles. */
export type BundleOrigin =
  | { kind: 'none' }
  | { kind: 'link'; url: string }
  | { kind: 'mounted'; path: string }
  | { kind: 'platform'; url: string; key: string; domain: string };

/** The source of this host's bundles. Throws `ConfigError` if there is none, or more than one. Pure. */
export function bundleOrigin(config: DocsHostConfig): BundleOrigin {
  const { enabled, bundleUrl, bundlePath, platformUrl, exportKey, domain } = config;
  if (!enabled) return { kind: 'none' };
  const said = [
    bundleUrl !== undefined && 'BINDERY_STATIC_EXPORT_BUNDLE_URL',
    bundlePath !== undefined && 'BINDERY_BUNDLE_PATH',
    exportKey !== undefined && 'BINDERY_EXPORT_KEY',
  ].filter((name) => name !== false);
  if (said.length > 1)
    throw new ConfigError(
      `${said.join(' and ')} are set: a docs-host gets its bundles from one place. Remove all but one.`,
    );
  if (bundleUrl !== undefined) return { kind: 'link', url: bundleUrl };
  if (bundlePath !== undefined) return { kind: 'mounted', path: bundlePath };
  if (exportKey === undefined) {
    throw new ConfigError(
      'There is no bundle to serve. Set BINDERY_STATIC_EXPORT_BUNDLE_URL (a link), BINDERY_BUNDLE_PATH (a file or folder), or BINDERY_EXPORT_KEY with BINDERY_PLATFORM_URL and BINDERY_DOCS_DOMAIN (the newest export). With BINDERY_STATIC_EXPORT_ENABLED=0 the stored version stays in use.',
    );
  }
  if (platformUrl === undefined || domain === undefined)
    throw new ConfigError(
      'BINDERY_EXPORT_KEY needs BINDERY_PLATFORM_URL and BINDERY_DOCS_DOMAIN, which say whose exports to follow.',
    );
  return { kind: 'platform', url: platformUrl, key: exportKey, domain };
}

/** The platform that answers readers' questions; undefined if there is none. */
export type AskedPlatform = { url: string; key: string; domain: string };

/** Throws `ConfigError` if the settings contradict each other. Pure. */
export function askedPlatform(config: DocsHostConfig): AskedPlatform | undefined {
  const { askKey, platformUrl, domain, deployment } = config;
  if (askKey === undefined) return undefined;
  if (deployment === 'air-gapped')
    throw new ConfigError(
      'BINDERY_ASK_KEY is set, but BINDERY_SITE_DEPLOYMENT is "air-gapped": such a site calls no server. Remove one of them.',
    );
  if (platformUrl === undefined || domain === undefined)
    throw new ConfigError(
      'BINDERY_ASK_KEY needs BINDERY_PLATFORM_URL and BINDERY_DOCS_DOMAIN, which say where questions go.',
    );
  return { url: platformUrl, key: askKey, domain };
}
