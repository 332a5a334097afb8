import type { DomainEntry } from '#shared/aggregates/directory/directory.ts';
import { liveDeployments, type SiteState } from '#shared/aggregates/site/site.ts';
import { domainListSchema, listDomainsQuerySchema, type ListedDomain } from '#shared/interfaces/http/domain-list.ts';
import { contentsKey, siteKey } from '#shared/interfaces/read-models.ts';
import type { DocumentStore } from '#shared/messaging/read-models.ts';
import { Poison } from '#shared/runtime/failures.ts';
import { askBus } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';
import { readCursor, toCursor } from '../parse-input.ts';
import { publicRoute } from '../public-route.ts';
import { deploymentView, siteView } from './site-addresses.ts';

const cursorPattern = /^[a-z0-9-]{1,63}$/;

/** Lists domains with what an overview needs of each, in two reads for all of them. */
export const domainListRoute = publicRoute(
  {
    id: 'listDomains',
    method: 'GET',
    path: '/v1/domains',
    summary: 'Lists the domains of the organization, sorted by slug, with the state of their sites and contents.',
    key: 'admin',
    query: listDomainsQuerySchema,
    answer: domainListSchema,
  },
  async (context, { principal: { organization, domains }, query: { limit, cursor } }) => {
    const [after = ''] = cursor === undefined ? [] : readCursor(cursor, cursorPattern);
    const rest = domains.filter(({ slug }) => slug > after).toSorted((one, other) => (one.slug < other.slug ? -1 : 1));
    const shown = rest.slice(0, limit);
    const last = shown.at(-1);
    return {
      domains: await listed(context, organization, shown),
      ...(rest.length > shown.length && last !== undefined && { nextCursor: toCursor(last.slug) }),
    };
  },
);

async function listed(
  { bus: { readModels }, sitesBase }: Pick<GatewayContext, 'bus' | 'sitesBase'>,
  organization: string,
  domains: readonly DomainEntry[],
): Promise<ListedDomain[]> {
  const slugs = domains.map(({ slug }) => slug);
  const [sites, contents] = await Promise.all([
    documentsOf(readModels.sites, slugs, (slug) => siteKey(organization, slug)),
    documentsOf(readModels.directoryContents, slugs, (slug) => contentsKey(organization, slug)),
  ]);
  return domains.map(({ slug, hosts, groups }) => {
    const content = contents.get(slug)?.state;
    const site = sites.get(slug)?.state;
    return {
      ...{ domain: slug, hosts, groups, contents: content?.versions.length ?? 0 },
      ...(content?.latest !== undefined && { latest: content.latest }),
      ...(site?.isOpen === true && { site: listedSite(sitesBase, site) }),
    };
  });
}

function listedSite(base: GatewayContext['sitesBase'], state: SiteState): NonNullable<ListedDomain['site']> {
  const live = liveDeployments(state).find(({ label }) => label === undefined);
  const newest = state.deployments.findLast(({ label }) => label === undefined);
  const last = state.deployments.at(-1);
  return {
    address: siteView(base, state).address,
    ...(live !== undefined && { live: deploymentView(base, state, live) }),
    ...(newest !== undefined && { newest: deploymentView(base, state, newest) }),
    ...(last !== undefined && { last: deploymentView(base, state, last) }),
  };
}

/** The documents that exist, by slug. Throws `Poison` if one cannot be read. */
async function documentsOf<T>(
  store: Pick<DocumentStore<T>, 'getMany'>,
  slugs: readonly string[],
  keyOf: (slug: string) => string,
): Promise<Map<string, T>> {
  const slugOf = new Map(slugs.map((slug) => [keyOf(slug), slug]));
  const found = new Map<string, T>();
  for (const each of await askBus(store.getMany([...slugOf.keys()]))) {
    if ('problem' in each) throw new Poison(each.problem);
    found.set(slugOf.get(each.key) ?? '', each.document);
  }
  return found;
}
