import { createHmac } from 'node:crypto';
import { isSameSecret } from '#shared/runtime/same-secret.ts';

/** Path of links to objects of the folder store, below the gateway's public address. */
const folderLinkPath = '/_objects/';

/** The fields of a link, all covered by its signature. */
export type FolderLink = { key: string; expires: number; fileName: string; contentType: string };

/** HMAC-SHA-256 over all fields of the link, as base64url. */
function folderLinkSignature(link: FolderLink, signingKey: string): string {
  // The fields are joined as JSON, so that no value can run into the next one.
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

export type VerifiedFolderLink = { key: string; fileName: string; contentType: string };

/**
 * Checks a link that the folder store signed. `url` is the request's, whole or only path and query; the part before `/_objects/` does not
 * matter. A link is 'invalid' if it was not signed with this key, and 'expired' if it was but has ended at `now`.
 */
export function verifyFolderLink(
  url: string | URL,
  signingKey: string,
  now: Date,
): VerifiedFolderLink | 'expired' | 'invalid' {
  const address = URL.parse(String(url), 'http://gateway');
  if (address === null) return 'invalid';
  const { pathname, searchParams } = address;
  const at = pathname.indexOf(folderLinkPath);
  const key = at < 0 ? undefined : decoded(pathname.slice(at + folderLinkPath.length));
  const [expires, fileName, contentType, signature] = ['expires', 'name', 'type', 'signature'].map((name) =>
    searchParams.get(name),
  );
  if (key === undefined || !expires || fileName == null || contentType == null || !signature) return 'invalid';
  if (!/^[0-9]{1,12}$/.test(expires)) return 'invalid';
  const expected = folderLinkSignature({ key, expires: Number(expires), fileName, contentType }, signingKey);
  if (!isSameSecret(signature, expected)) return 'invalid';
  if (now.getTime() >= Number(expires) * 1000) return 'expired';
  return { key, fileName, contentType };
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
