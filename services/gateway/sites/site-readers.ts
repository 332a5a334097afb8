import type { ApiKey } from '#shared/aggregates/directory/directory.ts';
import { ApiError } from '#shared/http/errors.ts';
import type { Principal } from '../auth/authenticate.ts';
import type { Organizations } from '../directory/organizations.ts';
import type { SitesFeed } from './sites-feed.ts';

/** The callers for readers of sites, on whose behalf hosts of sites ask. */
export type SiteReaders = {
  /**
   * The caller for a host that asks for readers of one site: it has rights to that domain alone, and its requests count as those of the site's
   * organization. Throws `not_found` unless the site is live and passes questions on.
   */
  principalOf(organization: string, domain: string): Promise<Principal>;
  /**
   * The caller for readers without a key of a public site: one that is live without a login and passes questions on. `name`: a host name of the site, or
   * its domain. Undefined if there is no such site, or if several organizations have one under that domain.
   */
  ofPublicSite(name: string): Promise<Principal | undefined>;
};

/** The rights of a host for a site. This key is not stored and has no secret. `proxy`: the host names the address of each reader. */
const hostKey: ApiKey = {
  id: 'key_docsHost00000000',
  kind: 'assistant',
  name: 'host of sites',
  sha256: '0'.repeat(64),
  scopes: ['read', 'proxy'],
  allowedAddresses: [],
  allowedOrigins: [],
  createdAt: '1970-01-01T00:00:00.000Z',
};

/** The rights of a reader without a key. */
const publicKey: ApiKey = {
  ...hostKey,
  id: 'key_publicReader0000',
  name: 'readers of public sites',
  scopes: ['read'],
};

/** True for the caller of a request without a key. */
export const isPublicReader = ({ key }: Pick<Principal, 'key'>): boolean => key === publicKey;

export const siteReaders = (
  organizations: Organizations,
  sites: Pick<SitesFeed, 'liveSite' | 'liveSitesNamed'>,
): SiteReaders => ({
  async ofPublicSite(name) {
    const named = await sites.liveSitesNamed(name.toLowerCase());
    const [site, ...others] = named.filter(({ login, assistant }) => login === undefined && assistant === true);
    const state = site && others.length === 0 ? await organizations.find(site.organization) : undefined;
    if (site === undefined || state === undefined) return undefined;
    const { organization, domain, hosts } = site;
    return {
      organization,
      organizationPlan: state.plan,
      domains: state.domains
        .filter(({ slug }) => slug === domain)
        .map((entry) => ({ ...entry, hosts: [...entry.hosts, ...hosts] })),
      key: publicKey,
      actor: { kind: 'service', id: 'public-reader' },
    };
  },
  async principalOf(organization, domain) {
    const site = await sites.liveSite(organization, domain);
    const state = site?.assistant === true ? await organizations.find(organization) : undefined;
    if (state === undefined)
      throw new ApiError('not_found', `There is no open site of "${domain}" that passes questions on.`);
    return {
      organization,
      organizationPlan: state.plan,
      domains: state.domains.filter(({ slug }) => slug === domain),
      key: hostKey,
      actor: { kind: 'service', id: 'docs-host' },
    };
  },
});
