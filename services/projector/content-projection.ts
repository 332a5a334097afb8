import type { ContentCommit, ContentEvent } from '#shared/aggregates/content/content.ts';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import { contentsKey } from '#shared/interfaces/read-models.ts';
import { auditTrail, entriesOf, type Said } from './audit-trail.ts';
import { commitHandler, type ProjectionSource } from './projection.ts';

/** The content versions of each domain, with the actor of each publication and change. */
export const contentProjection: ProjectionSource<ContentCommit> = {
  name: 'content',
  shape: 3,
  openReader: (bus, generation) => bus.projectionReaders.content(generation),
  into: ({ directoryContents, auditContent, auditContentDays, usageContent }, logs, by) => {
    const trail = auditTrail({ days: auditContentDays, parts: auditContent }, usageContent);
    return commitHandler(
      {
        primary: directoryContents,
        keyOf: ({ data: { state } }) => contentsKey(state.organization, state.domain),
        writeSecondary: async (commit) => trail.add(commit.data.state.organization, contentAuditEntries(commit)),
        finish: () => trail.write(),
      },
      logs.content,
      by,
    );
  },
};

/** Audit entries of a domain's content. A publication under a label makes two entries: the content and the label. Pure. */
export function contentAuditEntries(commit: ContentCommit): AuditEntry[] {
  return entriesOf(commit, (event: ContentEvent): Said[] => {
    const { domain } = event.data;
    if (event.type === 'ContentsEnded') {
      const actor = { kind: 'service' as const, id: commit.source };
      return event.data.contentVersions.map((contentVersion) => ({
        action: 'content.ended',
        domain,
        contentVersion,
        actor,
      }));
    }
    const { contentVersion } = event.data;
    const content = { domain, contentVersion };
    switch (event.type) {
      case 'ContentPublished': {
        const { label, pageCount, sizeBytes, source } = event.data;
        const from = source === undefined ? {} : { source };
        const published: Said = { action: 'content.published', ...content, pageCount, sizeBytes, ...from };
        return label === undefined ? [published] : [published, { action: 'content.labelled', ...content, label }];
      }
      case 'ContentPromoted':
        return [{ action: 'content.promoted', ...content }];
      case 'ContentDeleted':
        return [{ action: 'content.deleted', ...content }];
      case 'LabelRemoved':
        return [{ action: 'content.unlabelled', ...content, label: event.data.label }];
      case 'ContentIndexed':
        return [];
    }
  });
}
