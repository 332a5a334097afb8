/**
 * Keys of read-model documents, as the stores of the bus take them. The bucket `directory` holds three kinds, which the bus tells apart
 * by a prefix of its own (`org.`, `key.`, `content.`).
 */
export const jobStatusKey = (organization: string, jobId: string): string => `${organization}.${jobId}`;
/** `createdAt` as in the log; the day is UTC. */
export const jobListKey = (organization: string, createdAt: string): string =>
  `${organization}.${createdAt.slice(0, 10)}`;
export const organizationKey = (organization: string): string => organization;
export const apiKeyKey = (sha256: string): string => sha256;
export const contentsKey = (organization: string, domain: string): string => `${organization}.${domain}`;
