import type { SiteCommit, SiteEvent } from '#shared/aggregates/site/site.ts';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import { type SiteDeploymentsDocument, siteKey } from '#shared/interfaces/read-models.ts';
import { auditTrail, entriesOf, type Said, shortened } from './audit-trail.ts';
import { commitHandler, type ProjectionSource, updateDocument } from './projection.ts';

/** The site of each domain with its deployments, and the audit entries of their changes. */
export const siteProjection: ProjectionSource<SiteCommit> = {
  name: 'sites',
  shape: 3,
  openReader: (bus, generation) => bus.projectionReaders.sites(generation),
  into: ({ sites, siteDeployments, auditSites, auditSitesDays }, logs, by) => {
    const trail = auditTrail({ days: auditSitesDays, parts: auditSites });
    return commitHandler(
      {
        primary: sites,
        keyOf: ({ data: { state } }) => siteKey(state.organization, state.domain),
        async writeSecondary(commit, lost) {
          const { organization, domain } = commit.data.state;
          await updateDocument(siteDeployments, siteKey(organization, domain), (before) =>
            withDeployments(before, commit, lost !== undefined),
          );
          trail.add(organization, siteAuditEntries(commit));
        },
        finish: () => trail.write(),
      },
      logs.sites,
      by,
    );
  },
};

/** Limit of listed deployments that are not in the state of their site. */
const mostListed = 50;

/** The listed deployments after a commit; undefined if it is in them. `isAgain`: the log has lost later commits. Pure. */
export function withDeployments(
  before: SiteDeploymentsDocument | undefined,
  { revision, actor, data: { state, events } }: Pick<SiteCommit, 'revision' | 'actor' | 'data'>,
  isAgain = false,
): SiteDeploymentsDocument | undefined {
  if (before !== undefined && before.revision >= revision && !isAgain) return undefined;
  const inState = new Set(state.deployments.map(({ number }) => number));
  const dropped = (before?.deployments ?? []).filter(
    ({ number }) => !inState.has(number) && number <= state.deploymentCount,
  );
  const actors = new Map(before?.deployments.map((each) => [each.number, each.actor]));
  for (const { type, data } of events)
    if (type === 'DeploymentRequested') actors.set(data.deployment, data.askedBy ?? actor);
  const current = state.deployments.map((each) => {
    const by = actors.get(each.number);
    return by === undefined ? each : { ...each, actor: by };
  });
  const listed = [...dropped.slice(-mostListed), ...current];
  return { revision, deployments: listed.sort((one, other) => one.number - other.number) };
}

/** Audit entries of a site. A rollback makes one entry, although it is a request and a deployment. Pure. */
export function siteAuditEntries(commit: SiteCommit): AuditEntry[] {
  const { events, state } = commit.data;
  const rolledBack = new Set(
    events.flatMap((event) =>
      event.type === 'DeploymentRequested' && event.data.cause === 'rolled-back' ? [event.data.deployment] : [],
    ),
  );
  return entriesOf(commit, (event: SiteEvent): Said[] => {
    const { domain } = event.data;
    switch (event.type) {
      case 'SiteOpened': {
        const { name, login } = event.data;
        const rules = login === undefined ? {} : { login: login.kind, protects: login.protects };
        return [{ action: 'site.opened', domain, name, ...rules }];
      }
      case 'SiteClosed':
        return [{ action: 'site.closed', domain }];
      case 'DeploymentRequested': {
        const { deployment, label, contentVersion, jobId, cause } = event.data;
        const action = cause === 'rolled-back' ? 'deployment.rolled-back' : 'deployment.requested';
        return [{ action, domain, deployment, contentVersion, jobId, ...labelled(label) }];
      }
      case 'DeploymentLive': {
        const { deployment, sha256, sizeBytes } = event.data;
        if (rolledBack.has(deployment)) return [];
        return [{ action: 'deployment.live', domain, deployment, sha256, sizeBytes, ...about(deployment) }];
      }
      case 'DeploymentFailed': {
        const { deployment, error } = event.data;
        return [{ action: 'deployment.failed', domain, deployment, error: shortened(error), ...about(deployment) }];
      }
      // The event is no action, and the list of deployments shows its numbers, so it has no audit entry.
      case 'DeploymentReported':
        return [];
      case 'PreviewEnded':
        return [{ action: 'preview.ended', domain, label: event.data.label }];
    }
  });

  function about(deployment: number) {
    const found = state.deployments.find(({ number }) => number === deployment);
    return found === undefined
      ? {}
      : { contentVersion: found.contentVersion, jobId: found.jobId, ...labelled(found.label) };
  }
}

const labelled = (label: string | undefined) => (label === undefined ? {} : { label });
