import type { Actor } from '#shared/contracts/actor.ts';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import type { ExportCommit } from '#shared/contracts/export-commit.ts';
import type { ExportEvent } from '#shared/contracts/export-events.ts';
import { entriesOf, shortened, type Said } from './entries-of.ts';

/** What auditors see of a job: its request and its end. Pure. */
export function exportAuditEntries(commit: ExportCommit): AuditEntry[] {
  const { jobId, domain, contentVersion, label, pageCount } = commit.data.state;
  const job = { jobId, domain, contentVersion, ...(label === undefined ? {} : { label }) };
  return entriesOf(commit, (event: ExportEvent): Said[] => {
    switch (event.type) {
      case 'ExportRequested': {
        const { replayOf } = event.data;
        return replayOf === undefined
          ? [{ action: 'export.requested', ...job }]
          : [{ action: 'export.replayed', ...job, replayOf }];
      }
      case 'ExportCompleted': {
        const { sizeBytes, sha256 } = event.data;
        return [{ action: 'export.completed', ...job, pageCount, sizeBytes, sha256 }];
      }
      case 'ExportFailed':
        return [{ action: 'export.failed', ...job, error: shortened(event.data.error) }];
      case 'ExportCancelled':
        return [{ action: 'export.cancelled', ...job, actor: whoCancelled(event.data.cancelledBy) }];
      default:
        return [];
    }
  });
}

/** The orchestrator commits what a caller asked for; who that was, the event says by id alone. */
const whoCancelled = (id: string): Actor => ({ kind: id.startsWith('key_') ? 'key' : 'service', id });
