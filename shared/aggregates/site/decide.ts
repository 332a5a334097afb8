import type { Actor } from '#shared/contracts/commit.ts';
import { ApiError } from '#shared/http/errors.ts';
import { canonicalJson, sha256OfJson } from '#shared/runtime/canonical-json.ts';
import { base62Of, dayMs } from '#shared/runtime/time-and-ids.ts';
import { nextLogin, type WantedLogin } from './site-login.ts';
import { type Deployment, rollbackTargets, type SiteEvent, type SiteState } from './site.ts';

/**
 * The decisions about a site. Pure: each throws the `ApiError` that the caller receives. An empty list of events means that nothing
 * changes.
 */

/** The published content of a domain, as far as a site follows it. */
export type FollowedContent = {
  latest: string | undefined;
  /** The content version of each label, with the time of its last publication. */
  labels: Readonly<Record<string, { contentVersion: string; publishedAt: string }>>;
};

type SiteId = Pick<SiteState, 'organization' | 'domain'>;
export type SiteSettings = Pick<
  SiteState,
  'name' | 'hosts' | 'previews' | 'organizationPlan' | 'assistantKey' | 'assistant' | 'counts'
> & {
  /** Absent: the login stays as it is. */
  login?: WantedLogin;
};

/** Previews end this long after the last publication under their label. */
const previewDays = 30;
/** Limit of previews at a time. The ones with the oldest publications end. */
export const mostPreviews = 50;
/** Ended deployments in the state, beside those of rollbacks: enough to tell their fate to a stream that is a little behind. */
const keptEnded = 5;

/** Opens a site with these settings, or changes those of an open one. Throws `invalid_request` for a login that lacks a password. */
export function openSite(state: SiteState | undefined, site: SiteId, settings: SiteSettings): SiteEvent[] {
  const settingsOf = (chosen: SiteSettings | SiteState) => {
    const { name, hosts, previews, organizationPlan, assistantKey, assistant, counts } = chosen;
    return {
      ...{ name, hosts, previews, organizationPlan },
      ...(assistantKey === undefined ? {} : { assistantKey }),
      ...(assistant === undefined ? {} : { assistant }),
      ...(counts === undefined ? {} : { counts }),
    };
  };
  const withLogin = (login: SiteState['login']) => (login === undefined ? {} : { login });
  const next = { ...settingsOf(settings), ...withLogin(nextLogin(state?.login, settings.login)) };
  const before = state?.isOpen === true ? { ...settingsOf(state), ...withLogin(state.login) } : undefined;
  if (before !== undefined && canonicalJson(before) === canonicalJson(next)) return [];
  return [{ type: 'SiteOpened', version: 1, data: { ...site, ...next } }];
}

/** Closes a site: readers no longer see it and its previews. Its deployments stay listed. Throws `not_found`. */
export function closeSite(state: SiteState | undefined, site: SiteId): SiteEvent[] {
  openState(state, site);
  return [{ type: 'SiteClosed', version: 1, data: site }];
}

/**
 * Requests the deployments that follow from a change of the domain's content, and ends previews whose label is gone or was not published for 30 days.
 * Repeating it with the same content changes nothing. `askedBy`: the actor whose change it follows.
 */
export function followContent(
  state: SiteState | undefined,
  content: FollowedContent,
  now: Date,
  askedBy?: Actor,
): SiteEvent[] {
  if (state?.isOpen !== true) return [];
  const { organization, domain, followed } = state;
  const site = { organization, domain };
  const wanted = wantedPreviews(state, content, now);
  const ended = Object.keys(followed.labels).filter((label) => !wanted.has(label));
  const changed: { label?: string; contentVersion: string }[] = [...wanted]
    .filter(([label, contentVersion]) => followedLabel(state, label) !== contentVersion)
    .map(([label, contentVersion]) => ({ label, contentVersion }));
  if (content.latest !== undefined && content.latest !== followed.live)
    changed.unshift({ contentVersion: content.latest });
  return [
    ...ended.map((label): SiteEvent => ({ type: 'PreviewEnded', version: 1, data: { ...site, label } })),
    ...changed.map((target, index): SiteEvent => {
      const number = state.deploymentCount + index + 1;
      const cause = target.label !== undefined ? 'labelled' : state.deploymentCount === 0 ? 'opened' : 'published';
      return requested(site, number, target, cause, askedBy);
    }),
  ];
}

function wantedPreviews({ previews }: SiteState, { labels }: FollowedContent, now: Date): Map<string, string> {
  if (!previews) return new Map();
  const since = new Date(now.getTime() - previewDays * dayMs).toISOString();
  const recent = Object.entries(labels).filter(([, { publishedAt }]) => publishedAt > since);
  const newest = recent
    .toSorted(([, a], [, b]) => Date.parse(b.publishedAt) - Date.parse(a.publishedAt))
    .slice(0, mostPreviews);
  return new Map(newest.map(([label, { contentVersion }]) => [label, contentVersion]));
}

const followedLabel = ({ followed: { labels } }: SiteState, label: string): string | undefined =>
  Object.hasOwn(labels, label) ? labels[label] : undefined;

