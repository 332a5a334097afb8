import type { ProjectionName } from '#shared/contracts/projection-pointer.ts';
import type {
  AuditDocument,
  ContentDocument,
  JobListDocument,
  JobStatusDocument,
  KeyDocument,
  OrganizationDocument,
  UsageDocument,
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
  auditExports: DocumentStore<AuditDocument>;
  auditContent: DocumentStore<AuditDocument>;
  auditDirectory: DocumentStore<AuditDocument>;
  auditAccess: DocumentStore<AuditDocument>;
  usageExports: DocumentStore<UsageDocument>;
  usageContent: DocumentStore<UsageDocument>;
  usageAccess: DocumentStore<UsageDocument>;
};

/**
 * Which stores belong to which projection, in the order of writing. The last one says which revisions have been folded, where a log has
 * revisions; what is counted is written after what it is counted from.
 */
export const storesOf = {
  exports: ['auditExports', 'usageExports', 'jobList', 'jobStatus'],
  content: ['auditContent', 'usageContent', 'directoryContents'],
  directory: ['auditDirectory', 'directoryKeys', 'directoryOrganizations'],
  access: ['auditAccess', 'usageAccess'],
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
    auditExports: store('exports', (models) => models.auditExports),
    auditContent: store('content', (models) => models.auditContent),
    auditDirectory: store('directory', (models) => models.auditDirectory),
    auditAccess: store('access', (models) => models.auditAccess),
    usageExports: store('exports', (models) => models.usageExports),
    usageContent: store('content', (models) => models.usageContent),
    usageAccess: store('access', (models) => models.usageAccess),
  };
}
