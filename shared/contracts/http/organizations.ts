import { z } from 'zod';
import { groupTrusts } from '../directory-events.ts';
import { domainSlug, hostName, organizationId } from '../identifiers.ts';
import { organizationPlans } from '../organization-plan.ts';

const organizationName = z.string().trim().min(1).max(100);

/** Body of `POST /v1/organizations`. */
export const createOrganizationBodySchema = z.object({
  name: organizationName,
  plan: z.enum(organizationPlans).default('free'),
});

/** Body of `PATCH /v1/organizations/{org}`; what is absent stays. */
export const changeOrganizationBodySchema = z
  .object({ name: organizationName.optional(), plan: z.enum(organizationPlans).optional() })
  .refine((body) => body.name !== undefined || body.plan !== undefined, 'give "name" or "plan"');

/** Body of `POST /v1/organizations/{org}/domains`. */
export const addDomainBodySchema = z.object({
  domain: domainSlug,
  hosts: z.array(hostName).max(50).default([]),
  groups: z.enum(groupTrusts).default('claimed'),
});

export const organizationSchema = z.object({ id: organizationId, name: z.string(), plan: z.enum(organizationPlans) });

/** The first admin key; this is the only time it is shown. */
export const organizationCreatedSchema = z.object({
  organization: organizationSchema,
  adminKey: z.object({ id: z.string(), key: z.string() }),
});

export const domainAddedSchema = z.object({
  domain: domainSlug,
  hosts: z.array(z.string()),
  groups: z.enum(groupTrusts),
});
