import { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import type { Actor } from '#shared/contracts/commit.ts';
import { domainSlug } from '#shared/contracts/identifiers.ts';
import type { PublicationSource } from '#shared/contracts/publication-source.ts';
import { auditListSchema } from '#shared/interfaces/http/audit.ts';
import { contentListSchema } from '#shared/interfaces/http/content.ts';
import { apiKeyListSchema } from '#shared/interfaces/http/directory.ts';
import {
  deploymentListSchema,
  type DeploymentView,
  type SiteView,
  siteViewSchema,
} from '#shared/interfaces/http/sites.ts';
import type { Visit } from '../../page.ts';
import { PlatformRefusal } from '../../platform.ts';
import { copyButton, state, type Tone } from '../../pieces/pieces.ts';

/** Questions to the platform and words that the pages about a domain share. */

export const domainParams = z.object({ domain: domainSlug });

type Asks = Pick<Visit<unknown, unknown>, 'ask'>;

/** The answer, or undefined if there is no such thing. Rejects with other refusals. */
export async function unlessMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  return await asked.catch((error: unknown) => {
    if (error instanceof PlatformRefusal && error.code === 'not_found') return undefined;
    throw error;
  });
}

/** The site of a domain with its deployments, newest first; undefined if it is not open. */
export async function siteOf({ ask }: Asks, domain: string): Promise<OpenSite | undefined> {
  const [site, list] = await Promise.all([
    unlessMissing(ask({ path: `/v1/domains/${domain}/site` }, siteViewSchema)),
    unlessMissing(ask({ path: `/v1/domains/${domain}/deployments` }, deploymentListSchema)),
  ]);
  return site === undefined || list === undefined ? undefined : { site, deployments: list.deployments };
}

export type OpenSite = { site: SiteView; deployments: DeploymentView[] };

/** The contents of a domain. Rejects with `not_found` for a domain that the organization does not have. */
export const contentsOf = ({ ask }: Asks, domain: string) =>
  ask({ path: `/v1/domains/${domain}/content` }, contentListSchema);

const isUnderWay = ({ status }: DeploymentView): boolean => status === 'running' || status === 'waiting';

export const isDeploying = (site: OpenSite | undefined): boolean => site?.deployments.some(isUnderWay) ?? false;

/** The newest deployment of the live site. */
export const newestOf = ({ deployments }: OpenSite): DeploymentView | undefined =>
  deployments.find(({ label }) => label === undefined);

/** State of a site as a word. `newest`: the newest deployment of the live site. */
export function siteState(
  site: { live?: DeploymentView | undefined; newest?: DeploymentView | undefined } | undefined,
): SafeHtml {
  if (site === undefined) return state('idle', 'no site');
  const { live, newest } = site;
  if (newest === undefined) return state('idle', 'open, without content');
  if (newest.status === 'failed')
    return live === undefined ? state('bad', 'failed') : state('warn', 'live, last deployment failed');
  if (live === undefined) return state('busy', 'opening');
  return isUnderWay(newest) ? state('busy', 'live, deploying') : state('good', 'live');
}

/** The address of a site, as a link that opens in a tab of its own. */
export const outside = (address: string): SafeHtml =>
  html`<a href="${address}" rel="noreferrer" target="_blank">${address.replace(/^https?:\/\//, '')}</a>`;

const tones: Readonly<Record<DeploymentView['status'], Tone>> = {
  ...{ live: 'good', failed: 'bad', running: 'busy', waiting: 'busy', replaced: 'idle', superseded: 'idle' },
  ended: 'idle',
};

export const deploymentState = ({ status }: Pick<DeploymentView, 'status'>): SafeHtml => state(tones[status], status);

/** The place in a repository: pull request, branch and the first digits of the commit, which is copied whole. */
export const sourceOf = ({ commit, branch, pullRequest }: PublicationSource): SafeHtml =>
  html`<span class="source">${branch === undefined ? '' : html`<span class="branch" title="${branch}">${branch}</span> `}${pullRequest === undefined ? '' : html`<span class="quiet" title="Pull request ${pullRequest}">#${pullRequest}</span> `}${
    commit === undefined
      ? ''
      : html`<span class="id"><code title="${commit}">${commit.slice(0, 7)}</code>${copyButton(commit, 'Copy the commit')}</span>`
  }</span>`;

/** The first digits of a content version, with the whole on hover. */
export const shortVersion = (contentVersion: string): SafeHtml =>
  html`<code title="${contentVersion}">${contentVersion.slice(3, 11)}</code>`;

export const contentLink = (base: string, domain: string, contentVersion: string): SafeHtml =>
  html`<a href="${base}/domains/${domain}/content/${contentVersion}">${shortVersion(contentVersion)}</a>`;

const auditAtOnce = 300;

/** Names of the people, keys and services that caused deployments and contents of a domain. Those of contents are from the newest entries of its audit. */
export async function causesOf(
  { ask }: Asks,
  domain: string,
  { ofContents = true }: { ofContents?: boolean } = {},
): Promise<Causes> {
  const [{ entries }, { apiKeys }] = await Promise.all([
    ofContents
      ? ask({ path: '/v1/audit', query: { domain, limit: auditAtOnce } }, auditListSchema)
      : { entries: [] as AuditEntry[] },
    ask({ path: '/v1/api-keys' }, apiKeyListSchema),
  ]);
  const names = new Map(apiKeys.map(({ id, name }) => [id, name === '' ? id : name]));
  const nameOf = ({ kind, id }: Actor): string => (kind === 'key' ? (names.get(id) ?? id) : id);
  const contents = new Map<string, string>();
  for (const { action, actor, contentVersion } of entries)
    if (action.startsWith('content.') && contentVersion !== undefined && !contents.has(contentVersion))
      contents.set(contentVersion, nameOf(actor));
  return {
    ofContent: (contentVersion) => contents.get(contentVersion),
    // A deployment of an earlier version has no actor, or names the deployer, which follows publications: it is the work of the person who published.
    ofDeployment: ({ actor, contentVersion }) =>
      actor === undefined || actor.kind === 'service' ? contents.get(contentVersion) : nameOf(actor),
  };
}

export type Causes = {
  ofContent(contentVersion: string): string | undefined;
  ofDeployment(deployment: DeploymentView): string | undefined;
};
