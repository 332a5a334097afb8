import { z } from 'zod';

/** The account of a person as the provider describes it. */
export type Account = {
  sub: string;
  /** Undefined if the provider knows no address or did not verify it; an unverified one may belong to anybody. */
  verifiedEmail: string | undefined;
  groups: readonly string[];
};

/** Limit of OpenID Connect for the claim `sub`. The cookie of the session contains it, and browsers keep no cookie of more than 4 KB. */
const longestSubject = 255;
const claimsSchema = z.looseObject({ sub: z.string() });
const groupsSchema = z.union([z.array(z.string()), z.string().transform((group) => [group])]);
const emailSchema = z.object({ email: z.string(), email_verified: z.literal(true) });

/**
 * The account described by an ID token and, if the provider has the endpoint, by its userinfo. Many providers put only the subject into the token.
 * Claims that belong together are read from one source, the token first: an address and its verification from the source that has both, groups from
 * the source that has the claim. Throws if the two describe different readers. Pure.
 */
export function accountOf(idToken: unknown, userInfo: unknown, groupsClaim: string): Account {
  const sources = [idToken, userInfo].filter((each) => each !== undefined).map((each) => claimsSchema.parse(each));
  const [{ sub } = { sub: '' }] = sources;
  if (sources.length === 0 || sources.some((each) => each.sub !== sub))
    throw new Error('the ID token and the userinfo of the provider are about different readers');
  if (sub.length > longestSubject)
    throw new Error(`the provider names a reader with more than ${longestSubject} characters (sub)`);
  const saying = (...names: string[]) => sources.find((each) => names.every((name) => Object.hasOwn(each, name)));
  return {
    sub,
    verifiedEmail: emailSchema.safeParse(saying('email', 'email_verified')).data?.email,
    groups: groupsSchema.safeParse(saying(groupsClaim)?.[groupsClaim]).data ?? [],
  };
}
