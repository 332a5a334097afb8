import { z } from 'zod';
import { hostName } from '#shared/contracts/identifiers.ts';
import { ApiError } from '#shared/http/errors.ts';
import { passwordHash } from '#shared/http/password-hash.ts';

/** Sites that a login protects: the live site and its previews, or its previews alone. */
export const protectedSites = ['all', 'previews'] as const;

/** Name with which a reader logs in. It has no colon, because a colon ends the name in the header of RFC 7617. */
export const readerName = z
  .string()
  .regex(/^[A-Za-z0-9._@+-]{1,100}$/, 'must be 1 to 100 letters, digits and . _ @ + - without spaces');
export const readerGroup = z.string().trim().min(1).max(200);
export const emailDomain = hostName;

/** Limit of the names of a login. Hashing the password of each takes time in one request. Larger groups of readers use an OIDC provider. */
export const mostReaders = 50;
export const mostRules = 50;

const protects = z.enum(protectedSites);

/** The login that readers of a site need. A state without one is open to everybody. */
export const siteLoginSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('password'),
    protects,
    users: z.array(z.object({ name: readerName, hash: passwordHash })).min(1),
  }),
  /**
   * Readers are in one of the groups, or own a verified address in one of the domains. Without groups and domains, every account of the provider may
   * read.
   */
  z.object({
    kind: z.literal('oidc'),
    protects,
    groups: z.array(readerGroup),
    emailDomains: z.array(emailDomain),
  }),
]);

export type SiteLogin = z.infer<typeof siteLoginSchema>;

/** A wanted login. A user without a hash keeps the stored one. */
export type WantedLogin =
  | { kind: 'none' }
  | { kind: 'password'; protects: SiteLogin['protects']; users: readonly { name: string; hash?: string | undefined }[] }
  | Extract<SiteLogin, { kind: 'oidc' }>;

/**
 * The login of a site after a command. Without a wanted login the stored one stays, so that a client of an earlier version does not remove it. Throws
 * `invalid_request` for a user without a password, stored or sent. Pure.
 */
export function nextLogin(stored: SiteLogin | undefined, wanted: WantedLogin | undefined): SiteLogin | undefined {
  if (wanted === undefined) return stored;
  if (wanted.kind === 'none') return undefined;
  if (wanted.kind === 'oidc') return wanted;
  const users = wanted.users.map(({ name, hash = storedHash(stored, name) }, index) => {
    if (hash !== undefined) return { name, hash };
    const path = `login.users.${index}.password`;
    const message = `is missing: "${name}" has no password yet`;
    throw new ApiError('invalid_request', `The field "${path}" ${message}.`, { fields: [{ path, message }] });
  });
  return { kind: 'password', protects: wanted.protects, users };
}

/** The stored hash of a user's password. Pure. */
export const storedHash = (stored: SiteLogin | undefined, name: string): string | undefined =>
  stored?.kind === 'password' ? stored.users.find((each) => each.name === name)?.hash : undefined;

/** The login in front of the live site, or of its previews; undefined if everybody may read. Pure. */
export const loginInFront = (login: SiteLogin | undefined, isPreview: boolean): SiteLogin | undefined =>
  login === undefined || (login.protects === 'previews' && !isPreview) ? undefined : login;
