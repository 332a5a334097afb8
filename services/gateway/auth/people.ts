import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { ApiKey } from '#shared/aggregates/directory/directory.ts';
import { ApiError } from '#shared/http/errors.ts';
import {
  hasRole,
  looksLikePersonToken,
  type Person,
  type PersonRole,
  personOf,
} from '#shared/interfaces/http/person-token.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { Organizations } from '../directory/organizations.ts';
import { bearerToken, type Principal } from './authenticate.ts';

/** People who signed in at the console, which signs their requests. */
export type People = {
  /** The person of a request; undefined if its credential is of another kind. Throws `invalid_key` for a token that is not valid here. */
  find(request: FastifyRequest): Promise<Person | undefined>;
  /** The caller for a person in the organization of the request. Throws `invalid_key` if the organization does not exist. */
  principalOf(person: Person): Promise<Principal>;
};

/** Verifies the requests of people. `tokenKey`: the secret that the console shares; without it no person can act. */
export function signedInPeople(tokenKey: string | undefined, organizations: Organizations, clock: Clock): People {
  return {
    async find(request) {
      const token = request.headers.authorization === undefined ? '' : bearerToken(request);
      if (!looksLikePersonToken(token)) return undefined;
      const person = tokenKey === undefined ? undefined : await personOf(tokenKey, token, clock.now());
      if (person !== undefined) return person;
      throw new ApiError(
        'invalid_key',
        tokenKey === undefined
          ? 'People cannot act at this gateway: BINDERY_PERSON_TOKEN_KEY is not set. Use an API key.'
          : 'The token of the person is not signed with the key of this gateway, or has expired.',
      );
    },
    async principalOf(person) {
      const { name, role, organization = '' } = person;
      const state = organization === '' ? undefined : await organizations.find(organization);
      if (state === undefined)
        throw new ApiError('invalid_key', `There is no organization "${organization}" for ${name} to act in.`);
      return {
        organization,
        organizationPlan: state.plan,
        domains: state.domains,
        key: keyOf(person, hasRole(role, 'editor') ? ['read', 'write'] : ['read']),
        actor: { kind: 'person', id: name },
      };
    },
  };
}

/** Throws `missing_scope` if the person lacks the role. */
export function checkRole({ name, role }: Person, needed: PersonRole): void {
  if (hasRole(role, needed)) return;
  throw new ApiError('missing_scope', `This request needs the role "${needed}"; ${name} is ${role} here.`);
}

/** The rights of a person as those of an admin key, which is not stored and has no secret. Its id tells the person apart for limits. */
function keyOf({ name, organization }: Person, scopes: ApiKey['scopes']): ApiKey {
  const letters = createHash('sha256')
    .update(JSON.stringify([organization, name]))
    .digest('base64url')
    .replaceAll(/[-_]/g, '0');
  return { ...nobodysKey, id: `key_${letters.slice(0, 16)}`, name, scopes };
}

const nobodysKey = {
  kind: 'admin' as const,
  sha256: '0'.repeat(64),
  allowedAddresses: [],
  allowedOrigins: [],
  createdAt: '1970-01-01T00:00:00.000Z',
};
