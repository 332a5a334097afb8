import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { hasRole, type PersonRole } from '#shared/interfaces/http/person-token.ts';
import { type EndedSessions, newSession, type SessionState } from '#shared/login/ended-sessions.ts';
import { cookieIn, sealer } from '#shared/login/sealed-values.ts';

/** Rights of a signed-in person in one organization. */
export type Membership = { organization: string; role: Exclude<PersonRole, 'operator'> };

/** A person who signed in: with an admin key, which is sent on with each request, or under their own name. */
export type Identity =
  | { kind: 'key'; key: string; name: string; membership: Membership }
  | { kind: 'person'; name: string; isOperator: boolean; memberships: readonly Membership[] };

export type Session = { id: string; group: string; until: Date; identity: Identity };

/** The role of a person in an organization; undefined if its pages do not exist for them. Pure. */
export function roleIn(identity: Identity, organization: string): PersonRole | undefined {
  if (identity.kind === 'person' && identity.isOperator) return 'operator';
  const memberships = identity.kind === 'key' ? [identity.membership] : identity.memberships;
  const roles = memberships.filter((each) => each.organization === organization).map(({ role }) => role);
  return roles.toSorted((one, other) => (hasRole(one, other) ? -1 : 1))[0];
}

/** The organizations that a person is a member of. An operator sees all organizations, and is a member of none. Pure. */
export const organizationsOf = (identity: Identity): string[] =>
  identity.kind === 'key'
    ? [identity.membership.organization]
    : [...new Set(identity.memberships.map(({ organization }) => organization))].toSorted();

type Sealed = { reader: string; id: string; from: string; until: string; group: string; identity: string };

/** All sessions of one person end together. */
const groupOf = (identity: Identity): string =>
  createHash('sha256')
    .update(JSON.stringify([identity.kind, identity.kind === 'key' ? identity.key : identity.name]))
    .digest('hex')
    .slice(0, 32);

/**
 * Sessions in a sealed cookie, so that every copy of the console knows them. A sign-out ends a session for all copies, also a stolen copy of the cookie.
 */
export function consoleSessions(
  { sessionSecret, sessionHours, isSecure }: { sessionSecret: string; sessionHours: number; isSecure: boolean },
  ended: EndedSessions,
) {
  const values = sealer<Sealed>(sessionSecret, 'console session');
  const cookie = `${isSecure ? '__Host-' : ''}bindery-console`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  const seconds = sessionHours * 3_600;
  const formKey = createHmac('sha256', sessionSecret).update('forms of the console').digest();

  const tokenOf = (id: string): string => createHmac('sha256', formKey).update(id).digest('base64url');

  return {
    /** The `Set-Cookie` of a new session. A session that the browser had before is not continued. */
    async begin(identity: Identity): Promise<string> {
      const session = newSession(identity.name, seconds, Date.now(), groupOf(identity));
      const sealed = { ...session, group: groupOf(identity), identity: JSON.stringify(identity) };
      return `${cookie}=${await values.seal(sealed, seconds)}; Max-Age=${seconds}; ${attributes}`;
    },
    /** The session of a request. `unknown`: the store of ended sessions cannot be read. */
    async of(request: Pick<IncomingMessage, 'headers'>): Promise<Session | Exclude<SessionState, 'lasts'>> {
      const sealed = await values.open(cookieIn(request, cookie) ?? '');
      if (sealed === undefined) return 'ended';
      const state = await ended.stateOf(sealed);
      if (state !== 'lasts') return state;
      const { id, group, until, identity } = sealed;
      return { id, group, until: new Date(Number(until)), identity: JSON.parse(identity) as Identity };
    },
    /** Ends a session, or all sessions of its person. Returns the `Set-Cookie` that removes it. Rejects if that could not be stored. */
    async end({ id, group, until, identity }: Session, which: 'this' | 'all'): Promise<string> {
      const session = { reader: identity.name, id, from: '0', until: String(until.getTime()), group };
      await (which === 'this' ? ended.end(session) : ended.endGroup(group));
      return `${cookie}=; Max-Age=0; ${attributes}`;
    },
    /** The token that each form of a session contains, so that other sites cannot send it (CSRF). */
    formToken: ({ id }: Session): string => tokenOf(id),
    isFormToken: ({ id }: Session, token: string): boolean => {
      const [expected, given] = [Buffer.from(tokenOf(id)), Buffer.from(token)];
      return expected.length === given.length && timingSafeEqual(expected, given);
    },
  };
}

export type ConsoleSessions = ReturnType<typeof consoleSessions>;
