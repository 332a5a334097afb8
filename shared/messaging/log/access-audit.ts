import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import type { AccessRecord } from '#shared/contracts/export-facts.ts';
import { recordAnchorOf } from './head-anchor.ts';
import { accessSubject } from '#shared/messaging/subjects/subject-names.ts';

/**
 * The audit entry that auditors see for a download link. Access records are not chained, so each entry has its own anchor, which covers
 * every field of the record. Pure.
 */
export function accessAuditEntry(record: AccessRecord, auditKey: string): AuditEntry & { anchor: string } {
  const { id, time, organization, jobId, domain, actor, address, requestId, bundleSha256, expiresAt } = record;
  return {
    id: `${id}.0`,
    time,
    action: 'link.signed',
    actor,
    ...(domain === undefined ? {} : { domain }),
    jobId,
    address,
    requestId,
    sha256: bundleSha256,
    expiresAt,
    commit: { subject: accessSubject(organization, jobId), id },
    anchor: recordAnchorOf(auditKey, record),
  };
}
