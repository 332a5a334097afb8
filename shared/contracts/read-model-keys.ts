/**
 * Keys of read-model documents, as the stores of the bus take them. The bucket `directory` holds three kinds, which the bus tells apart
 * by a prefix of its own (`org.`, `key.`, `content.`); `audit` and `usage` hold one for each source, told apart the same way.
 */
export const jobStatusKey = (organization: string, jobId: string): string => `${organization}.${jobId}`;
/** `createdAt` as in the log; the day is UTC. */
export const jobListKey = (organization: string, createdAt: string): string =>
  `${organization}.${createdAt.slice(0, 10)}`;
export const organizationKey = (organization: string): string => organization;
export const apiKeyKey = (sha256: string): string => sha256;
export const contentsKey = (organization: string, domain: string): string => `${organization}.${domain}`;
/** `day` is a date in UTC; parts count from 0. */
export const auditKey = (organization: string, day: string, part: number): string => `${organization}.${day}.${part}`;
/** `month` is `yyyy-mm`, in UTC. */
export const usageKey = (organization: string, month: string): string => `${organization}.${month}`;
