import { createRemoteJWKSet, customFetch, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { boundedFetch } from '#shared/http/bounded-fetch.ts';
import { type Account, accountOf } from './account.ts';

/** A token that opens nothing, with the reason as half a sentence, such as "has expired". */
export type RefusedToken = { refused: string };

/** The part of a provider's metadata that tokens are checked with. */
type Issuer = { issuer: string; jwks_uri?: string | undefined };

/** Signatures by keys that the provider publishes. A shared secret or no signature proves nothing. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const usualTimeoutMs = 10_000;
const mostAnswerBytes = 1_000_000;
/** Tolerated difference between the clocks of provider and host. */
const clockToleranceSeconds = 30;
/** Media types of access tokens (RFC 9068); many providers say `JWT`. Tokens for logouts and proofs have types of their own. */
const tokenTypes: ReadonlySet<string> = new Set(['at+jwt', 'jwt']);

/**
 * The account that an access token of a provider names (RFC 9068), for a resource that must be among its audiences. Keys are fetched on first use, every ten
 * minutes, and at most every 30 seconds for a token with an unknown key. Rejects if the provider cannot be reached.
 */
export function accessTokens(found: () => Promise<Issuer>, groupsClaim: string, timeoutMs = usualTimeoutMs) {
  const ask = boundedFetch(mostAnswerBytes);
  let known: { address: string; keys: ReturnType<typeof createRemoteJWKSet> } | undefined;

  function keysAt(address: string): ReturnType<typeof createRemoteJWKSet> {
    if (known?.address !== address) {
      const keys = createRemoteJWKSet(new URL(address), {
        timeoutDuration: timeoutMs,
        [customFetch]: (url, options) => ask(url, options),
      });
      known = { address, keys };
    }
    return known.keys;
  }

  return async (token: string, resource: string): Promise<Account | RefusedToken> => {
    const { issuer, jwks_uri: address } = await found();
    if (address === undefined) throw new Error('the provider publishes no keys');
    try {
      const claims = await verified(token, keysAt(address), {
        ...{ issuer, audience: resource, algorithms, requiredClaims: ['exp', 'sub'] },
        clockTolerance: clockToleranceSeconds,
      });
      // Such a token needs a proof of its client with each request, so without one it may be stolen.
      if (claims['cnf'] !== undefined) return { refused: 'is bound to a key of its client, which is not supported' };
      return accountOf(claims, undefined, groupsClaim);
    } catch (error) {
      return { refused: refusalOf(error) };
    }
  };
}

async function verified(
  token: string,
  keys: ReturnType<typeof createRemoteJWKSet>,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return typed(await jwtVerify(token, keys, options));
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    // The token names no key, so each is tried.
    for await (const key of error) {
      try {
        return typed(await jwtVerify(token, key, options));
      } catch (other) {
        if (!(other instanceof errors.JWSSignatureVerificationFailed)) throw other;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

function typed({ payload, protectedHeader: { typ = 'JWT' } }: Awaited<ReturnType<typeof jwtVerify>>): JWTPayload {
  if (tokenTypes.has(typ.toLowerCase().replace(/^application\//, ''))) return payload;
  throw new errors.JWTInvalid('the token has another type');
}

/** The reason of a refusal. Throws the error again if it is about the provider. */
function refusalOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'has expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim } = error;
    if (claim === 'aud') return 'was issued for another resource';
    if (claim === 'iss') return 'is of another issuer';
    return claim === 'nbf' ? 'is not valid yet' : `lacks a valid claim "${claim}"`;
  }
  if (error instanceof errors.JWKSNoMatchingKey) return 'was signed by an unknown key';
  const isToken =
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed;
  if (!isToken) throw error;
  return 'is not an access token that the provider signed';
}
