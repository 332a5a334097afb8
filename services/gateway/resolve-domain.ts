import type { DomainEntry } from '#shared/contracts/directory-events.ts';
import { ApiError } from '#shared/errors/api-error.ts';

/** The organization's domain of that slug or host name. Throws `not_found`. Pure. */
export function resolveDomain(domains: readonly DomainEntry[], name: string): DomainEntry {
  const wanted = name.toLowerCase();
  const domain = domains.find(({ slug, hosts }) => slug === wanted || hosts.includes(wanted));
  if (domain === undefined) throw new ApiError('not_found', `There is no domain "${name}" in this organization.`);
  return domain;
}
