import { z } from 'zod';
import { type SitesBase, sitesBaseOf, sitesBaseText } from '#shared/interfaces/http/sites-base.ts';
import { type ProviderSettings, providerOf, providerSettings } from '#shared/login/provider-settings.ts';
import { ConfigError, type ConfigOf, secretSetting, setting, wholeNumber } from '#shared/runtime/config.ts';

/** Minimum length of passwords. The host does not limit guesses, so passwords must be hard to guess. */
const shortestPassword = 16;
const shortestSessionSecret = 32;

/** Parses a text with one `name:password` per line. */
const userList = z.string().transform((text, context) => {
  const users = new Map<string, string>();
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '') continue;
    const [name = '', ...rest] = line.split(':');
    const password = rest.join(':');
    if (name !== '' && password.length >= shortestPassword) users.set(name, password);
    else
      context.addIssue({
        code: 'custom',
        message: `must have a name, a colon and a password of ${shortestPassword} characters or more on each line`,
      });
  }
  return users;
});

const list = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((part) => part.trim() || []));

export const loginSettings = {
  login: setting(
    'BINDERY_LOGIN',
    z.enum(['none', 'basic', 'oidc'], 'must be none, basic or oidc').optional(),
    'login of readers: none (the default), basic (name and password) or oidc (an account at an OpenID Connect provider)',
  ),
  loginUsers: secretSetting(
    'BINDERY_LOGIN_USERS',
    userList.optional(),
    'with the login "basic": one name:password on each line; passwords have 16 characters or more',
  ),
  ...providerSettings,
  allowedGroups: setting(
    'BINDERY_LOGIN_GROUPS',
    list,
    'groups whose members may read, comma-separated; with BINDERY_LOGIN_EMAIL_DOMAINS either is enough; neither: every account',
  ),
  allowedEmailDomains: setting(
    'BINDERY_LOGIN_EMAIL_DOMAINS',
    list.transform((domains) => domains.map((domain) => domain.toLowerCase())),
    'domains of addresses whose owners may read, such as example.com, comma-separated; the provider must have verified the address',
  ),
  sessionSecret: secretSetting(
    'BINDERY_LOGIN_SESSION_SECRET',
    z.string().min(shortestSessionSecret, `must have ${shortestSessionSecret} characters or more`).optional(),
    'with the login "oidc" or a provider for sites: secret that encrypts sessions, the same for all replicas of the host; 32 characters or more',
  ),
  sitesBase: setting(
    'BINDERY_SITES_BASE',
    sitesBaseText.optional(),
    'with BINDERY_SITES=platform and a provider: the same setting of the gateway; readers return from the provider to login.<base>',
  ),
  sessionHours: setting(
    'BINDERY_LOGIN_SESSION_HOURS',
    wholeNumber(1, 720).default(12),
    'duration of a login, in hours; after it readers log in at the provider, or the browser sends name and password, again',
  ),
};

type LoginConfig = ConfigOf<typeof loginSettings> & { siteUrl?: string | undefined; basePath: string };

/** The login that readers need. */
export type Login =
  | { kind: 'none' }
  | { kind: 'basic'; users: ReadonlyMap<string, string>; base: string; isSecure: boolean; sessionHours: number }
  | ({ kind: 'oidc' } & OidcLogin);

export type OidcLogin = ProviderSettings & {
  groups: readonly string[];
  emailDomains: readonly string[];
  sessionSecret: string;
  sessionHours: number;
  /** Origin of the site for readers; the path is `base`. */
  origin: string;
  base: string;
};

