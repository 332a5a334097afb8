import { z } from 'zod';
import { type OrganizationPlan, organizationPlans } from '#shared/contracts/identifiers.ts';
import {
  busSettings,
  callTokenSetting,
  commaSeparated,
  hashKeySettings,
  internalServerSettings,
  optionalCallTokenSetting,
  trustProxySettings,
} from '#shared/service/common-settings.ts';
import { linkSigningSettings, objectStoreSettings } from '#shared/storage/open-object-store.ts';
import { isSiteKey } from '#shared/http/api-key.ts';
import { sitesBaseOf, sitesBaseText } from '#shared/interfaces/http/sites-base.ts';
import { redisSettings } from '#shared/http/redis-settings.ts';
import { type ConfigOf, portNumber, secretSetting, setting, wholeNumber } from '#shared/runtime/config.ts';

type PlanLimit = Readonly<Record<OrganizationPlan, number>>;

/** A limit as text: `60`, or by plan `pro=60,enterprise=600`; plans that are not named get the default. */
const planLimit = (byDefault: number) =>
  z
    .string()
    .default(String(byDefault))
    .transform((text, context): PlanLimit => {
      const limits = Object.fromEntries(organizationPlans.map((plan) => [plan, byDefault])) as Record<
        OrganizationPlan,
        number
      >;
      for (const part of text.split(',').map((piece) => piece.trim())) {
        const match = /^(?:(free|pro|enterprise)=)?([0-9]{1,9})$/.exec(part);
        if (match === null) {
          context.addIssue({ code: 'custom', message: `"${part}" is neither a number nor <plan>=<number>` });
          return z.NEVER;
        }
        const [, plan, number] = match;
        for (const each of plan === undefined ? organizationPlans : [plan as OrganizationPlan])
          limits[each] = Number(number);
      }
      return limits;
    });

const serviceUrl = (service: string) => z.url(`must be the address of the ${service}, such as http://127.0.0.1:9000`);

const limit = (variable: string, requests: number, description: string) =>
  setting(variable, planLimit(requests), `${description}; a number, or by plan as in "pro=60,enterprise=600"`);

const { host: insideHost, port: insidePort } = internalServerSettings('gateway');

