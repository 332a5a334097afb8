import { z } from 'zod';
import type { OidcLogin } from './login-settings.ts';

const textOrNone = z.string().optional().catch(undefined);

/** What a provider says of a reader, as far as it can be used. */
export const readerClaimsSchema = z.object({
  sub: z.string(),
  email: textOrNone,
  email_verified: z.boolean().optional().catch(undefined),
  groups: z
    .union([z.array(z.string()), z.string().transform((group) => [group])])
    .optional()
    .catch(undefined),
});

/**
 * Whether a reader who has logged in may read: everybody when neither groups nor domains are named, else the members of one of the groups and
 * the owners of an address in one of the domains. An address that the provider did not verify is anybody's. Pure.
 */
export function mayRead(
  { email, email_verified: isVerified, groups = [] }: z.infer<typeof readerClaimsSchema>,
  allowed: Pick<OidcLogin, 'groups' | 'emailDomains'>,
): boolean {
  if (allowed.groups.length === 0 && allowed.emailDomains.length === 0) return true;
  if (groups.some((group) => allowed.groups.includes(group))) return true;
  const domain = isVerified === true ? email?.toLowerCase().split('@').at(-1) : undefined;
  return domain !== undefined && allowed.emailDomains.includes(domain);
}
