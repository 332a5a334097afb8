/** Where a job is in the public interface. Pure. */
export const jobPath = (jobId: string): string => `/v1/static-export/jobs/${encodeURIComponent(jobId)}`;
