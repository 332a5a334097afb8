import { Readable } from 'node:stream';
import { z } from 'zod';
import { liveDeployments, rollbackTargets, type SiteState } from '#shared/aggregates/site/site.ts';
import { siteLinkSchema } from '#shared/interfaces/http/exports.ts';
import {
  checksLoginsHeader,
  deploymentListSchema,
  deploymentViewSchema,
  goneSiteSchema,
  namesLoginsHeader,
  openSiteBodySchema,
  servedSiteSchema,
  siteHostSchema,
  siteLinkBodySchema,
  type SitesFeedEvent,
  siteViewSchema,
  wholeSitesSchema,
} from '#shared/interfaces/http/sites.ts';
import { loginHostOf, originOf } from '#shared/interfaces/http/sites-base.ts';
import { contentLabel, domainName, domainSlug, organizationId } from '#shared/contracts/identifiers.ts';
import { linkSigner } from '#shared/interfaces/internal/link-signer.ts';
import { disconnectSignal } from '#shared/http/client-connection.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { DomainEntry } from '#shared/aggregates/directory/directory.ts';
import type { ContentState } from '#shared/aggregates/content/content.ts';
import { contentsKey } from '#shared/interfaces/read-models.ts';
import { askBus } from '../ask-bus.ts';
import type { RequestOrigin } from '../audit/request-behind.ts';
import type { Principal } from '../auth/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { accepts } from '../parse-input.ts';
import { publicRoute } from '../public-route.ts';
import { changes, perHour } from '../rate-limits.ts';
import { deploymentList, deploymentView, siteView } from './site-addresses.ts';
import { deploymentEvents } from './deployment-events.ts';
import { closeSiteOf, deployOnce, listedDeployments, openSiteOf, rollBackTo, siteStateOf } from './site-commands.ts';

const site = '/v1/domains/:domain/site';
const deployments = '/v1/domains/:domain/deployments';
const params = z.object({ domain: domainName });