/** Throws `ConfigError` if the settings contradict each other. Pure. */
export function loginOf(config: LoginConfig): Login {
  const { login, loginUsers, oidcIssuer, oidcClientId, sessionSecret, siteUrl, basePath } = config;
  if (login === undefined) {
    refuseOpenSite(config);
    return { kind: 'none' };
  }
  if (login === 'none') return { kind: 'none' };
  if (login === 'basic') {
    if (loginUsers === undefined || loginUsers.size === 0)
      throw new ConfigError('BINDERY_LOGIN is "basic", so BINDERY_LOGIN_USERS must have a name:password.');
    const isSecure = siteUrl?.startsWith('https:') === true;
    return { kind: 'basic', users: loginUsers, base: basePath, isSecure, sessionHours: config.sessionHours };
  }
  const need = { BINDERY_OIDC_ISSUER: oidcIssuer, BINDERY_OIDC_CLIENT_ID: oidcClientId };
  const all = { ...need, BINDERY_LOGIN_SESSION_SECRET: sessionSecret, BINDERY_SITE_URL: siteUrl };
  const missing = Object.entries(all).flatMap(([name, value]) => (value === undefined ? name : []));
  if (oidcIssuer === undefined || oidcClientId === undefined || sessionSecret === undefined || siteUrl === undefined)
    throw new ConfigError(`BINDERY_LOGIN is "oidc", which also needs ${missing.join(', ')}.`);
  return {
    kind: 'oidc',
    ...providerOf(config, oidcIssuer, oidcClientId),
    groups: config.allowedGroups,
    emailDomains: config.allowedEmailDomains,
    sessionSecret,
    sessionHours: config.sessionHours,
    origin: new URL(siteUrl).origin,
    base: basePath,
  };
}

/** The logins of a host of many sites. Each site has its own rules about readers. */
export type SitesLogins = {
  /** Provider for sites whose readers log in with an account; undefined if there is none. */
  provider: { settings: ProviderSettings; base: SitesBase } | undefined;
  /** Secret that encrypts sessions, the same for all replicas. */
  sessionSecret: string;
  sessionHours: number;
};

/** Throws `ConfigError` if the settings of the provider are incomplete. Pure. */
export function sitesLoginsOf(config: LoginConfig & { sitesKey?: string | undefined }): SitesLogins {
  const { oidcIssuer, oidcClientId, oidcClientSecret, sessionSecret, sessionHours, sitesBase, sitesKey = '' } = config;
  // Without a provider the key of the host is a secret that all replicas share.
  const logins = { sessionSecret: sessionSecret ?? sitesKey, sessionHours };
  if (oidcIssuer === undefined && oidcClientId === undefined && oidcClientSecret === undefined)
    return { ...logins, provider: undefined };
  const need = { BINDERY_OIDC_ISSUER: oidcIssuer, BINDERY_OIDC_CLIENT_ID: oidcClientId };
  const all = { ...need, BINDERY_LOGIN_SESSION_SECRET: sessionSecret, BINDERY_SITES_BASE: sitesBase };
  const missing = Object.entries(all).flatMap(([name, value]) => (value === undefined ? name : []));
  if (oidcIssuer === undefined || oidcClientId === undefined || sitesBase === undefined || missing.length > 0)
    throw new ConfigError(`A provider for the logins of sites also needs ${missing.join(', ')}.`);
  const settings = providerOf(config, oidcIssuer, oidcClientId);
  return { ...logins, provider: { settings, base: sitesBaseOf(sitesBase) } };
}

/** Refuses settings of a login that is not turned on, because the site would be open to everybody. Throws `ConfigError`. */
function refuseOpenSite({ loginUsers, oidcIssuer, allowedGroups, allowedEmailDomains }: LoginConfig): void {
  const given = {
    BINDERY_LOGIN_USERS: loginUsers !== undefined,
    BINDERY_OIDC_ISSUER: oidcIssuer !== undefined,
    BINDERY_LOGIN_GROUPS: allowedGroups.length > 0,
    BINDERY_LOGIN_EMAIL_DOMAINS: allowedEmailDomains.length > 0,
  };
  for (const [name, isGiven] of Object.entries(given)) {
    if (isGiven)
      throw new ConfigError(
        `${name} is set, but BINDERY_LOGIN is not, so everybody could read. Set BINDERY_LOGIN to "basic" or "oidc", or to "none" for an open site.`,
      );
  }
}
