import type { ApiKey, DirectoryCommit, DirectoryEvent } from '#shared/aggregates/directory/directory.ts';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import { apiKeyKey, type KeyDocument, organizationKey } from '#shared/interfaces/read-models.ts';
import { auditTrail, entriesOf, type Said, shortened } from './audit-trail.ts';
import { commitHandler, type ProjectionSource, updateDocument } from './projection.ts';

/** The organizations, the rights of each API key (under the key's hash), and the audit entries of their changes. */
export const directoryProjection: ProjectionSource<DirectoryCommit> = {
  name: 'directory',
  shape: 3,
  openReader: (bus, generation) => bus.projectionReaders.directory(generation),
  into: ({ directoryOrganizations, directoryKeys, auditDirectory, auditDirectoryDays }, logs, by) => {
    const trail = auditTrail({ days: auditDirectoryDays, parts: auditDirectory });
    return commitHandler(
      {
        primary: directoryOrganizations,
        keyOf: ({ data: { state } }) => organizationKey(state.organization),
        async writeSecondary(commit, lost) {
          trail.add(commit.data.state.organization, directoryAuditEntries(commit));
          for (const key of lost === undefined ? touchedKeys(commit) : keysAfterLoss(commit, lost)) {
            // An older state never replaces a newer one, because that could restore a revoked key.
            await updateDocument(directoryKeys, apiKeyKey(key.sha256), (known) => {
              const isKnown = known !== undefined && known.revision >= commit.revision;
              if (lost === undefined) return isKnown ? undefined : keyDocument(commit, key);
              // The state has no keys that were forgotten in a lost commit, so their end is taken from the document.
              const revokedAt = key.revokedAt ?? known?.key.revokedAt;
              return keyDocument(commit, revokedAt === undefined ? key : { ...key, revokedAt });
            });
          }
          for (const { sha256, endedAt } of forgottenKeys(commit))
            await updateDocument(directoryKeys, apiKeyKey(sha256), (known) => withEnd(known, endedAt));
        },
        finish: () => trail.write(),
      },
      logs.directory,
      by,
    );
  },
};

/** Keys whose documents change with this commit: changes of the organization concern all of its keys. Pure. */
function touchedKeys({ data: { events, state } }: DirectoryCommit): ApiKey[] {
  const ids = new Set<string>();
  for (const event of events) {
    switch (event.type) {
      case 'OrganizationCreated':
      case 'OrganizationChanged':
      case 'DomainAdded':
        return state.keys;
      case 'ApiKeyCreated':
        ids.add(event.data.key.id);
        break;
      case 'ApiKeyRevoked':
        ids.add(event.data.keyId);
        break;
      case 'ApiKeysForgotten':
        break;
      case 'ApiKeyRotated':
        ids.add(event.data.oldKeyId).add(event.data.key.id);
    }
  }
  return state.keys.filter((key) => ids.has(key.id));
}

const forgottenKeys = ({ data }: DirectoryCommit) =>
  data.events.flatMap((event) => (event.type === 'ApiKeysForgotten' ? event.data.keys : []));

/** The document of a forgotten key, which no later commit changes: it must say that the key has ended. Undefined if it does. Pure. */
function withEnd(known: KeyDocument | undefined, endedAt: string): KeyDocument | undefined {
  if (known === undefined) return undefined;
  const { revokedAt, expiresAt } = known.key;
  const isEnded = revokedAt !== undefined || (expiresAt !== undefined && Date.parse(expiresAt) <= Date.parse(endedAt));
  return isEnded ? undefined : { ...known, key: { ...known.key, revokedAt: endedAt } };
}

/**
 * All keys, after the log has lost commits: a key that it no longer knows is revoked. A key that was revoked in a lost commit stays revoked until a later
 * commit writes its document again. Pure.
 */
function keysAfterLoss({ time, data: { state } }: DirectoryCommit, lost: DirectoryCommit['data']['state']): ApiKey[] {
  const before = new Map(lost.keys.map((key) => [key.id, key]));
  const kept = state.keys.map((key): ApiKey => {
    const revokedAt = key.revokedAt ?? before.get(key.id)?.revokedAt;
    return revokedAt === undefined ? key : { ...key, revokedAt };
  });
  const ids = new Set(state.keys.map(({ id }) => id));
  const gone = lost.keys.filter(({ id }) => !ids.has(id)).map((key) => ({ ...key, revokedAt: key.revokedAt ?? time }));
  return [...kept, ...gone];
}

function keyDocument(commit: DirectoryCommit, key: ApiKey): KeyDocument {
  const { organization, plan, domains } = commit.data.state;
  const { revision, id, time } = commit;
  return { revision, commitId: id, updatedAt: time, organization, organizationPlan: plan, domains, key };
}

/** Audit entries of an organization, its domains and its API keys. Pure. */
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
      // The audit trail has the end of each of these keys already.
      case 'ApiKeysForgotten':
        return [];
    }
  });
}

const aboutKey = ({ id, kind, name }: ApiKey) => ({ keyId: id, kind, ...(name === '' ? {} : { name }) });
