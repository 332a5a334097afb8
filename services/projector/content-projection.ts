import type { ContentCommit } from '#shared/contracts/content-events.ts';
import type { ContentDocument } from '#shared/contracts/read-model-documents.ts';
import { contentsKey } from '#shared/contracts/read-model-keys.ts';
import type { ProjectionSource } from './projection.ts';

/** The content versions of each domain. */
export const contentProjection: ProjectionSource<ContentCommit, ContentDocument> = {
  name: 'content',
  openReader: (bus, generation) => bus.readers.projectorContent(generation),
  log: (bus) => bus.content,
  into: ({ directoryContents }) => ({
    primary: directoryContents,
    keyOf: ({ data: { state } }) => contentsKey(state.organization, state.domain),
    toDocument: ({ revision, id, time, data }) => ({ revision, commitId: id, updatedAt: time, state: data.state }),
    writeSecondary: async () => {},
  }),
};
