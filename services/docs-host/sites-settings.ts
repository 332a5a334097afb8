import { ConfigError } from '#shared/runtime/config.ts';
import type { DocsHostConfig } from './config.ts';
import { sitesLoginsOf } from './login-settings.ts';

/** The platform whose sites a host serves. */
export type SitesPlatform = { url: string; key: string };

const usualPort = { one: 8_080, platform: 8_090 } as const;

/** The port of the sites. Pure. */
export const portOf = ({ port, sites }: Pick<DocsHostConfig, 'port' | 'sites'>): number => port ?? usualPort[sites];

/** The platform whose sites the host serves; undefined for a host of one site. Throws `ConfigError` if the settings contradict each other. Pure. */
export function sitesPlatform(config: DocsHostConfig): SitesPlatform | undefined {
  const { sites, sitesKey, platformUrl } = config;
  if (sites === 'one') {
    if (sitesKey === undefined) return undefined;
    throw new ConfigError(
      'BINDERY_SITES_KEY is set, but BINDERY_SITES is not "platform": a docs-host of one site needs no such key. Remove one, or set the other.',
    );
  }
  const ofOneSite = {
    BINDERY_STATIC_EXPORT_ENABLED: !config.enabled,
    BINDERY_STATIC_EXPORT_BUNDLE_URL: config.bundleUrl !== undefined,
    BINDERY_STATIC_EXPORT_VERSION: config.version !== undefined,
    BINDERY_STATIC_EXPORT_SHA256: config.sha256 !== undefined,
    BINDERY_BUNDLE_PATH: config.bundlePath !== undefined,
    BINDERY_EXPORT_KEY: config.exportKey !== undefined,
    BINDERY_ASK_KEY: config.askKey !== undefined,
    BINDERY_DOCS_DOMAIN: config.domain !== undefined,
    BINDERY_SITE_DEPLOYMENT: config.deployment !== undefined,
    BINDERY_SITE_FEATURES: Object.keys(config.features).length > 0,
    BINDERY_SITE_URL: config.siteUrl !== undefined,
    BINDERY_BASE_PATH: config.basePath !== '',
    BINDERY_LOGIN: config.login !== undefined && config.login !== 'none',
    BINDERY_LOGIN_USERS: config.loginUsers !== undefined,
    BINDERY_LOGIN_GROUPS: config.allowedGroups.length > 0,
    BINDERY_LOGIN_EMAIL_DOMAINS: config.allowedEmailDomains.length > 0,
  };
  const set = Object.entries(ofOneSite).flatMap(([name, isSet]) => (isSet ? [name] : []));
  if (set.length > 0)
    throw new ConfigError(
      `BINDERY_SITES is "platform", but ${set.join(' and ')} ${set.length === 1 ? 'is' : 'are'} for a docs-host of one site. Remove one or the other.`,
    );
  if (platformUrl === undefined || sitesKey === undefined)
    throw new ConfigError(
      'BINDERY_SITES=platform needs BINDERY_PLATFORM_URL and BINDERY_SITES_KEY, which say whose sites to serve.',
    );
  // The settings of the logins are checked at the start, so that errors do not appear later.
  sitesLoginsOf(config);
  return { url: platformUrl, key: sitesKey };
}
