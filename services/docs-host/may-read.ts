import type { Account } from '#shared/login/account.ts';
import type { OidcLogin } from './login-settings.ts';

/**
 * True if a reader who has logged in may read: everybody if neither groups nor domains are set, else the members of one of the groups and the owners
 * of an address in one of the domains. Pure.
 */
export function mayRead(
  { verifiedEmail, groups }: Account,
  allowed: Pick<OidcLogin, 'groups' | 'emailDomains'>,
): boolean {
  if (allowed.groups.length === 0 && allowed.emailDomains.length === 0) return true;
  if (groups.some((group) => allowed.groups.includes(group))) return true;
  const domain = /^[^\s@,;<>"]+@([^\s@,;<>"]+)$/.exec(verifiedEmail ?? '')?.[1]?.toLowerCase();
  return domain !== undefined && allowed.emailDomains.includes(domain);
}
