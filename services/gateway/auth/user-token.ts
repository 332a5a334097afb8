import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify, type JWTVerifyOptions } from 'jose';
import { z } from 'zod';
import type { DomainEntry } from '#shared/aggregates/directory/directory.ts';
import type { Caller } from '#shared/interfaces/internal/caller.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { Principal } from './authenticate.ts';

/**
 * The groups that count for a request. In a `claimed` domain they are the groups that the request names. In a `signed` domain they are the groups in
 * its `X-User-Token`; without a token, a request with an admin key may name groups, and any other has none. Throws `invalid_request` for an invalid
 * token.
 */
export async function trustedGroupsOf(
  domain: DomainEntry,
  { key }: Pick<Principal, 'key'>,
  token: string | undefined,
  now: Date,
): Promise<Caller['trustedGroups']> {
  if (domain.groups === 'claimed') return 'named';
  if (token !== undefined) return await groupsInToken(token, domain, now);
  return key.kind === 'admin' ? 'named' : [];
}

const algorithms = ['EdDSA', 'ES256', 'RS256'];
const longestLifeSeconds = 86_400;

const groupsSchema = z.array(z.string().min(1).max(200)).max(100);

/** The groups in a token of the domain's organization. Throws `invalid_request`. */
async function groupsInToken(token: string, domain: DomainEntry, now: Date): Promise<string[]> {
  if (domain.userTokenKeys === undefined) throw wrongToken('cannot be checked: the domain has no "userTokenKeys"');
  const claims = await verify(token, { keys: domain.userTokenKeys } as JSONWebKeySet, {
    algorithms,
    audience: domain.slug,
    requiredClaims: ['exp'],
    currentDate: now,
  });
  if ((claims.exp ?? 0) * 1000 > now.getTime() + longestLifeSeconds * 1000) {
    throw wrongToken('is valid for too long: "exp" may be at most 24 hours ahead');
  }
  const groups = groupsSchema.safeParse(claims.groups);
  if (!groups.success) throw wrongToken('needs the claim "groups": at most 100 texts of 1 to 200 characters');
  return groups.data;
}

async function verify(token: string, keys: JSONWebKeySet, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, createLocalJWKSet(keys), options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw tokenProblem(error, options);
    // Several keys match, and the token does not name one, so each is tried.
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (other) {
        if (!(other instanceof errors.JWSSignatureVerificationFailed)) throw tokenProblem(other, options);
      }
    }
    throw tokenProblem(error, options);
  }
}

function tokenProblem(error: unknown, { audience }: JWTVerifyOptions): ApiError {
  if (error instanceof errors.JWTExpired) return wrongToken('has expired', error);
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return wrongToken(`is for another domain: "aud" must be "${String(audience)}"`, error);
    if (error.claim === 'nbf') return wrongToken('is not valid yet: see "nbf"', error);
    if (error.claim === 'exp') return wrongToken('needs the claim "exp"', error);
  }
  return wrongToken('is not a JWT that a key of the domain signed with EdDSA, ES256 or RS256', error);
}

/** The status is not 401, because the API key is valid and a client must not discard it. */
function wrongToken(message: string, cause?: unknown): ApiError {
  return new ApiError('invalid_request', `The header "X-User-Token" ${message}.`, {
    fields: [{ path: 'X-User-Token', message }],
    cause,
  });
}
