/** Where a domain's content is in the object store. Files are stored once for all domains and versions of an organization. */
export const blobKey = (organization: string, sha256: string): string => `blobs/${organization}/${sha256}`;
export const siteModelKey = (organization: string, domain: string, contentVersion: string): string =>
  `contents/${organization}/${domain}/${contentVersion}/site-model.json`;
