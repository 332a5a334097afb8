import type { ProjectionName } from '#shared/contracts/projection-pointer.ts';
import type {
  ContentDocument,
  JobListDocument,
  JobStatusDocument,
  KeyDocument,
  OrganizationDocument,
} from '#shared/contracts/read-model-documents.ts';
import type { DocumentStore } from './document-store.ts';
import { type Generation } from './generation.ts';
import { liveStore } from './live-store.ts';
import type { Pointers } from './pointers.ts';

/** The stores that projections fill, of one generation or of whichever is read. */
export type ReadModels = {
  jobStatus: DocumentStore<JobStatusDocument>;
  jobList: DocumentStore<JobListDocument>;
  directoryOrganizations: DocumentStore<OrganizationDocument>;
  directoryKeys: DocumentStore<KeyDocument>;
  directoryContents: DocumentStore<ContentDocument>;
};

/** Which stores belong to which projection; the last one says which revisions have been folded, so it is written last. */
export const storesOf = {
  exports: ['jobList', 'jobStatus'],
  content: ['directoryContents'],
  directory: ['directoryKeys', 'directoryOrganizations'],
} as const satisfies Record<ProjectionName, readonly (keyof ReadModels)[]>;

/** The read models that are read now. */
export function liveReadModels(pointers: Pointers, { blue, green }: Record<Generation, ReadModels>): ReadModels {
  const store = <T>(projection: ProjectionName, of: (models: ReadModels) => DocumentStore<T>) =>
    liveStore(pointers, projection, { blue: of(blue), green: of(green) });
  return {
    jobStatus: store('exports', (models) => models.jobStatus),
    jobList: store('exports', (models) => models.jobList),
    directoryOrganizations: store('directory', (models) => models.directoryOrganizations),
    directoryKeys: store('directory', (models) => models.directoryKeys),
    directoryContents: store('content', (models) => models.directoryContents),
  };
}
