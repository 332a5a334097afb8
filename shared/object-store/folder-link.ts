import { createHmac } from 'node:crypto';

/** Path, below the gateway's public address, of links to objects of the folder store. */
export const folderLinkPath = '/_objects/';

/** What a link says, and its signature covers. */
export type FolderLink = { key: string; expires: number; fileName: string; contentType: string };

/** HMAC-SHA-256 over all of the link, base64url. */
export function folderLinkSignature(link: FolderLink, signingKey: string): string {
  // As JSON, so that no value can run over into the next.
  const text = JSON.stringify([link.key, link.expires, link.fileName, link.contentType]);
  return createHmac('sha256', signingKey).update(text).digest('base64url');
}

/** The link as a URL below `publicBaseUrl`. */
export function folderLinkUrl(link: FolderLink, publicBaseUrl: string, signingKey: string): string {
  const path = link.key.split('/').map(encodeURIComponent).join('/');
  const query = new URLSearchParams({
    expires: String(link.expires),
    name: link.fileName,
    type: link.contentType,
    signature: folderLinkSignature(link, signingKey),
  });
  return `${publicBaseUrl.replace(/\/+$/, '')}${folderLinkPath}${path}?${query.toString()}`;
}
