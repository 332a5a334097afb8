import { closeSite, deployAgain, openSite, openState, rollBack } from '#shared/aggregates/site/decide.ts';
import { siteAggregate, type SiteEvent, type SiteState, siteName } from '#shared/aggregates/site/site.ts';
import { storedHash, type WantedLogin } from '#shared/aggregates/site/site-login.ts';
import { loginName, type OpenSiteBody } from '#shared/interfaces/http/sites.ts';
import type { SitesBase } from '#shared/interfaces/http/sites-base.ts';
import { type SiteDeploymentsDocument, siteKey } from '#shared/interfaces/read-models.ts';
import { ApiError } from '#shared/http/errors.ts';
import { hashOfPassword, isPassword } from '#shared/http/password-hash.ts';
import { handleCommand } from '#shared/messaging/log/handle-command.ts';
import { siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { crashPoint } from '#shared/runtime/crash-point.ts';
import { takeTurns } from '#shared/runtime/take-turns.ts';
import { askBus, askedLog, waitForRevision } from '../ask-bus.ts';
import { commandOrigin, type RequestOrigin } from '../audit/request-behind.ts';
import type { Principal } from '../auth/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { checkAssistantKey } from '../exports/export-commands.ts';
import { hostsOf, hostUnder } from './site-addresses.ts';
import { claimHosts, confirmHosts, dropHosts, releaseHosts } from './site-hosts.ts';

type SiteRequest = { principal: Principal; domain: string; origin: RequestOrigin; base: SitesBase };

/**
 * Opens a site, or changes its settings. Throws `invalid_request` for a wrong name, host, key or login, and `in_use` for a host name of another site.
 */
export async function openSiteOf(
  context: GatewayContext,
  request: SiteRequest,
  body: OpenSiteBody,
): Promise<SiteState> {
  const { principal, domain, base } = request;
  const { organization, organizationPlan } = principal;
  const name = nameOf(body, domain);
  const hosts = [...new Set(body.hosts)];
  checkHosts({ name, hosts }, base, context.config.publicUrl);
  const { assistantKey, previews, assistant = assistantKey === undefined, counts } = body;
  if (assistantKey !== undefined) await checkAssistantKey(context, organization, assistantKey);
  const login = await wantedLogin(context, request, body.login);
  const claimant = { organization, domain };
  const wanted = [hostUnder(base, { name }), ...hosts];
  const claimed = await claimHosts(context, claimant, wanted);
  crashPoint('after-host-claims', 'gateway');
  const settings = {
    ...{ name, hosts, previews, organizationPlan, assistant, counts },
    ...(assistantKey === undefined ? {} : { assistantKey }),
    ...(login === undefined ? {} : { login }),
  };
  let before: SiteState | undefined;
  let state: SiteState;
  try {
    state = await command(context, request, (stored) => {
      before = stored;
      return openSite(stored, claimant, settings);
    });
  } catch (error) {
    // After other errors the site may have been opened.
    if (error instanceof ApiError && error.code !== 'unavailable') await dropHosts(context, claimant, claimed);
    throw error;
  }
  await confirmHosts(context, claimant, wanted);
  const former = before === undefined ? [] : hostsOf(base, before);
  await releaseHosts(
    context,
    claimant,
    former.filter((host) => !wanted.includes(host)),
  );
  return state;
}

/** Closes a site and releases its host names. Throws `not_found`. */
export async function closeSiteOf(context: GatewayContext, request: SiteRequest): Promise<void> {
  const { organization } = request.principal;
  const site = { organization, domain: request.domain };
  const state = await command(context, request, (stored) => closeSite(stored, site));
  await releaseHosts(context, site, hostsOf(request.base, state));
}

/** Rolls the live site back to an earlier deployment. Throws `not_found`. */
export async function rollBackTo(context: GatewayContext, request: SiteRequest, number: number): Promise<SiteState> {
  const site = { organization: request.principal.organization, domain: request.domain };
  return await command(context, request, (stored) => rollBack(stored, site, number));
}

/** Deploys the live site's content again. Throws `not_found` and `in_use`. */
export async function deployOnce(context: GatewayContext, request: SiteRequest): Promise<SiteState> {
  const site = { organization: request.principal.organization, domain: request.domain };
  return await command(context, request, (stored) => deployAgain(stored, site));
}

/** The state of a domain's site from its log. Throws `not_found` if there is none, or it is closed. */
export async function siteStateOf({ bus }: GatewayContext, organization: string, domain: string): Promise<SiteState> {
  const last = await askBus(bus.sites.last(siteLogSubject(organization, domain), { fromLeader: true }));
  return openState(last?.commit.data.state, { organization, domain });
}

/** The deployments of a site in the read model, which also has ended ones that its state has dropped. */
export async function listedDeployments(
  { bus }: Pick<GatewayContext, 'bus'>,
  organization: string,
  domain: string,
): Promise<SiteDeploymentsDocument['deployments']> {
  const stored = await askBus(bus.readModels.siteDeployments.get(siteKey(organization, domain)));
  return stored?.document.deployments ?? [];
}

async function command(
  context: GatewayContext,
  { principal: { organization }, domain, origin }: SiteRequest,
  decide: (state: SiteState | undefined) => SiteEvent[],
): Promise<SiteState> {
  const { bus, clock, random, config } = context;
  const { events, stored } = await handleCommand({ log: askedLog(bus.sites), clock, random }, siteAggregate, {
    subject: siteLogSubject(organization, domain),
    decide,
    origin: commandOrigin(config, organization, origin),
  });
  if (stored === undefined) throw new Error(`the command about the site of ${domain} was not appended`);
  if (events.length > 0) crashPoint('after-site-command', 'gateway');
  const key = siteKey(organization, domain);
  await waitForRevision(bus.readModels.sites, key, stored.commit.revision);
  return stored.commit.data.state;
}

/** One password is hashed at a time, because each takes a core for a moment. Organizations take turns. */
const hashInTurn = takeTurns(1);

/** The login of a body, with hashes instead of passwords. A password that is the stored one keeps its hash, so that sessions continue. */
async function wantedLogin(
  { bus }: GatewayContext,
  { principal: { organization }, domain }: SiteRequest,
  login: OpenSiteBody['login'],
): Promise<WantedLogin | undefined> {
  if (login?.kind !== 'password') return login;
  const stored = await askBus(bus.sites.last(siteLogSubject(organization, domain), { fromLeader: true }));
  const hashOf = async (name: string, password: string): Promise<string> => {
    const before = storedHash(stored?.commit.data.state.login, name);
    return before !== undefined && (await isPassword(password, before)) ? before : await hashOfPassword(password);
  };
  const users: { name: string; hash?: string }[] = [];
  for (const { name, password } of login.users) {
    if (password === undefined) users.push({ name });
    else users.push({ name, hash: await hashInTurn(organization, () => hashOf(name, password)) });
  }
  return { ...login, users };
}

function nameOf({ name }: OpenSiteBody, domain: string): string {
  if (name !== undefined) return name;
  if (siteName.safeParse(domain).success) return domain;
  const message = `the domain "${domain}" cannot be the name of a site, because of its dashes: choose a name`;
  throw new ApiError('invalid_request', `The field "name" is missing: ${message}.`, {
    fields: [{ path: 'name', message }],
  });
}

/**
 * Names below the base belong to the names of sites, so nobody can take those of others as hosts of their own. The name of the platform itself belongs to
 * no site: its site would receive the keys of clients.
 */
function checkHosts({ name, hosts }: { name: string; hosts: readonly string[] }, base: SitesBase, publicUrl: string) {
  const platform = new URL(publicUrl).hostname;
  const ofPlatform = (host: string) => `"${host}" is the host name of the platform`;
  const fields = hosts.flatMap((host, index) => {
    const path = `hosts.${index}`;
    if (host === platform) return [{ path, message: ofPlatform(host) }];
    return host === base.host || host.endsWith(`.${base.host}`)
      ? [{ path, message: `"${host}" is below ${base.host}: use the field "name" for it` }]
      : [];
  });
  const under = hostUnder(base, { name });
  if (under === platform) fields.unshift({ path: 'name', message: ofPlatform(under) });
  if (name === loginName)
    fields.unshift({ path: 'name', message: `"${name}" is where readers of all sites log in: choose another name` });
  const [first] = fields;
  if (first !== undefined)
    throw new ApiError('invalid_request', `The field "${first.path}" is wrong: ${first.message}.`, { fields });
}
