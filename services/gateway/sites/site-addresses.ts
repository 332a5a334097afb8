import { type Deployment, liveDeployments, rollbackTargets, type SiteState } from '#shared/aggregates/site/site.ts';
import { type DeploymentView, previewName, type ServedSite, type SiteView } from '#shared/interfaces/http/sites.ts';

/** The address under which an installation serves sites: `https` and `docs.example.com`, or `http` and `localhost:8090`. */
export type SitesBase = { protocol: 'http' | 'https'; host: string; port: string };

/** True for a text that `sitesBaseOf` reads. Pure. */
export function isSitesBase(text: string): boolean {
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `http://${text}`);
  return (
    url !== null &&
    /^[a-z0-9.-]+$/.test(url.hostname) &&
    url.pathname === '/' &&
    url.search === '' &&
    url.username === ''
  );
}

/** Reads `https://docs.example.com`, or `localhost:8090`. Pure. */
export function sitesBaseOf(text: string): SitesBase {
  const url = new URL(/^https?:\/\//.test(text) ? text : `http://${text}`);
  return { protocol: url.protocol === 'https:' ? 'https' : 'http', host: url.hostname, port: url.port };
}

/** The host name of a site under the base, or of the preview of a label. Pure. */
export const hostUnder = (base: SitesBase, { name }: Pick<SiteState, 'name'>, label?: string): string =>
  `${label === undefined ? name : previewName(label, name)}.${base.host}`;

/** All host names of a live site, or of the preview of a label; the first is that of its address. Pure. */
export function hostsOf(base: SitesBase, site: Pick<SiteState, 'name' | 'hosts'>, label?: string): string[] {
  const under = hostUnder(base, site, label);
  return label === undefined ? [...site.hosts, under] : [under];
}

/** Address of the first page of a site or preview, without a slash at the end. A site's own host name comes first. Pure. */
function addressOf(base: SitesBase, site: Pick<SiteState, 'name' | 'hosts'>, label?: string): string {
  const [host = ''] = hostsOf(base, site, label);
  return `${base.protocol}://${host}${base.port === '' ? '' : `:${base.port}`}`;
}

/** The live site and previews of a domain, as hosts serve them. Pure. */
export function servedSites(base: SitesBase, state: SiteState): ServedSite[] {
  const { organization, domain } = state;
  return liveDeployments(state).flatMap((each): ServedSite[] => {
    const { number, label, jobId, contentVersion, sha256, sizeBytes, endedAt } = each;
    if (sha256 === undefined || sizeBytes === undefined || endedAt === undefined) return [];
    return [
      {
        site: siteId(organization, domain, label),
        ...{ organization, domain, ...(label === undefined ? {} : { label }) },
        address: addressOf(base, state, label),
        hosts: hostsOf(base, state, label),
        ...{ deployment: number, jobId, contentVersion, sha256, sizeBytes, liveSince: endedAt },
      },
    ];
  });
}

/** Identity of a live site or preview in the feed. Pure. */
const siteId = (organization: string, domain: string, label: string | undefined): string =>
  [organization, domain, ...(label === undefined ? [] : [label])].join('/');

/** A deployment for clients. Pure. */
export function deploymentView(base: SitesBase, state: SiteState, deployment: Deployment): DeploymentView {
  const { number, label, contentVersion, jobId, cause, status, requestedAt, endedAt, sha256, sizeBytes, error } =
    deployment;
  const isShown = liveDeployments(state).includes(deployment);
  return {
    id: number,
    ...(label === undefined ? {} : { label }),
    ...{ contentVersion, jobId, cause, status, requestedAt },
    ...(endedAt === undefined
      ? {}
      : { endedAt, durationMs: Math.max(0, Date.parse(endedAt) - Date.parse(requestedAt)) }),
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(sizeBytes === undefined ? {} : { sizeBytes }),
    ...(error === undefined ? {} : { error }),
    ...(isShown ? { address: addressOf(base, state, label) } : {}),
    canRollBack: state.isOpen && rollbackTargets(state.deployments).includes(deployment),
  };
}

/** A site for clients. Pure. */
export function siteView(base: SitesBase, state: SiteState): SiteView {
  const { domain, name, hosts, previews, assistantKey } = state;
  const live = liveDeployments(state).find(({ label }) => label === undefined);
  return {
    domain,
    address: addressOf(base, state),
    ...{ name, hosts, previews },
    ...(assistantKey === undefined ? {} : { assistantKey }),
    ...(live === undefined ? {} : { live: deploymentView(base, state, live) }),
  };
}
