import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import type { ContentCommit, ContentEvent } from '#shared/contracts/content-events.ts';
import { entriesOf, type Said } from './entries-of.ts';

/** What auditors see of a domain's content. A publication under a label is two things: content came, and the label went to it. Pure. */
export function contentAuditEntries(commit: ContentCommit): AuditEntry[] {
  return entriesOf(commit, (event: ContentEvent): Said[] => {
    const { domain, contentVersion } = event.data;
    const content = { domain, contentVersion };
    switch (event.type) {
      case 'ContentPublished': {
        const { label, pageCount, sizeBytes } = event.data;
        const published: Said = { action: 'content.published', ...content, pageCount, sizeBytes };
        return label === undefined ? [published] : [published, { action: 'content.labelled', ...content, label }];
      }
      case 'ContentPromoted':
        return [{ action: 'content.promoted', ...content }];
      case 'ContentDeleted':
        return [{ action: 'content.deleted', ...content }];
      default:
        return [];
    }
  });
}
