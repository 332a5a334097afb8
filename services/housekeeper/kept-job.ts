/** What an export job needs of the object store for as long as it is kept. */
export type KeptJob = {
  domain: string;
  contentVersion: string;
  /** Once it is planned. */
  planHash?: string | undefined;
  /** Key of the object with the pages that the request named, if it named any. */
  selectionKey?: string | undefined;
};

/**
 * The jobs of an organization that are kept: those that have not ended, or not before `endedSince`. Read from where the job was decided,
 * never from a read model: what is missing here is deleted. Rejects when it cannot tell.
 */
export type KeptJobs = (organization: string, endedSince: Date, signal: AbortSignal) => AsyncIterable<KeptJob>;
