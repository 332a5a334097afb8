import { z } from 'zod';
import { organizationId } from '#shared/contracts/identifiers.ts';
import { redisSettings } from '#shared/http/redis-settings.ts';
import { personRoles } from '#shared/interfaces/http/person-token.ts';
import { type ProviderSettings, providerOf, providerSettings } from '#shared/login/provider-settings.ts';
import { ConfigError, type ConfigOf, portNumber, secretSetting, setting, wholeNumber } from '#shared/runtime/config.ts';
import { commaSeparated, dataFolderSettings, trustProxySettings } from '#shared/service/common-settings.ts';

const isWebAddress = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? '');

const webAddress = (example: string) => z.string().refine(isWebAddress, `must be an address such as ${example}`);

const longSecret = z.string().min(32, 'must have 32 characters or more');

const grantSchema = z.union([
  z.object({ role: z.literal('operator'), organization: z.undefined() }),
  z.object({ role: z.enum(personRoles).exclude(['operator']), organization: organizationId }),
]);

/** The rights that members of a group have: a role in one organization, or the operator of the installation. */
export type Grant = z.infer<typeof grantSchema> & { group: string };

/** `docs-team=acme:editor, platform=operator` */
const grantList = commaSeparated.transform((parts, context) =>
  parts.flatMap((part): Grant[] => {
    const at = part.lastIndexOf('=');
    const [organization, role] = part.slice(at + 1).split(':');
    const grant = grantSchema.safeParse(
      role === undefined ? { role: organization, organization: undefined } : { role, organization },
    );
    if (at > 0 && grant.success) return [{ group: part.slice(0, at), ...grant.data }];
    context.addIssue({
      code: 'custom',
      message: `"${part}" must be <group>=<organization>:<role> with the role viewer, editor or admin, or <group>=operator`,
    });
    return [];
  }),
);

export const consoleSettings = {
  ...dataFolderSettings,
  platformUrl: setting(
    'BINDERY_PLATFORM_URL',
    webAddress('https://bindery.example.com').default('http://127.0.0.1:8080'),
    'address of the gateway, whose interface the console calls',
  ),
  host: setting('BINDERY_HOST', z.string().default('127.0.0.1'), 'address that the console listens on'),
  port: setting('BINDERY_CONSOLE_PORT', portNumber.default(8070), 'port of the console; 0: a free one'),
  healthPort: setting(
    'BINDERY_CONSOLE_HEALTH_PORT',
    portNumber.optional(),
    'port of the health and metrics of the console; default: that of the console',
  ),
  consoleUrl: setting(
    'BINDERY_CONSOLE_URL',
    webAddress('https://console.example.com')
      .refine((text) => new URL(text).pathname === '/', 'must be a host of its own without a path')
      .optional(),
    'address under which people reach the console; the page at "/" of the gateway links to it, and with https:// the cookies of the console are sent over TLS only',
  ),
  ...trustProxySettings,
  sessionSecret: secretSetting(
    'BINDERY_CONSOLE_SECRET',
    longSecret,
    'secret that encrypts the sessions of the console, the same for all copies; 32 characters or more',
  ),
  sessionHours: setting(
    'BINDERY_CONSOLE_SESSION_HOURS',
    wholeNumber(1, 720).default(12),
    'duration of a sign-in, in hours',
  ),
  personTokenKey: secretSetting(
    'BINDERY_PERSON_TOKEN_KEY',
    longSecret.optional(),
    'secret that the console shares with the gateway; with it people act under their own name: those with an account (OIDC), and operators',
  ),
  ...providerSettings,
  grants: setting(
    'BINDERY_CONSOLE_GRANTS',
    grantList,
    'rights of groups of accounts, comma-separated: <group>=<organization>:<role> with the role viewer, editor or admin, or <group>=operator',
  ),
  ...redisSettings,
};

export type ConsoleConfig = ConfigOf<typeof consoleSettings>;

/** How people sign in with an account; undefined if they cannot. Throws `ConfigError` if the settings are incomplete. Pure. */
export function accountsOf(
  config: ConsoleConfig,
): { provider: ProviderSettings; grants: readonly Grant[]; origin: string } | undefined {
  const { oidcIssuer, oidcClientId, oidcClientSecret, consoleUrl, personTokenKey, grants } = config;
  if (oidcIssuer === undefined && oidcClientId === undefined && oidcClientSecret === undefined) return undefined;
  const needed = {
    BINDERY_OIDC_ISSUER: oidcIssuer,
    BINDERY_OIDC_CLIENT_ID: oidcClientId,
    BINDERY_CONSOLE_URL: consoleUrl,
    BINDERY_PERSON_TOKEN_KEY: personTokenKey,
    BINDERY_CONSOLE_GRANTS: grants.length === 0 ? undefined : grants,
  };
  const missing = Object.entries(needed).flatMap(([name, value]) => (value === undefined ? name : []));
  if (oidcIssuer === undefined || oidcClientId === undefined || consoleUrl === undefined || missing.length > 0)
    throw new ConfigError(`Accounts at the console also need ${missing.join(', ')}.`);
  return { provider: providerOf(config, oidcIssuer, oidcClientId), grants, origin: new URL(consoleUrl).origin };
}
