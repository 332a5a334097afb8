/** Keys of read-model documents, in the buckets that `read-model-documents.ts` names. */
export const jobStatusKey = (organization: string, jobId: string): string => `${organization}.${jobId}`;
/** `createdAt` as in the log; the day is UTC. */
export const jobListKey = (organization: string, createdAt: string): string =>
  `${organization}.${createdAt.slice(0, 10)}`;
export const organizationKey = (organization: string): string => `org.${organization}`;
export const apiKeyKey = (sha256: string): string => `key.${sha256}`;
export const contentsKey = (organization: string, domain: string): string => `content.${organization}.${domain}`;
