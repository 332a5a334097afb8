import { expect, test } from 'vitest';
import type { ContentEvent } from '#shared/aggregates/content/content.ts';
import type { DirectoryCommit, DirectoryEvent } from '#shared/aggregates/directory/directory.ts';
import { auditEntrySchema } from '#shared/contracts/audit-entry.ts';
import type { ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import { accessAuditEntry } from '#shared/messaging/log/access-audit.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import {
  accessRecord,
  contentCommit,
  exportCommit,
  exportState,
  testAuditKey,
} from '../../test/support/make-commit.ts';
import { siteAggregate, type SiteEvent, type SiteState } from '#shared/aggregates/site/site.ts';
import { siteAuditEntries } from './site-projection.ts';
import { contentAuditEntries } from './content-projection.ts';
import { directoryAuditEntries } from './directory-projection.ts';
import { exportAuditEntries } from './export-projection.ts';
import { usageOfEntries } from './audit-trail.ts';

const digest = 'd'.repeat(64);
const jobId = exportState().jobId;
const contentVersion = `cv_${'1'.repeat(32)}`;
const content = { organization: 'acme', domain: 'docs', contentVersion };
const orchestrator = { kind: 'service', id: 'orchestrator' };

function requested(replayOf?: string): ExportEvent {
  const { organization, organizationPlan, domain, options, requestDigest } = exportState();
  const data = { jobId, organization, organizationPlan, domain, contentVersion, options, requestDigest };
  return { type: 'ExportRequested', version: 1, data: replayOf === undefined ? data : { ...data, replayOf } };
}
const completed: ExportEvent = {
  type: 'ExportCompleted',
  version: 1,
  data: { bundleKey: 'bundles/x', sizeBytes: 9_000, sha256: digest, manifestSha256: digest },
};
const entriesOfExport = (...events: ExportEvent[]) =>
  exportAuditEntries(exportCommit(exportState({ pageCount: 120, label: 'v2' }), undefined, events));

test('given the request of an export, then who asked for which content of which domain', () => {
  expect(entriesOfExport(requested())).toEqual([
    {
      id: `commit-${jobId}-1.0`,
      time: '2026-03-01T10:00:01.000Z',
      action: 'export.requested',
      actor: orchestrator,
      domain: 'docs',
      jobId,
      contentVersion,
      label: 'v2',
      commit: { subject: `exports.acme.${jobId}.log`, revision: 1, id: `commit-${jobId}-1` },
    },
  ]);
});

test('given a request behind a commit, then which and from where; else the request that started it; a service has none', () => {
  const commit = exportCommit(exportState(), undefined, [requested()]);
  const started = `req_${'1'.repeat(22)}`;
  const request = { id: `req_${'2'.repeat(22)}`, addressHash: digest };
  const from = (changes: Partial<typeof commit>) => exportAuditEntries({ ...commit, ...changes })[0];
  expect(from({ correlationId: started, request })).toMatchObject({ requestId: request.id, addressHash: digest });
  expect(from({ correlationId: started })).toMatchObject({ requestId: started });
  expect(from({ correlationId: started })).not.toHaveProperty('addressHash');
  expect(from({ correlationId: `hk_${'1'.repeat(22)}` })).not.toHaveProperty('requestId');
});

test('given a replay, then it says of which job', () => {
  const original = `se_${'b'.repeat(22)}`;
  expect(entriesOfExport(requested(original))).toMatchObject([{ action: 'export.replayed', replayOf: original }]);
});

test('given its end, then how many pages and bytes, why, or who ended it', () => {
  expect(entriesOfExport(completed)).toMatchObject([
    { action: 'export.completed', pageCount: 120, sizeBytes: 9_000, sha256: digest, actor: orchestrator },
  ]);
  const failed: ExportEvent = {
    type: 'ExportFailed',
    version: 1,
    data: { error: `The page guides/x ${'and another '.repeat(100)}`, failedPageCount: 101 },
  };
  const [failure] = entriesOfExport(failed);
  expect(failure?.error).toMatch(/^The page guides\/x .*…$/);
  expect(failure?.error?.length).toBeLessThanOrEqual(200);
  const cancelled = (cancelledBy: string): ExportEvent => ({
    type: 'ExportCancelled',
    version: 1,
    data: { cancelledBy },
  });
  expect(entriesOfExport(cancelled('key_abcdefghijklmnop'))).toMatchObject([
    { action: 'export.cancelled', actor: { kind: 'key', id: 'key_abcdefghijklmnop' } },
  ]);
  expect(entriesOfExport(cancelled('orchestrator'))).toMatchObject([{ actor: { kind: 'service' } }]);
});