/** Sites of domains: opening, deployments, rollback, and what hosts of sites ask. */
export const siteRoutes = [
  publicRoute(
    {
      id: 'getSite',
      method: 'GET',
      path: site,
      summary: 'Returns the site of a domain: its address, settings, and the deployment that readers see.',
      key: 'admin',
      params,
      answer: siteViewSchema,
    },
    async (context, { principal: { organization }, domain: { slug } }) =>
      siteView(context.sitesBase, await siteStateOf(context, organization, slug)),
  ),
  publicRoute(
    {
      id: 'openSite',
      method: 'PUT',
      path: site,
      summary:
        'Opens the site of a domain, or changes its settings. Its latest content is deployed at once, and so is every later publication.',
      key: 'admin',
      params,
      body: openSiteBodySchema,
      limits: [changes],
      answer: siteViewSchema,
      errors: ['in_use'],
    },
    async (context, { principal, domain, body, origin }) =>
      siteView(context.sitesBase, await openSiteOf(context, requestOf(context, principal, domain, origin), body)),
  ),
  publicRoute(
    {
      id: 'listDeployments',
      method: 'GET',
      path: deployments,
      summary: 'Lists the deployments of a site and its previews, newest first: at least the last 50.',
      key: 'admin',
      params,
      answer: deploymentListSchema,
      alsoAs: {
        'text/event-stream': {
          description:
            'First an event "deployments" with all of them, then "deployment" for each one that is new or changed, until the site is closed; a comment every 15 s.',
          item: z.union([deploymentListSchema, deploymentViewSchema]),
        },
      },
    },
    async (context, { principal: { organization }, domain: { slug }, request, reply }) => {
      const state = await siteStateOf(context, organization, slug);
      if (!accepts(request, 'text/event-stream'))
        return withSources(
          deploymentList(context.sitesBase, state, await listedDeployments(context, organization, slug)),
          await askBus(context.bus.readModels.directoryContents.get(contentsKey(organization, slug))),
        );
      const signal = AbortSignal.any([disconnectSignal(reply.raw), context.stopping]);
      // The answer to HEAD has no body, so its client never disconnects from the stream.
      const events = request.method === 'HEAD' ? [] : deploymentEvents(context, state, signal);
      return reply
        .headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
        .send(Readable.from(events));
    },
  ),
  publicRoute(
    {
      id: 'deploy',
      method: 'POST',
      path: deployments,
      summary: 'Deploys the latest content of a site again, such as after a failed deployment or an upgrade.',
      key: 'admin',
      params,
      limits: [changes],
      status: 202,
      answer: deploymentViewSchema,
      errors: ['in_use'],
    },
    async (context, { principal, domain, origin }) =>
      newestOf(context, await deployOnce(context, requestOf(context, principal, domain, origin))),
  ),
  publicRoute(
    {
      id: 'rollBack',
      method: 'POST',
      path: `${deployments}/:deployment/rollback`,
      summary: 'Rolls the live site back to an earlier deployment. Later publications are deployed as before.',
      key: 'admin',
      params: params.extend({ deployment: z.coerce.number().int().min(1).meta({ title: 'deployment' }) }),
      limits: [changes],
      status: 202,
      answer: deploymentViewSchema,
    },
    async (context, { principal, domain, params, origin }) => {
      const state = await rollBackTo(context, requestOf(context, principal, domain, origin), params.deployment);
      return newestOf(context, state);
    },
  ),
  publicRoute(
    {
      id: 'closeSite',
      method: 'DELETE',
      path: site,
      summary: 'Closes the site of a domain with its previews. Its host names are free for others after an hour.',
      key: 'admin',
      params,
      limits: [changes],
      status: 204,
    },
    async (context, { principal, domain, origin }) =>
      closeSiteOf(context, requestOf(context, principal, domain, origin)),
  ),
  publicRoute(
    {
      id: 'followSites',
      method: 'GET',
      path: '/v1/sites/feed',
      summary: 'Streams the live sites and previews of the installation to a host of sites, and every change.',
      key: 'site',
      headers: z.object({
        /** `1`: the host checks logins of sites. Without it the feed names no site with a login. */
        [checksLoginsHeader]: z.string().optional(),
      }),
      alsoAs: {
        'text/event-stream': {
          description:
            'First an event "site" for each live site and preview, then "whole"; after it "site" and "gone" as sites change, and a comment every 15 s.',
          item: z.union([servedSiteSchema, goneSiteSchema, wholeSitesSchema]),
        },
      },
    },
    async (context, { request, reply, headers }) => {
      const checksLogins = headers[checksLoginsHeader] === '1';
      const signal = AbortSignal.any([disconnectSignal(reply.raw), context.stopping]);
      const events = request.method === 'HEAD' ? [] : eventStream(context, checksLogins, signal);
      return reply
        .headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
        .header(namesLoginsHeader, '1')
        .send(Readable.from(events));
    },
  ),
  publicRoute(
    {
      id: 'signSiteLink',
      method: 'POST',
      path: '/v1/sites/links',
      summary:
        'Signs a link to the bundle of a deployment that is live or that a rollback can reach, and one to the list of its pieces.',
      key: 'site',
      body: siteLinkBodySchema,
      limits: [perHour('site-links', 100_000)],
      answer: siteLinkSchema,
      errors: linkSigner.signLink.errors,
    },
    async (context, { body, origin, request, askAs }) => {
      const { organization, domain, label } = namedSite(body.site);
      const state = await siteStateOf(context, organization, domain);
      const offered = [...liveDeployments(state), ...rollbackTargets(state.deployments)];
      if (!offered.some((each) => each.jobId === body.jobId && each.label === label))
        throw new ApiError('not_found', `The export ${body.jobId} is not a live deployment of "${body.site}".`);
      const caller = {
        ...{ requestId: request.id, organization, organizationPlan: state.organizationPlan, domain },
        ...{ groupTrust: 'claimed' as const, trustedGroups: [], actor: origin.actor },
        ...{ address: request.ip, traceparent: origin.traceparent ?? '' },
      };
      const answer = await askAs(caller, linkSigner.signLink, { body: { jobId: body.jobId, withPieces: true } });
      return await answer.json();
    },
  ),
  publicRoute(
    {
      id: 'findSiteHost',
      method: 'GET',
      path: '/v1/sites/hosts/:host',
      summary: 'Tells a proxy if a host name belongs to a live site or preview, before it gets a certificate for it.',
      key: 'none',
      params: z.object({ host: z.string().max(253).meta({ title: 'host name' }) }),
      answer: siteHostSchema,
    },
    async (context, { params: { host } }) => hostOf(context, host),
  ),
  publicRoute(
    {
      id: 'askSiteHost',
      method: 'GET',
      path: '/v1/sites/hosts',
      summary: 'The same for the host name in the query parameter "domain", as Caddy sends it.',
      key: 'none',
      query: z.object({ domain: z.string().max(253) }),
      answer: siteHostSchema,
      errors: ['not_found'],
    },
    async (context, { query: { domain } }) => hostOf(context, domain),
  ),
];

