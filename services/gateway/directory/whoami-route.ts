import { toListedDomains, whoamiSchema } from '#shared/interfaces/http/directory.ts';
import { publicRoute } from '../public-route.ts';
import { platformUrlOf, toOrganization } from './organization-routes.ts';

/** Returns the caller of a request with its rights. */
export const whoamiRoute = publicRoute(
  {
    id: 'whoami',
    method: 'GET',
    path: '/v1/whoami',
    summary: 'Names the caller with its rights, its organization, and the domains of the organization.',
    key: 'admin',
    forExports: true,
    answer: whoamiSchema,
  },
  async ({ organizations, config }, { principal: { organization, domains, key, actor }, origin }) => {
    const state = await organizations.find(organization);
    if (state === undefined) throw new Error(`the organization ${organization} of a valid key is not stored`);
    const { id, name, scopes, allowedAddresses, expiresAt } = key;
    return {
      caller: {
        ...(actor.kind === 'person' ? { kind: 'person' as const, id: actor.id } : { kind: 'key' as const, id }),
        name,
        scopes,
        allowedAddresses,
        ...(expiresAt !== undefined && { expiresAt }),
      },
      address: origin.address,
      organization: toOrganization(state),
      domains: toListedDomains(domains),
      platformUrl: platformUrlOf(config),
    };
  },
);
