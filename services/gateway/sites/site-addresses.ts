import { type Deployment, liveDeployments, rollbackTargets, type SiteState } from '#shared/aggregates/site/site.ts';
import { loginInFront, type SiteLogin } from '#shared/aggregates/site/site-login.ts';
import {
  type DeploymentView,
  previewName,
  type ServedLogin,
  type ServedSite,
  type SiteView,
  type DeploymentList,
} from '#shared/interfaces/http/sites.ts';
import type { SiteDeploymentsDocument } from '#shared/interfaces/read-models.ts';
import { originOf, type SitesBase } from '#shared/interfaces/http/sites-base.ts';

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
  return originOf(base, host);
}

/** The live site and previews of a domain, as hosts serve them. Pure. */
export function servedSites(base: SitesBase, state: SiteState): ServedSite[] {
  const { organization, domain } = state;
  return liveDeployments(state).flatMap((each): ServedSite[] => {
    const { number, label, jobId, contentVersion, sha256, sizeBytes, endedAt } = each;
    if (sha256 === undefined || sizeBytes === undefined || endedAt === undefined) return [];
    const login = loginInFront(state.login, label !== undefined);
    return [
      {
        site: siteId(organization, domain, label),
        ...{ organization, domain, ...(label === undefined ? {} : { label }) },
        address: addressOf(base, state, label),
        hosts: hostsOf(base, state, label),
        ...{ deployment: number, jobId, contentVersion, sha256, sizeBytes, liveSince: endedAt },
        ...(login === undefined ? {} : { login: servedLogin(login) }),
        // A preview must not answer from the live content as if it were its own, and its views are those of its authors.
        ...(label === undefined && state.assistant === true ? { assistant: true as const } : {}),
        ...(label === undefined && state.counts !== false ? { counts: true as const } : {}),
      },
    ];
  });
}

/** A login as hosts check it. Pure. */
function servedLogin(login: SiteLogin): ServedLogin {
  const { protects: _, ...rules } = login;
  return rules;
}

/** A login as clients see it, without passwords and their hashes. Pure. */
function loginView(login: SiteLogin): NonNullable<SiteView['login']> {
  if (login.kind === 'oidc') return login;
  return { ...login, users: login.users.map(({ name }) => ({ name })) };
}

/** Identity of a live site or preview in the feed. Pure. */
const siteId = (organization: string, domain: string, label: string | undefined): string =>
  [organization, domain, ...(label === undefined ? [] : [label])].join('/');

type ListedDeployment = SiteDeploymentsDocument['deployments'][number];

/** A deployment for clients. Pure. */
export function deploymentView(base: SitesBase, state: SiteState, deployment: Deployment): DeploymentView {
  const { number, ...shown } = deployment;
  const { label, requestedAt, endedAt } = shown;
  return {
    id: number,
    ...shown,
    ...(endedAt === undefined ? {} : { durationMs: Math.max(0, Date.parse(endedAt) - Date.parse(requestedAt)) }),
    ...(liveDeployments(state).includes(deployment) ? { address: addressOf(base, state, label) } : {}),
    canRollBack: state.isOpen && rollbackTargets(state.deployments).includes(deployment),
  };
}

/**
 * The deployments of a site for clients, newest first. `listed`: those of the read model, which also has ended ones that the state has dropped; the state
 * tells the newest of the others. Pure.
 */
export function deploymentList(
  base: SitesBase,
  state: SiteState,
  listed: readonly ListedDeployment[] = [],
): DeploymentList {
  const current = new Set(state.deployments.map(({ number }) => number));
  const dropped = listed.filter(({ number, status }) => !current.has(number) && hasEnded.has(status));
  const all = [...dropped, ...state.deployments].sort((one, other) => other.number - one.number);
  const actors = new Map(listed.map(({ number, actor }) => [number, actor]));
  const deployments = all.map((each) => {
    const actor = actors.get(each.number);
    return { ...deploymentView(base, state, each), ...(actor === undefined ? {} : { actor }) };
  });
  return { domain: state.domain, deployments };
}

/** A read model that is behind the log may have a dropped deployment as it was before its end. */
const hasEnded: ReadonlySet<Deployment['status']> = new Set(['replaced', 'superseded', 'failed', 'ended']);

/** A site for clients. Pure. */
export function siteView(base: SitesBase, state: SiteState): SiteView {
  const { domain, name, hosts, previews, assistantKey, assistant = false, counts = true, login } = state;
  const live = liveDeployments(state).find(({ label }) => label === undefined);
  return {
    domain,
    address: addressOf(base, state),
    ...{ name, hosts, previews, assistant, counts },
    ...(assistantKey === undefined ? {} : { assistantKey }),
    ...(login === undefined ? {} : { login: loginView(login) }),
    ...(live === undefined ? {} : { live: deploymentView(base, state, live) }),
  };
}
