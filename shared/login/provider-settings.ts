import { z } from 'zod';
import { ConfigError, type ConfigOf, secretSetting, setting } from '#shared/runtime/config.ts';

/** Settings of an OpenID Connect provider, and of the client that it knows. */
export const providerSettings = {
  oidcIssuer: setting(
    'BINDERY_OIDC_ISSUER',
    z.string().refine(isIssuer, 'must be an address such as https://login.example.com').optional(),
    'with the login "oidc", or for logins of sites: the issuer of the provider, below which /.well-known/openid-configuration is',
  ),
  oidcClientId: setting(
    'BINDERY_OIDC_CLIENT_ID',
    z.string().min(1).optional(),
    'client id of the site at the provider',
  ),
  oidcClientSecret: secretSetting(
    'BINDERY_OIDC_CLIENT_SECRET',
    z.string().min(1).optional(),
    'secret of that client; without one it is a public client',
  ),
  oidcClientAuth: setting(
    'BINDERY_OIDC_CLIENT_AUTH',
    z.enum(['basic', 'post']).default('basic'),
    'authentication method of the client: basic (client_secret_basic) or post (client_secret_post)',
  ),
  oidcScopes: setting(
    'BINDERY_OIDC_SCOPES',
    z.string().default('openid email profile'),
    'scopes that are requested from the provider, including "openid"',
  ),
  oidcGroupsClaim: setting(
    'BINDERY_OIDC_GROUPS_CLAIM',
    z.string().min(1).default('groups'),
    'claim that lists the groups of a reader',
  ),
};

/** An OpenID Connect provider, and the client that it knows. */
export type ProviderSettings = {
  issuer: URL;
  clientId: string;
  clientSecret: string | undefined;
  clientAuth: 'basic' | 'post';
  scopes: string;
  groupsClaim: string;
};

/** The provider of a configuration. Throws `ConfigError` without the scope `openid`. Pure. */
export function providerOf(
  config: ConfigOf<typeof providerSettings>,
  issuer: string,
  clientId: string,
): ProviderSettings {
  if (!config.oidcScopes.split(' ').includes('openid'))
    throw new ConfigError('BINDERY_OIDC_SCOPES must include "openid".');
  return {
    issuer: new URL(issuer),
    clientId,
    clientSecret: config.oidcClientSecret,
    clientAuth: config.oidcClientAuth,
    scopes: config.oidcScopes,
    groupsClaim: config.oidcGroupsClaim,
  };
}

/** An issuer without TLS is allowed on this machine only: on a network anybody in between could pose as the provider. */
function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (url === null) return false;
  return (
    url.protocol === 'https:' || (url.protocol === 'http:' && /^(127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname))
  );
}