export const gatewaySettings = {
  ...busSettings('gateway'),
  ...hashKeySettings,
  ...objectStoreSettings,
  ...linkSigningSettings,
  ...redisSettings,
  publisherToken: callTokenSetting('gateway', 'publisher'),
  linkSignerToken: callTokenSetting('gateway', 'link-signer'),
  assistantToken: callTokenSetting('gateway', 'assistant'),
  projectorToken: optionalCallTokenSetting('gateway', 'projector'),
  orchestratorToken: optionalCallTokenSetting('gateway', 'orchestrator'),
  housekeeperToken: optionalCallTokenSetting('gateway', 'housekeeper'),
  host: setting('BINDERY_HOST', z.string().default('127.0.0.1'), 'address that the gateway listens on'),
  port: setting('BINDERY_PORT', portNumber.default(8080), 'port that the gateway listens on; 0: a free one'),
  /** Address and port of health and metrics, which are not for clients. */
  insideHost,
  insidePort,
  ...trustProxySettings,
  publicSites: setting(
    'BINDERY_PUBLIC_SITES',
    commaSeparated.refine(
      (sites) => sites.every((site) => /^https?:$/.test(URL.parse(site)?.protocol ?? '')),
      'must be addresses such as https://docs.acme.com, comma-separated',
    ),
    'addresses of published sites that anybody may see, comma-separated; the page at "/" links to them',
  ),
  playgroundOrigins: setting(
    'BINDERY_PLAYGROUND_ORIGINS',
    commaSeparated.refine(
      (origins) => origins.every((origin) => /^https?:/.test(origin) && URL.parse(origin)?.origin === origin),
      'must be origins such as https://docs.acme.com, comma-separated',
    ),
    'origins of documentation sites whose pages may send requests to every route from a browser, comma-separated; for the playground of API pages about this interface',
  ),
  sitesBase: setting(
    'BINDERY_SITES_BASE',
    sitesBaseText.default('localhost:8090').transform(sitesBaseOf),
    'host name under which sites are served, as <site>.<base>; with https:// if a proxy with TLS is in front of the docs-host',
  ),
  consoleUrl: setting(
    'BINDERY_CONSOLE_URL',
    z
      .string()
      .refine(
        (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
        'must be an address such as https://console.example.com',
      )
      .optional(),
    'address under which people reach the console; the page at "/" of the gateway links to it, and with https:// the cookies of the console are sent over TLS only',
  ),
  siteKeys: secretSetting(
    'BINDERY_SITES_KEYS',
    commaSeparated.refine((keys) => keys.every(isSiteKey), 'must be keys of sites ("svc_site_…")'),
    'keys with which hosts of sites follow the sites of this installation, comma-separated; two while one is replaced',
  ),
  connectionsPerAddress: setting(
    'BINDERY_LIMIT_CONNECTIONS_PER_ADDRESS',
    wholeNumber(1, 1_000_000).default(1_000),
    'limit of connections of an IP address (IPv6: a /64); behind a trusted proxy: of concurrent requests of one client',
  ),
  stalledAfterSeconds: setting(
    'BINDERY_STALLED_AFTER_SECONDS',
    wholeNumber(1, 3_600).default(60),
    'idle timeout of a connection, in seconds; it does not apply while the request is being handled',
  ),
  bodyWithinSeconds: setting(
    'BINDERY_BODY_WITHIN_SECONDS',
    wholeNumber(1, 3_600).default(10),
    'time limit for sending the body of a request, in seconds; an upload has none while it makes progress',
  ),
  lingerSeconds: setting(
    'BINDERY_LINGER_SECONDS',
    wholeNumber(0, 60).default(0),
    'drain time at shutdown, in seconds: the gateway still answers, and closes connections after their next answer; at least the time after which a load balancer in front sends it no more requests',
  ),
  operatorToken: secretSetting(
    'BINDERY_OPERATOR_TOKEN',
    z.string().min(16),
    'token of the operator, for organizations and domains; 16 characters or more',
  ),
  personTokenKey: secretSetting(
    'BINDERY_PERSON_TOKEN_KEY',
    z.string().min(32, 'must have 32 characters or more').optional(),
    'secret that the gateway shares with the console, which signs the requests of people with it; 32 characters or more; without it people cannot act here',
  ),
  publisherUrl: setting('BINDERY_PUBLISHER_URL', serviceUrl('publisher'), 'address of the publisher'),
  linkSignerUrl: setting('BINDERY_LINK_SIGNER_URL', serviceUrl('link-signer'), 'address of the link-signer'),
  assistantUrl: setting('BINDERY_ASSISTANT_URL', serviceUrl('assistant'), 'address of the assistant'),
  projectorUrl: setting(
    'BINDERY_PROJECTOR_URL',
    serviceUrl('projector').optional(),
    'address of the projector, which the gateway asks to verify logs',
  ),
  orchestratorUrl: setting(
    'BINDERY_ORCHESTRATOR_URL',
    serviceUrl('orchestrator').optional(),
    'address of the orchestrator, which the gateway asks about queues and workers for the operator',
  ),
  housekeeperUrl: setting(
    'BINDERY_HOUSEKEEPER_URL',
    serviceUrl('housekeeper').optional(),
    'address of the housekeeper, which the gateway asks about dead letters and removable objects for the operator',
  ),
  assistantPerHour: limit('BINDERY_LIMIT_ASSISTANT_PER_HOUR', 10_000, 'assistant requests of an organization per hour'),
  assistantPerAddressPerDay: setting(
    'BINDERY_LIMIT_ASSISTANT_PER_ADDRESS_PER_DAY',
    wholeNumber(1, 1_000_000_000).default(10_000),
    'assistant requests of an IP address (IPv6: of a /64) per day',
  ),
  tokensPerDay: limit(
    'BINDERY_LIMIT_TOKENS_PER_DAY',
    0,
    "limit of model tokens for the answers to an organization's questions per day (UTC); 0: no limit",
  ),
  startsPerHour: limit('BINDERY_LIMIT_STARTS_PER_HOUR', 60, 'exports that an organization may start per hour'),
  publicationsPerHour: limit('BINDERY_LIMIT_PUBLICATIONS_PER_HOUR', 60, 'publications of an organization per hour'),
  linksPerHour: limit('BINDERY_LIMIT_LINKS_PER_HOUR', 600, 'bundle links of an organization per hour'),
  changesPerHour: limit(
    'BINDERY_LIMIT_CHANGES_PER_HOUR',
    600,
    'other changes of an organization per hour: cancelled exports, promoted and deleted contents, removed labels; also keys that one key may revoke',
  ),
  operatorPerHour: setting(
    'BINDERY_LIMIT_OPERATOR_PER_HOUR',
    wholeNumber(1, 1_000_000_000).default(6_000),
    'changes of organizations and domains by the operator per hour',
  ),
  keysPerHour: limit('BINDERY_LIMIT_KEYS_PER_HOUR', 10, 'new API keys of an organization per hour'),
  activeJobs: limit('BINDERY_LIMIT_ACTIVE_JOBS', 20, 'exports of an organization that may be active at once'),
};

export type GatewayConfig = ConfigOf<typeof gatewaySettings>;