test('given work in between, then auditors see nothing of it', () => {
  expect(entriesOfExport({ type: 'RenderingFinished', version: 1, data: { pageCount: 3 } })).toEqual([]);
});

test('given several events in one commit, then an entry each, told apart by its id', () => {
  const ids = entriesOfExport(requested(), completed).map(({ id }) => id);
  expect(ids).toEqual([`commit-${jobId}-1.0`, `commit-${jobId}-1.1`]);
});

test.each<[ContentEvent['type'], object, string[]]>([
  ['ContentPublished', { pageCount: 3, fileCount: 5, sizeBytes: 900 }, ['content.published']],
  [
    'ContentPublished',
    { pageCount: 3, fileCount: 5, sizeBytes: 900, label: 'v1' },
    ['content.published', 'content.labelled'],
  ],
  ['ContentPromoted', {}, ['content.promoted']],
  ['ContentDeleted', {}, ['content.deleted']],
  ['LabelRemoved', { label: 'v1' }, ['content.unlabelled']],
  ['ContentIndexed', { passageCount: 7 }, []],
])('given %s %o, then %j', (type, more, actions) => {
  const commit = contentCommit({ type, version: 1, data: { ...content, ...more } } as ContentEvent);
  const entries = contentAuditEntries(commit);
  expect(entries.map(({ action }) => action)).toEqual(actions);
  for (const entry of entries)
    expect(entry).toMatchObject({ domain: 'docs', contentVersion, actor: { id: 'publisher' } });
  expect(entries.find(({ action }) => action === 'content.labelled')?.label).toBe(
    actions.includes('content.labelled') ? 'v1' : undefined,
  );
});

const key = (id: string, name = '') => ({
  id: `key_${id.repeat(16)}`,
  kind: 'admin' as const,
  name,
  sha256: digest,
  scopes: ['read' as const],
  allowedAddresses: [],
  allowedOrigins: [],
  createdAt: '2026-03-01T10:00:00.000Z',
});

function directoryCommit(...events: DirectoryEvent[]): DirectoryCommit {
  const state = {
    organization: 'acme',
    name: 'Acme',
    plan: 'pro' as const,
    createdAt: key('a').createdAt,
    domains: [],
    keys: [],
  };
  return nextCommit('directory.acme.log', undefined, events, state, {
    id: 'dc_1',
    source: 'gateway',
    actor: { kind: 'operator', id: 'operator' },
    time: new Date('2026-03-01T10:00:00.000Z'),
    causationId: 'test',
    correlationId: 'test',
  });
}

test('given changes of an organization, then keys by their ids, and never what they are hashed to', () => {
  const organization = 'acme';
  const entries = directoryAuditEntries(
    directoryCommit(
      { type: 'OrganizationCreated', version: 1, data: { organization, name: 'Acme', plan: 'pro' } },
      { type: 'OrganizationChanged', version: 1, data: { organization, name: 'Acme', plan: 'enterprise' } },
      {
        type: 'DomainAdded',
        version: 1,
        data: { organization, domain: { slug: 'docs', hosts: [], groups: 'claimed' } },
      },
      { type: 'ApiKeyCreated', version: 1, data: { organization, key: key('a', 'CI') } },
      {
        type: 'ApiKeyRotated',
        version: 1,
        data: { organization, oldKeyId: key('a').id, oldExpiresAt: '2026-03-02T10:00:00.000Z', key: key('b') },
      },
      { type: 'ApiKeyRevoked', version: 1, data: { organization, keyId: key('b').id } },
      {
        type: 'ApiKeysForgotten',
        version: 1,
        data: { organization, keys: [{ id: key('b').id, sha256: digest, endedAt: '2026-03-02T10:00:00.000Z' }] },
      },
    ),
  );
  expect(entries).toMatchObject([
    { action: 'organization.created', plan: 'pro', actor: { kind: 'operator' } },
    { action: 'organization.changed', plan: 'enterprise' },
    { action: 'domain.added', domain: 'docs' },
    { action: 'key.created', keyId: key('a').id, name: 'CI', kind: 'admin' },
    { action: 'key.rotated', keyId: key('b').id, oldKeyId: key('a').id, expiresAt: '2026-03-02T10:00:00.000Z' },
    { action: 'key.revoked', keyId: key('b').id },
  ]);
  expect(JSON.stringify(entries)).not.toContain(digest);
  for (const entry of entries) expect(() => auditEntrySchema.parse(entry)).not.toThrow();
});

