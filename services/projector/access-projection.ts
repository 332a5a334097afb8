import type { AccessRecord } from '#shared/contracts/access-record.ts';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import { accessSubject } from '#shared/subjects/subject-names.ts';
import { auditTrail } from './audit-trail.ts';
import { expireAccess } from './expire-access.ts';
import type { ProjectionSource } from './projection.ts';

/**
 * Who was given a link, from which address. Records have neither revisions nor an order, and their ids say which are there already. They
 * are kept for a limited time, and what is made of them not longer.
 */
export const accessProjection: ProjectionSource<AccessRecord> = {
  name: 'access',
  openReader: (bus, generation) => bus.readers.projectorAccess(generation),
  into: ({ auditAccess, usageAccess }) => {
    const trail = auditTrail(auditAccess, usageAccess);
    return {
      prepare: async () => {},
      one: async (record) => trail.add(record.organization, [accessAuditEntry(record)]),
      finish: () => trail.write(),
    };
  },
  expire: expireAccess,
};

/** Pure. */
export function accessAuditEntry(record: AccessRecord): AuditEntry {
  const { id, time, organization, jobId, domain, actor, address, bundleSha256, expiresAt } = record;
  return {
    id: `${id}.0`,
    time,
    action: 'link.signed',
    actor,
    ...(domain === undefined ? {} : { domain }),
    jobId,
    address,
    sha256: bundleSha256,
    expiresAt,
    commit: { subject: accessSubject(organization, jobId), id },
  };
}
