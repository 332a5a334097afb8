import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { hasRole, personRoles, type PersonRole } from '#shared/interfaces/http/person-token.ts';
import { type EndedSessions, newSession, type SessionState } from '#shared/login/ended-sessions.ts';
import { cookieIn, sealer } from '#shared/login/sealed-values.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import type { Grant } from './config.ts';

/** Rights of a signed-in person in one organization. */
type Membership = { organization: string; role: Exclude<PersonRole, 'operator'> };

/** A person who signed in: with an admin key, which is sent on with each request, or under their own name. `isAccount`: at the provider of accounts. */
export type Identity =
  | { kind: 'key'; key: string; name: string; membership: Membership }
  | { kind: 'person'; name: string; isAccount: boolean; isOperator: boolean; memberships: readonly Membership[] };

const signInSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('key'),
    key: z.string(),
    name: z.string(),
    membership: z.object({ organization: z.string(), role: z.enum(personRoles).exclude(['operator']) }),
  }),
  z.object({ kind: z.literal('operator'), name: z.string() }),
  z.object({ kind: z.literal('account'), name: z.string(), groups: z.array(z.string()) }),
]);

/**
 * A sign-in as its cookie contains it. An account has the digests of its groups (`groupDigest`) instead of their rights: a right that the settings no
 * longer grant ends with the next start of the console, and many rights need little room.
 */
export type SignIn = z.infer<typeof signInSchema>;

export type Session = { id: string; group: string; from: Date; until: Date; identity: Identity };

/** Short name of a group of accounts in cookies. Pure. */
export const groupDigest = (group: string): string =>
  createHash('sha256').update(group).digest('base64url').slice(0, 12);

/** The person of a sign-in with the rights that they have now; undefined if they have none. Pure. */
function identityOf(signIn: SignIn, grants: readonly Grant[]): Identity | undefined {
  if (signIn.kind === 'key') return signIn;
  const { kind, name } = signIn;
  if (kind === 'operator') return { kind: 'person', name, isAccount: false, isOperator: true, memberships: [] };
  const own = grants.filter(({ group }) => signIn.groups.includes(groupDigest(group)));
  const memberships = own.flatMap((grant): Membership[] =>
    grant.role === 'operator' ? [] : [{ organization: grant.organization, role: grant.role }],
  );
  const isOperator = own.some(({ role }) => role === 'operator');
  return isOperator || memberships.length > 0
    ? { kind: 'person', name, isAccount: true, isOperator, memberships }
    : undefined;
}

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
const groupOf = (signIn: SignIn): string =>
  createHash('sha256')
    .update(JSON.stringify([signIn.kind, signIn.kind === 'key' ? signIn.key : signIn.name]))
    .digest('hex')
    .slice(0, 32);

/** Browsers keep no cookie with more bytes, counting its name. */
const mostCookieBytes = 4_096;

/**
 * Sessions in a sealed cookie, so that every copy of the console knows them. A sign-out ends a session for all copies, also a stolen copy of the cookie.
 */
export function consoleSessions(
  {
    sessionSecret,
    sessionHours,
    isSecure,
    grants,
  }: { sessionSecret: string; sessionHours: number; isSecure: boolean; grants: readonly Grant[] },
  ended: EndedSessions,
) {
  const values = sealer<Sealed>(sessionSecret, 'console session');
  const cookie = `${isSecure ? '__Host-' : ''}bindery-console`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  const seconds = sessionHours * 3_600;
  const formKey = createHmac('sha256', sessionSecret).update('forms of the console').digest();

  const tokenOf = (id: string): string => createHmac('sha256', formKey).update(id).digest('base64url');

  return {
    /**
     * The `Set-Cookie` of a new session; undefined if a browser would not keep it, because the account is in too many groups. A session that the browser
     * had before is not continued.
     */
    async begin(signIn: SignIn): Promise<string | undefined> {
      const session = newSession(signIn.name, seconds, Date.now(), groupOf(signIn));
      const sealed = { ...session, group: groupOf(signIn), identity: JSON.stringify(signIn) };
      const value = `${cookie}=${await values.seal(sealed, seconds)}`;
      return value.length > mostCookieBytes ? undefined : `${value}; Max-Age=${seconds}; ${attributes}`;
    },
    /** The session of a request. `unknown`: the store of ended sessions cannot be read. */
    async of(request: Pick<IncomingMessage, 'headers'>): Promise<Session | Exclude<SessionState, 'lasts'>> {
      const sealed = await values.open(cookieIn(request, cookie) ?? '');
      if (sealed === undefined) return 'ended';
      const state = await ended.stateOf(sealed);
      if (state !== 'lasts') return state;
      const { id, group, from, until } = sealed;
      const signIn = signInSchema.safeParse(jsonIn(sealed.identity));
      const identity = signIn.success ? identityOf(signIn.data, grants) : undefined;
      if (identity === undefined) return 'ended';
      return { id, group, from: new Date(Number(from)), until: new Date(Number(until)), identity };
    },
    /** Ends a session, or all sessions of its person. Rejects if that could not be stored. */
    async end({ id, group, from, until, identity }: Session, which: 'this' | 'all'): Promise<void> {
      if (which === 'all') return await ended.endGroup(group, from.getTime());
      await ended.end({ reader: identity.name, id, from: '0', until: String(until.getTime()), group });
    },
    /** The `Set-Cookie` with which a browser forgets its session. */
    forgotten: `${cookie}=; Max-Age=0; ${attributes}`,
    /** The token that each form of a session contains, so that other sites cannot send it (CSRF). */
    formToken: ({ id }: Session): string => tokenOf(id),
    isFormToken: ({ id }: Session, token: string): boolean => {
      const [expected, given] = [Buffer.from(tokenOf(id)), Buffer.from(token)];
      return expected.length === given.length && timingSafeEqual(expected, given);
    },
  };
}

export type ConsoleSessions = ReturnType<typeof consoleSessions>;
