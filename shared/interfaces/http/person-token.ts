import { isIP } from 'node:net';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { organizationId } from '#shared/contracts/identifiers.ts';

/**
 * Roles of people, from the fewest rights to the most: `viewer` reads, `editor` also publishes, exports and deploys, `admin` also manages API keys, and
 * `operator` is the admin of every organization and of the installation.
 */
export const personRoles = ['viewer', 'editor', 'admin', 'operator'] as const;

export type PersonRole = (typeof personRoles)[number];

/** True if a role has the rights of another one. Pure. */
export const hasRole = (role: PersonRole, needed: PersonRole): boolean =>
  personRoles.indexOf(role) >= personRoles.indexOf(needed);

/** Limit of the name of an actor in the logs. */
export const longestPersonName = 100;

const claimsSchema = z.object({
  /** Name of the person for the audit, such as their address. */
  sub: z.string().min(1).max(longestPersonName),
  role: z.enum(personRoles),
  /** Organization that the request is about. Only an operator's request may be about none. */
  organization: organizationId.optional(),
  /** IP address of the person's browser, for the audit. */
  address: z.union([z.ipv4(), z.ipv6()]).optional(),
});

/** A person who signed in, with their rights in one organization, and the address of their browser. */
export type Person = {
  name: string;
  role: PersonRole;
  organization?: string | undefined;
  address?: string | undefined;
};

/** Life of a token: the console makes one for each request. */
const lifeSeconds = 60;
const audience = 'bindery';
const type = 'bindery-person+jwt';

const keyOf = (secret: string): Uint8Array => new TextEncoder().encode(secret);

/**
 * A bearer token (JWT, HS256) with which the console acts for a person for a minute. `secret` is shared with the gateway. `address` may have a zone, as
 * link-local addresses do; other text is left out.
 */
export function signPersonToken(
  secret: string,
  { name, role, organization, address = '' }: Person,
  now: Date,
): Promise<string> {
  const plain = address.replace(/%.*$/, '');
  return new SignJWT({
    role,
    ...(organization !== undefined && { organization }),
    ...(isIP(plain) > 0 && { address: plain }),
  })
    .setProtectedHeader({ alg: 'HS256', typ: type })
    .setSubject(name)
    .setAudience(audience)
    .setIssuedAt(Math.floor(now.getTime() / 1_000))
    .setExpirationTime(Math.floor(now.getTime() / 1_000) + lifeSeconds)
    .sign(keyOf(secret));
}

/** True for text that may be a token of a person. API keys contain no dots. */
export const looksLikePersonToken = (text: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);

/** Tolerance for clock skew between the console and the gateway. */
const clockToleranceSeconds = 60;

/** The person of a token; undefined if it was not signed with this secret, or has expired. */
export async function personOf(secret: string, token: string, now: Date): Promise<Person | undefined> {
  try {
    const { payload } = await jwtVerify(token, keyOf(secret), {
      algorithms: ['HS256'],
      typ: type,
      audience,
      requiredClaims: ['sub', 'iat', 'exp'],
      maxTokenAge: lifeSeconds,
      clockTolerance: clockToleranceSeconds,
      currentDate: now,
    });
    const claims = claimsSchema.safeParse(payload);
    if (!claims.success) return undefined;
    const { sub: name, role, organization, address } = claims.data;
    return role !== 'operator' && organization === undefined ? undefined : { name, role, organization, address };
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
