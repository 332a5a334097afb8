import { timingSafeEqual } from 'node:crypto';
import { folderLinkPath, folderLinkSignature } from './folder-link.ts';

export type VerifiedFolderLink = { key: string; fileName: string; contentType: string };

/**
 * Checks a link that the folder store signed. `url` is the request's, whole or just path and query; what is in front of `/_objects/`
 * does not matter. 'invalid' is whatever was not signed with this key, 'expired' what was and is over at `now`.
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
  if (!sameText(signature, expected)) return 'invalid';
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

/** Takes the same time wherever the two differ. */
function sameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