const requestOf = (context: GatewayContext, principal: Principal, domain: DomainEntry, origin: RequestOrigin) => ({
  principal,
  domain: domain.slug,
  origin,
  base: context.sitesBase,
});

function newestOf({ sitesBase }: GatewayContext, state: SiteState) {
  const newest = state.deployments.at(-1);
  if (newest === undefined) throw new ApiError('not_found', `The site of "${state.domain}" has no deployment yet.`);
  return deploymentView(sitesBase, state, newest);
}

async function hostOf(context: GatewayContext, host: string) {
  const name = host.toLowerCase().replace(/\.$/, '');
  // Readers return to the host name of logins from a provider, so it needs a certificate as sites do.
  if (name === loginHostOf(context.sitesBase))
    return { host: host.toLowerCase(), address: originOf(context.sitesBase, name) };
  const found = await context.sitesFeed.siteOfHost(name);
  if (found === undefined) throw new ApiError('not_found', 'No site of this installation has that host name.');
  return { host: host.toLowerCase(), address: found.address };
}

const siteParts = z.tuple([organizationId, domainSlug], contentLabel);

function namedSite(site: string): { organization: string; domain: string; label: string | undefined } {
  const parsed = siteParts.safeParse(site.split('/'));
  if (!parsed.success || parsed.data.length > 3) throw new ApiError('not_found', `There is no site "${site}".`);
  const [organization, domain, label] = parsed.data;
  return { organization, domain, label };
}

async function* eventStream(
  { sitesFeed }: GatewayContext,
  checksLogins: boolean,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const event of sitesFeed.events(signal))
    yield event === 'quiet' ? ': still here\n\n' : asText(checksLogins ? event : withoutLogins(event));
}

/** A host that does not check logins would show a site with one to everybody, so such a host gets the event that the site is gone. */
const withoutLogins = (event: SitesFeedEvent): SitesFeedEvent =>
  event.event === 'site' && event.data.login !== undefined ? { event: 'gone', data: { site: event.data.site } } : event;

const asText = ({ event, data }: SitesFeedEvent): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Adds to each deployment the place in a repository that its content came from. Pure. */
function withSources(
  list: z.output<typeof deploymentListSchema>,
  contents: { document: { state: ContentState } } | undefined,
): z.output<typeof deploymentListSchema> {
  const sources = new Map(
    contents?.document.state.versions.map(({ contentVersion, source }) => [contentVersion, source]),
  );
  return {
    ...list,
    deployments: list.deployments.map((each) => {
      const source = sources.get(each.contentVersion);
      return source === undefined ? each : { ...each, source };
    }),
  };
}