test('given a link, then to whom, from which address, for what and until when', () => {
  const record = accessRecord({ jobId });
  expect(accessAuditEntry(record, testAuditKey)).toEqual({
    id: `${record.id}.0`,
    time: record.time,
    action: 'link.signed',
    actor: record.actor,
    domain: 'docs',
    jobId,
    address: '192.0.2.7',
    requestId: `req_${'0'.repeat(22)}`,
    sha256: record.bundleSha256,
    expiresAt: record.expiresAt,
    commit: { subject: `access.acme.${jobId}`, id: record.id },
    anchor: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('usage counts what entries say, and leaves out what is none', () => {
  const published = contentCommit({
    type: 'ContentPublished',
    version: 1,
    data: { ...content, pageCount: 3, fileCount: 5, sizeBytes: 900, label: 'v1' },
  });
  expect(
    usageOfEntries([
      ...entriesOfExport(requested(), completed),
      ...entriesOfExport(requested('se_x')),
      ...contentAuditEntries(published),
      accessAuditEntry(accessRecord({ jobId }), testAuditKey),
    ]),
  ).toEqual({
    exportsStarted: 2,
    exportsReplayed: 1,
    exportsCompleted: 1,
    pagesExported: 120,
    bundleBytes: 9_000,
    publications: 1,
    pagesPublished: 3,
    publishedBytes: 900,
    linksSigned: 1,
  });
  expect(usageOfEntries([])).toEqual({});
});

test('given the events of a site, then an entry for each, and one for a rollback', () => {
  const site = { organization: 'acme', domain: 'docs' };
  const requested = (deployment: number, cause: 'published' | 'labelled' | 'rolled-back'): SiteEvent => ({
    type: 'DeploymentRequested',
    version: 1,
    data: { ...site, deployment, contentVersion, jobId, cause, ...(cause === 'labelled' ? { label: 'pr-1' } : {}) },
  });
  const live = (deployment: number): SiteEvent => ({
    type: 'DeploymentLive',
    version: 1,
    data: { ...site, deployment, sha256: digest, sizeBytes: 9 },
  });
  const failed: SiteEvent = { type: 'DeploymentFailed', version: 1, data: { ...site, deployment: 2, error: 'No.' } };
  const settings = { name: 'docs', hosts: [], previews: true, organizationPlan: 'pro' as const };
  const hash = `scrypt:15:8:1:${'a'.repeat(22)}:${'b'.repeat(43)}`;
  const login = { kind: 'password' as const, protects: 'previews' as const, users: [{ name: 'anna', hash }] };
  const events: SiteEvent[] = [
    { type: 'SiteOpened', version: 1, data: { ...site, ...settings } },
    { type: 'SiteOpened', version: 1, data: { ...site, ...settings, login } },
    requested(1, 'published'),
    live(1),
    requested(2, 'labelled'),
    failed,
    requested(3, 'rolled-back'),
    live(3),
    { type: 'PreviewEnded', version: 1, data: { ...site, label: 'pr-1' } },
    { type: 'SiteClosed', version: 1, data: site },
  ];
  const actor = { kind: 'service' as const, id: 'deployer' };
  const time = '2026-03-01T10:00:00.000Z';
  let state: SiteState | undefined;
  for (const event of events) state = siteAggregate.evolve(state, event, { time, actor });
  if (state === undefined) throw new Error('The site has no state.');
  const entries = siteAuditEntries(
    nextCommit('sites.acme.docs.log', undefined, events, state, {
      ...{ id: 'sc_1', source: 'deployer', actor, time: new Date(time), causationId: 'c', correlationId: 'c' },
    }),
  );
  expect(entries.map((entry) => auditEntrySchema.parse(entry))).toEqual(entries);
  expect(entries.map(({ action, deployment, label }) => [action, deployment, label])).toEqual([
    ['site.opened', undefined, undefined],
    ['site.opened', undefined, undefined],
    ['deployment.requested', 1, undefined],
    ['deployment.live', 1, undefined],
    ['deployment.requested', 2, 'pr-1'],
    ['deployment.failed', 2, 'pr-1'],
    ['deployment.rolled-back', 3, undefined],
    ['preview.ended', undefined, 'pr-1'],
    ['site.closed', undefined, undefined],
  ]);
  expect(entries[5]).toMatchObject({ error: 'No.', jobId, contentVersion });
  expect(entries[0]).not.toHaveProperty('login');
  expect(entries[1]).toMatchObject({ login: 'password', protects: 'previews' });
  expect(JSON.stringify(entries)).not.toContain('scrypt');
});
