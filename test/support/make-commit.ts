import {
  type ContentCommit,
  type ContentEvent,
  type ContentState,
  contentAggregate,
} from '#shared/aggregates/content/content.ts';
import {
  type ExportCommit,
  type ExportEvent,
  type ExportEventOf,
  exportJobAggregate,
  type ExportJobState,
} from '#shared/aggregates/export-job/export-job.ts';
import type { SiteViewsRecord } from '#shared/contracts/site-views.ts';
import type { AccessRecord } from '#shared/contracts/export-facts.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import type { StoredCommit } from '#shared/messaging/log/event-log.ts';
import { contentLogSubject, exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import type { ExportPlan } from '#shared/contracts/stored-objects.ts';

/** Key with which projectors of tests anchor histories. */
export const testAuditKey = 'audit-key-of-tests';

/** The request of an export; tests override the fields that matter to them. */
export function exportRequested(
  changes: Partial<ExportEventOf<'ExportRequested'>['data']> = {},
): ExportEventOf<'ExportRequested'> {
  return {
    type: 'ExportRequested',
    version: 1,
    data: {
      jobId: `se_${'a'.repeat(22)}`,
      organization: 'acme',
      organizationPlan: 'enterprise',
      domain: 'docs',
      contentVersion: `cv_${'1'.repeat(32)}`,
      options: { groups: [], deployment: 'cloud', onPageError: 'fail', allowTenantScripts: true },
      requestDigest: '0'.repeat(64),
      ...changes,
    },
  };
}

/** State of a job right after its request, with changes. */
export function exportState(changes: Partial<ExportJobState> = {}): ExportJobState {
  const actor = { kind: 'key' as const, id: 'key_0000000000000000' };
  const state = exportJobAggregate.evolve(undefined, exportRequested(), { time: '2026-03-01T10:00:00.000Z', actor });
  return { ...state, ...changes };
}

/** A commit with this state. Its events do not have to lead to the state unless a test needs that. */
export function exportCommit(
  state: ExportJobState,
  previous?: StoredCommit<ExportCommit>,
  events: ExportEvent[] = [{ type: 'RenderingFinished', version: 1, data: { pageCount: state.pageCount } }],
): ExportCommit {
  const revision = (previous?.commit.revision ?? 0) + 1;
  return nextCommit(exportLogSubject(state.organization, state.jobId), previous, events, state, {
    id: `commit-${state.jobId}-${revision}`,
    source: 'test',
    actor: { kind: 'service', id: 'orchestrator' },
    time: new Date(Date.parse(state.createdAt) + revision * 1000),
    causationId: 'test',
    correlationId: 'test',
  });
}

export function contentCommit(event: ContentEvent, previous?: StoredCommit<ContentCommit>): ContentCommit {
  const { organization, domain } = event.data;
  const time = new Date(Date.parse('2026-03-01T09:00:00.000Z') + (previous?.commit.revision ?? 0) * 1000);
  const state: ContentState = contentAggregate.evolve(previous?.commit.data.state, event, {
    time: time.toISOString(),
    actor: { kind: 'operator', id: 'operator' },
  });
  return nextCommit(contentLogSubject(organization, domain), previous, [event], state, {
    id: `content-${organization}-${domain}-${(previous?.commit.revision ?? 0) + 1}`,
    source: 'test',
    actor: { kind: 'service', id: 'publisher' },
    time,
    causationId: 'test',
    correlationId: 'test',
  });
}

/** The record of a signed link, at ten o'clock by default. */
/** A batch of a host: two views and a search on one day. */
export function siteViewsRecord({
  day = '2026-03-01',
  ...changes
}: Partial<SiteViewsRecord & { day: string }> = {}): SiteViewsRecord {
  const source = 'a'.repeat(16);
  const sequence = changes.sequence ?? 1;
  return {
    ...{ type: 'SitesViewed', version: 1, id: `sv_${source}.${sequence}`, time: `${day}T11:00:00.000Z` },
    ...{ organization: 'acme', source, sequence },
    days: [
      {
        ...{
          domain: 'docs',
          day,
          views: 2,
          paths: [
            ['/', 1],
            ['/guides/x', 1],
          ],
          referred: 1,
        },
        ...{ referrers: [['news.example', 1]], searches: 1, emptySearches: 1, queries: [['install', 1, 1]] },
      },
    ],
    ...changes,
  };
}

export function accessRecord(changes: Partial<AccessRecord> = {}): AccessRecord {
  const time = changes.time ?? '2026-03-01T10:00:00.000Z';
  return {
    type: 'LinkSigned',
    version: 1,
    id: `al_${'0'.repeat(22)}`,
    time,
    organization: 'acme',
    jobId: `se_${'a'.repeat(22)}`,
    domain: 'docs',
    actor: { kind: 'key', id: 'key_0000000000000000' },
    address: '192.0.2.7',
    requestId: `req_${'0'.repeat(22)}`,
    bundleSha256: '0'.repeat(64),
    expiresAt: new Date(Date.parse(time) + 3_600_000).toISOString(),
    ...changes,
  };
}

/** Default caller, as the gateway names it in its calls. */
export const testCaller: Caller = {
  requestId: 'req_1',
  organization: 'acme',
  organizationPlan: 'enterprise',
  domain: 'docs',
  groupTrust: 'claimed',
  trustedGroups: [],
  actor: { kind: 'key', id: 'key_1' },
  address: '192.0.2.1',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
};

/** An export plan around its chunks. */
export function exportPlan(changes: Pick<ExportPlan, 'chunks' | 'closingKey'> & Partial<ExportPlan>): ExportPlan {
  return {
    version: 1,
    organization: 'acme',
    domain: 'docs',
    contentVersion: `cv_${'1'.repeat(32)}`,
    rendererVersion: 'r-0123456789ab',
    deployment: 'cloud',
    onPageError: 'fail',
    allowTenantScripts: true,
    groups: [],
    pageTotal: 0,
    ...changes,
  };
}
