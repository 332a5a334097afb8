import type { ContentCommit } from '#shared/contracts/content-events.ts';
import type { ContentDocument } from '#shared/contracts/read-model-documents.ts';
import { contentsKey } from '#shared/contracts/read-model-keys.ts';
import type { DocumentStore } from '#shared/read-model/document-store.ts';
import type { Projection } from './projection.ts';

/** The content versions of each domain. */
export function contentProjection(
  contents: DocumentStore<ContentDocument>,
): Projection<ContentCommit, ContentDocument> {
  return {
    name: 'content',
    stream: 'CONTENT',
    primary: contents,
    keyOf: ({ data: { state } }) => contentsKey(state.organization, state.domain),
    toDocument: ({ revision, id, time, data }) => ({ revision, commitId: id, updatedAt: time, state: data.state }),
    writeSecondary: async () => {},
  };
}
