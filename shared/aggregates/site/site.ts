import { z } from 'zod';
import {
  actorSchema,
  type Aggregate,
  commitSchema,
  type EventMetadata,
  eventSchema,
} from '#shared/contracts/commit.ts';
import {
  contentLabel,
  contentVersion,
  domainSlug,
  hostName,
  jobId,
  organizationId,
  organizationPlans,
  sha256Hex,
  timestamp,
} from '#shared/contracts/identifiers.ts';
import { storedCommit } from '#shared/contracts/upcast.ts';
import { siteLoginSchema } from './site-login.ts';

/**
 * First part of a site's address under the base of an installation. Two dashes in a row separate the label of a preview from it, and the two
 * share the 63 characters of a part of a host name.
 */
export const siteName = z
  .string()
  .max(40)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be 1 to 40 of a-z and 0-9, with single dashes between them');

/** The command that a deployment follows from. */
const deploymentCauses = ['opened', 'published', 'labelled', 'rolled-back', 'repeated'] as const;

/** Settings of a site: the data of its opening, and part of its state. */
const siteSettings = {
  name: siteName,
  hosts: z.array(hostName),
  previews: z.boolean(),
  organizationPlan: z.enum(organizationPlans),
  /** Assistant key, which pages show. */
  assistantKey: z.string().optional(),
  /** Absent: everybody may read. */
  login: siteLoginSchema.optional(),
  /** True: its host passes search, questions and feedback of its pages on to the platform. Sites of earlier versions do not have it. */
  assistant: z.boolean().optional(),
  /** False: hosts do not count its page views and searches. */
  counts: z.boolean().optional(),
};

/** The events of one domain's site (`sites.<org>.<domain>.log`). */
const event = eventSchema({ organization: organizationId, domain: domainSlug });

/** Numbers of findings in the report of an export. */
const findingCounts = { errors: z.int().min(0), warnings: z.int().min(0) };

/** `label`: absent for the live site. A deployment that has to wait for another one has its job only once it runs. */
const requestedDeployment = {
  label: contentLabel.optional(),
  contentVersion,
  jobId,
  cause: z.enum(deploymentCauses),
};

/** The bundle that readers see. */
const liveBundle = { sha256: sha256Hex, sizeBytes: z.int().min(0) };

/** Number of a deployment of a domain: 1, 2, … over all its labels. */
const deployment = z.int().min(1);

export const siteEventSchema = z.discriminatedUnion('type', [
  /** Opens the site, or changes the settings of an open one. */
  event('SiteOpened', siteSettings),
  event('DeploymentRequested', {
    deployment,
    ...requestedDeployment,
    /**
     * Number of deployments that ended before, and no rollback needs, which stay in the state. Events of earlier versions do not have it. The state does
     * not have it, because a service of an earlier version would not copy it.
     */
    keptEnded: z.int().min(0).optional(),
    /**
     * The actor whose publication or opening of the site the deployer follows; absent if the actor of the commit asked for the deployment. Events of earlier
     * versions do not have it, nor does the state, for the reason above.
     */
    askedBy: actorSchema.optional(),
  }),
  event('DeploymentLive', { deployment, ...liveBundle }),
  event('DeploymentFailed', { deployment, error: z.string() }),
  /** It follows `DeploymentLive`, so that readers need not wait for it. */
  event('DeploymentReported', { deployment, ...findingCounts }),
  event('PreviewEnded', { label: contentLabel }),
  event('SiteClosed', {}),
]);

export type SiteEvent = z.infer<typeof siteEventSchema>;

/**
 * - `waiting`: another deployment of the same target runs.
 * - `running`: its export has been requested.
 * - `live`: readers see it.
 * - `replaced`: readers saw it, until a later one was live.
 * - `superseded`: a later deployment of the same target made it unnecessary before it was live.
 * - `ended`: readers saw it, until its preview ended or the site was closed.
 */
const deploymentStatuses = ['waiting', 'running', 'live', 'replaced', 'superseded', 'failed', 'ended'] as const;

export const deploymentSchema = z.object({
  number: deployment,
  ...requestedDeployment,
  status: z.enum(deploymentStatuses),
  requestedAt: timestamp,
  /** Time at which it was live for the first time, or failed. */
  endedAt: timestamp.optional(),
  ...z.object(liveBundle).partial().shape,
  error: z.string().optional(),
  /** Numbers of findings in the report of its export; absent until the report was read. */
  findings: z.object(findingCounts).optional(),
});

export type Deployment = z.infer<typeof deploymentSchema>;

export const siteStateSchema = z.object({
  organization: organizationId,
  domain: domainSlug,
  isOpen: z.boolean(),
  ...siteSettings,
  /** Number of the last deployment; 0 if there is none. */
  deploymentCount: z.int().min(0),
  /**
   * Oldest first: all that are live, wait or run, the five before the live site, the `keptEnded` others before the last request, and those that ended
   * since then, up to 50. Each commit has this list, so more of them are only in a read model. A deployment stays at least until the commit after its
   * end, so the read model has its end.
   */
  deployments: z.array(deploymentSchema),
  /** The content version of the last deployment that a publication caused, for each label; `live` for the live site. */
  followed: z.object({ live: contentVersion.optional(), labels: z.record(z.string(), contentVersion) }),
});

export type SiteState = z.infer<typeof siteStateSchema>;

export const siteCommitSchema = commitSchema(siteEventSchema, siteStateSchema);

export type SiteCommit = z.infer<typeof siteCommitSchema>;

/** Number of replaced deployments of the live site that are kept for a rollback. */
const keptForRollback = 5;
/** Limit of ended deployments in any state. Earlier versions have no other one, and their states must remain the fold of their events. */
const mostEnded = 50;

