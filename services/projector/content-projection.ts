import type { ContentCommit } from '#shared/contracts/content-events.ts';
import { contentsKey } from '#shared/contracts/read-model-keys.ts';
import { auditTrail } from './audit-trail.ts';
import { contentAuditEntries } from './content-audit-entries.ts';
import { commitFold } from './fold.ts';
import type { ProjectionSource } from './projection.ts';

/** The content versions of each domain, and who published and changed what. */
export const contentProjection: ProjectionSource<ContentCommit> = {
  name: 'content',
  openReader: (bus, generation) => bus.readers.projectorContent(generation),
  into: ({ directoryContents, auditContent, usageContent }, logs) => {
    const trail = auditTrail(auditContent, usageContent);
    return commitFold(
      {
        primary: directoryContents,
        keyOf: ({ data: { state } }) => contentsKey(state.organization, state.domain),
        toDocument: ({ revision, id, time, data }) => ({ revision, commitId: id, updatedAt: time, state: data.state }),
        writeSecondary: async (commit) => trail.add(commit.data.state.organization, contentAuditEntries(commit)),
        finish: () => trail.write(),
      },
      logs.content,
    );
  },
};
