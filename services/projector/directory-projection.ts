import type { ApiKey, DirectoryCommit, DirectoryEvent } from '#shared/aggregates/directory/directory.ts';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import { apiKeyKey, type KeyDocument, organizationKey } from '#shared/contracts/read-models.ts';
import { auditTrail, entriesOf, type Said, shortened } from './audit-trail.ts';
import { commitFold, type ProjectionSource, type Store } from './projection.ts';

/** Organizations, under the hash of each API key all that is needed to let a request in, and who changed what of them. */
export const directoryProjection: ProjectionSource<DirectoryCommit> = {
  name: 'directory',
  openReader: (bus, generation) => bus.projectionReaders.directory(generation),
  into: ({ directoryOrganizations, directoryKeys, auditDirectory }, logs) => {
    const trail = auditTrail(auditDirectory);
    return commitFold(
      {
        primary: directoryOrganizations,
        keyOf: ({ data: { state } }) => organizationKey(state.organization),
        toDocument: ({ revision, id, time, data }) => ({ revision, commitId: id, updatedAt: time, state: data.state }),
        async writeSecondary(commit) {
          trail.add(commit.data.state.organization, directoryAuditEntries(commit));
          for (const key of touchedKeys(commit)) await writeKey(directoryKeys, commit, key);
        },
        finish: () => trail.write(),
      },
      logs.directory,
    );
  },
};

/** Keys whose document says something else after this commit: what concerns the organization concerns all of its keys. Pure. */
export function touchedKeys({ data: { events, state } }: DirectoryCommit): ApiKey[] {
  const ids = new Set<string>();
  for (const event of events) {
    if (event.type === 'ApiKeyCreated') ids.add(event.data.key.id);
    else if (event.type === 'ApiKeyRevoked') ids.add(event.data.keyId);
    else if (event.type === 'ApiKeyRotated') ids.add(event.data.oldKeyId).add(event.data.key.id);
    else return state.keys;
  }
  return state.keys.filter((key) => ids.has(key.id));
}

/** Never puts an older state over a newer one: that could bring a revoked key back. */
async function writeKey(store: Store<KeyDocument>, commit: DirectoryCommit, key: ApiKey): Promise<void> {
  const { organization, plan, domains } = commit.data.state;
  const document: KeyDocument = {
    revision: commit.revision,
    commitId: commit.id,
    updatedAt: commit.time,
    organization,
    organizationPlan: plan,
    domains,
    key,
  };
  for (;;) {
    const stored = await store.get(apiKeyKey(key.sha256), { fromLeader: true });
    if (stored !== undefined && stored.document.revision >= commit.revision) return;
    const written = await store.put(apiKeyKey(key.sha256), document, { expectedRevision: stored?.revision ?? 0 });
    if (written !== undefined) return;
  }
}

/** What auditors see of an organization, its domains and its API keys. Pure. */
export function directoryAuditEntries(commit: DirectoryCommit): AuditEntry[] {
  return entriesOf(commit, (event: DirectoryEvent): Said[] => {
    switch (event.type) {
      case 'OrganizationCreated':
      case 'OrganizationChanged': {
        const { name, plan } = event.data;
        const action = event.type === 'OrganizationCreated' ? 'organization.created' : 'organization.changed';
        return [{ action, name: shortened(name), plan }];
      }
      case 'DomainAdded':
        return [{ action: 'domain.added', domain: event.data.domain.slug }];
      case 'ApiKeyCreated':
        return [{ action: 'key.created', ...aboutKey(event.data.key) }];
      case 'ApiKeyRotated': {
        const { key, oldKeyId, oldExpiresAt } = event.data;
        return [{ action: 'key.rotated', ...aboutKey(key), oldKeyId, expiresAt: oldExpiresAt }];
      }
      case 'ApiKeyRevoked':
        return [{ action: 'key.revoked', keyId: event.data.keyId }];
    }
  });
}

const aboutKey = ({ id, kind, name }: ApiKey) => ({ keyId: id, kind, ...(name === '' ? {} : { name }) });