/** The site of one domain. The gateway appends commands of people, the deployer appends deployments. */
export const siteAggregate: Aggregate<SiteEvent, SiteState> = {
  commitIdPrefix: 'sc',
  storedCommit: storedCommit(siteCommitSchema, {}),
  evolve,
};

function evolve(before: SiteState | undefined, event: SiteEvent, { time }: EventMetadata): SiteState {
  if (event.type === 'SiteOpened') {
    const { deploymentCount = 0, deployments = [], followed = { labels: {} } } = before ?? {};
    return { ...event.data, isOpen: true, deploymentCount, deployments, followed };
  }
  if (before === undefined) throw new Error(`${event.type} of ${event.data.domain} comes before SiteOpened`);
  const { followed, deployments } = before;
  switch (event.type) {
    case 'DeploymentRequested': {
      const { deployment: number, label, contentVersion, jobId, cause, keptEnded = mostEnded } = event.data;
      // A deployment that this request supersedes is still in the state, because only earlier ones are evicted.
      const kept = withinLimits(deployments, keptEnded);
      const isWaiting = deployments.some((each) => each.label === label && each.status === 'running');
      const added: Deployment = {
        number,
        ...(label === undefined ? {} : { label }),
        ...{ contentVersion, jobId, cause, status: isWaiting ? 'waiting' : 'running', requestedAt: time },
      };
      const others = kept.map((each) =>
        each.label === label && each.status === 'waiting' ? { ...each, status: 'superseded' as const } : each,
      );
      const labels = label === undefined ? followed.labels : { ...followed.labels, [label]: contentVersion };
      return {
        ...before,
        deploymentCount: number,
        deployments: withinLimits([...others, added]),
        followed: {
          labels,
          // A rollback does not count as followed content, so only a later publication or promotion is deployed.
          ...(label !== undefined || cause === 'rolled-back' ? followedLive(followed) : { live: contentVersion }),
        },
      };
    }
    case 'DeploymentLive': {
      const { deployment: number, sha256, sizeBytes } = event.data;
      const live = deployments.find((each) => each.number === number);
      if (live === undefined) return before;
      const others = deployments.map((each): Deployment => {
        if (each.number === number) return { ...each, status: 'live', endedAt: time, sha256, sizeBytes };
        if (each.label !== live.label || each.number > number) return each;
        if (each.status === 'live') return { ...each, status: 'replaced' };
        return each.status === 'running' || each.status === 'waiting' ? { ...each, status: 'superseded' } : each;
      });
      return { ...before, deployments: withinLimits(nextRuns(others, live.label)) };
    }
    case 'DeploymentFailed': {
      const { deployment: number, error } = event.data;
      const failed = deployments.find((each) => each.number === number);
      if (failed === undefined) return before;
      const others = deployments.map(
        (each): Deployment => (each.number === number ? { ...each, status: 'failed', endedAt: time, error } : each),
      );
      return { ...before, deployments: withinLimits(nextRuns(others, failed.label)) };
    }
    case 'DeploymentReported': {
      const { deployment: number, errors, warnings } = event.data;
      const reported = deployments.map(
        (each): Deployment => (each.number === number ? { ...each, findings: { errors, warnings } } : each),
      );
      return { ...before, deployments: reported };
    }
    case 'PreviewEnded': {
      const { label } = event.data;
      const { [label]: _, ...labels } = followed.labels;
      return {
        ...before,
        deployments: withinLimits(deployments.map((each) => (each.label === label ? ended(each) : each))),
        followed: { ...followed, labels },
      };
    }
    case 'SiteClosed':
      return {
        ...before,
        isOpen: false,
        deployments: withinLimits(deployments.map(ended)),
        followed: { labels: {} },
      };
  }
}

const followedLive = ({ live }: SiteState['followed']) => (live === undefined ? {} : { live });

/** Starts the newest waiting deployment of a label (undefined: of the live site), unless one of them runs. */
function nextRuns(deployments: Deployment[], label: string | undefined): Deployment[] {
  if (deployments.some((each) => each.label === label && each.status === 'running')) return deployments;
  const next = deployments.findLast((each) => each.label === label && each.status === 'waiting');
  return deployments.map((each) => (each === next ? { ...each, status: 'running' } : each));
}

function ended(deployment: Deployment): Deployment {
  const { status } = deployment;
  if (status === 'live') return { ...deployment, status: 'ended' };
  return status === 'running' || status === 'waiting' ? { ...deployment, status: 'superseded' } : deployment;
}

/** Evicts the oldest inactive deployments beyond the limit. */
function withinLimits(deployments: Deployment[], keptEnded: number = mostEnded): Deployment[] {
  const isActive = ({ status }: Deployment) => status === 'live' || status === 'running' || status === 'waiting';
  const kept = new Set(rollbackTargets(deployments));
  const others = deployments.filter((each) => !isActive(each) && !kept.has(each));
  const dropped = new Set(others.slice(0, Math.max(0, others.length - keptEnded)));
  return deployments.filter((each) => !dropped.has(each));
}

/** The replaced deployments of the live site that a rollback can name, oldest first. Pure. */
export const rollbackTargets = (deployments: readonly Deployment[]): Deployment[] =>
  deployments.filter(({ label, status }) => label === undefined && status === 'replaced').slice(-keptForRollback);

/** The deployments that readers see: the live site and the previews. Pure. */
export const liveDeployments = ({ isOpen, previews, deployments }: SiteState): Deployment[] =>
  isOpen ? deployments.filter(({ status, label }) => status === 'live' && (label === undefined || previews)) : [];