/** Deploys the content of the live site again, such as after a failure or an upgrade of the platform. Throws `not_found`, and `in_use` while a deployment runs. */
export function deployAgain(state: SiteState | undefined, site: SiteId): SiteEvent[] {
  const { followed, deployments, deploymentCount } = openState(state, site);
  const running = deployments.find(({ label, status }) => label === undefined && status === 'running');
  if (running !== undefined)
    throw new ApiError(
      'in_use',
      `Deployment ${running.number} of "${site.domain}" is running. Wait until it ends: "bindery site deployments ${site.domain} --follow" shows it.`,
    );
  if (followed.live === undefined)
    throw new ApiError(
      'not_found',
      `Nothing is published for the domain "${site.domain}" yet, so there is nothing to deploy.`,
    );
  return [requested(site, deploymentCount + 1, { contentVersion: followed.live }, 'repeated')];
}

/**
 * Rolls the live site back to an earlier deployment, at once and without an export. Later publications are deployed as before. Throws `not_found` for
 * a deployment that is not kept for a rollback.
 */
export function rollBack(state: SiteState | undefined, site: SiteId, number: number): SiteEvent[] {
  const { deployments, deploymentCount } = openState(state, site);
  const current = deployments.find(({ label, status }) => label === undefined && status === 'live');
  if (current?.number === number) return [];
  const targets = rollbackTargets(deployments);
  const target = targets.find((each) => each.number === number);
  if (target?.sha256 === undefined || target.sizeBytes === undefined) {
    const numbers = targets.map((each) => each.number).join(', ');
    throw new ApiError(
      'not_found',
      `The site of "${site.domain}" cannot be rolled back to deployment ${number}. ${numbers === '' ? 'No earlier deployment of the live site is kept.' : `Possible are: ${numbers}.`}`,
    );
  }
  const { contentVersion, jobId, sha256, sizeBytes, findings } = target;
  const deployment = deploymentCount + 1;
  return [
    {
      type: 'DeploymentRequested',
      version: 1,
      data: { ...site, deployment, contentVersion, jobId, cause: 'rolled-back', keptEnded },
    },
    { type: 'DeploymentLive', version: 1, data: { ...site, deployment, sha256, sizeBytes } },
    ...(findings === undefined ? [] : [reported(site, deployment, findings)]),
  ];
}

/** The end of an export: its bundle, or the reason why there is none. */
export type ExportOutcome = { sha256: string; sizeBytes: number } | { error: string };

/** Records the end of the export of a running deployment. Deployments that no longer run are unchanged. */
export function settleDeployment(state: SiteState | undefined, jobId: string, outcome: ExportOutcome): SiteEvent[] {
  if (state === undefined) return [];
  const { organization, domain, deployments } = state;
  const running = deployments.filter((each) => each.jobId === jobId && each.status === 'running');
  return running.map(({ number }): SiteEvent => {
    const data = { organization, domain, deployment: number };
    return 'error' in outcome
      ? { type: 'DeploymentFailed', version: 1, data: { ...data, error: outcome.error } }
      : { type: 'DeploymentLive', version: 1, data: { ...data, ...outcome } };
  });
}

type Findings = NonNullable<Deployment['findings']>;

/** The deployments of an export that were live and whose report has not been read. Pure. */
export const unreportedDeployments = ({ deployments }: SiteState, jobId: string): Deployment[] =>
  deployments.filter((each) => each.jobId === jobId && each.sha256 !== undefined && each.findings === undefined);

/** Records the findings in the report of an export. Repeating it changes nothing. */
export function reportDeployment(state: SiteState | undefined, jobId: string, findings: Findings): SiteEvent[] {
  if (state === undefined) return [];
  const { organization, domain } = state;
  return unreportedDeployments(state, jobId).map(({ number }) => reported({ organization, domain }, number, findings));
}

const reported = (site: SiteId, deployment: number, { errors, warnings }: Findings): SiteEvent => ({
  type: 'DeploymentReported',
  version: 1,
  data: { ...site, deployment, errors, warnings },
});

/** The deployments whose exports are requested, or have to be. Pure. */
export const runningDeployments = ({ deployments }: SiteState): Deployment[] =>
  deployments.filter(({ status }) => status === 'running');

function requested(
  site: SiteId,
  number: number,
  { label, contentVersion }: { label?: string; contentVersion: string },
  cause: 'opened' | 'published' | 'labelled' | 'repeated',
  askedBy?: Actor,
): SiteEvent {
  const jobId = deploymentJobId(site, number, contentVersion);
  return {
    type: 'DeploymentRequested',
    version: 1,
    data: {
      ...{ ...site, deployment: number, ...(label === undefined ? {} : { label }), contentVersion, jobId, cause },
      keptEnded,
      ...(askedBy === undefined ? {} : { askedBy }),
    },
  };
}

const jobIdDigits = 22;

/** The id of a deployment's export. It follows from the deployment, so that a repeated request is the same job. */
function deploymentJobId({ organization, domain }: SiteId, number: number, contentVersion: string): string {
  const digest = Buffer.from(sha256OfJson({ organization, domain, number, contentVersion, for: 'deployment' }), 'hex');
  return `se_${base62Of(digest, jobIdDigits)}`;
}

/** The state of an open site. Throws `not_found` if there is none, or it is closed. */
export function openState(state: SiteState | undefined, { domain }: SiteId): SiteState {
  if (state?.isOpen !== true)
    throw new ApiError(
      'not_found',
      `The domain "${domain}" has no site. Open one with "bindery site open ${domain}" or PUT /v1/domains/${domain}/site.`,
    );
  return state;
}
