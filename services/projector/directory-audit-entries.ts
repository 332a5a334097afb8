import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import type { ApiKey, DirectoryCommit, DirectoryEvent } from '#shared/contracts/directory-events.ts';
import { entriesOf, type Said, shortened } from './entries-of.ts';

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
