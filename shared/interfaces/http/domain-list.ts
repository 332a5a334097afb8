import { z } from 'zod';
import { groupTrusts } from '#shared/aggregates/directory/directory.ts';
import { contentVersion, domainSlug } from '#shared/contracts/identifiers.ts';
import { deploymentViewSchema } from './sites.ts';

/** Query of `GET /v1/domains`. */
export const listDomainsQuerySchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z.string().max(200).optional(),
});

/** The site of a domain in the list. */
const listedSiteSchema = z.object({
  address: z.url(),
  /** The deployment that readers of the live site see; absent before the first one. */
  live: deploymentViewSchema.optional(),
  /** The newest deployment of the live site. */
  newest: deploymentViewSchema.optional(),
  /** The newest deployment of the live site or of a preview. */
  last: deploymentViewSchema.optional(),
});

/** A domain in the list. `contents`: number of kept content versions. `site`: absent if none is open. */
const listedDomainSchema = z.object({
  domain: domainSlug,
  hosts: z.array(z.string()),
  groups: z.enum(groupTrusts),
  contents: z.int().min(0),
  latest: contentVersion.optional(),
  site: listedSiteSchema.optional(),
});

export type ListedDomain = z.infer<typeof listedDomainSchema>;

/** Answer of `GET /v1/domains`: the domains of the organization with their sites, sorted by slug. */
export const domainListSchema = z
  .object({ domains: z.array(listedDomainSchema), nextCursor: z.string().optional() })
  .meta({ title: 'DomainList' });

export type DomainList = z.infer<typeof domainListSchema>;
