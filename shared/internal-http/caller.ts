import { z } from 'zod';
import { actorSchema } from '#shared/contracts/actor.ts';
import { organizationPlans } from '#shared/contracts/organization-plan.ts';
import { groupTrusts } from '#shared/contracts/directory-events.ts';
import { domainSlug, organizationId } from '#shared/contracts/identifiers.ts';

/** What the gateway learned about a request; passed on as the JSON header `x-bindery-caller`, so that nothing is looked up twice. */
export const callerSchema = z.object({
  requestId: z.string(),
  organization: organizationId,
  organizationPlan: z.enum(organizationPlans),
  domain: domainSlug,
  groupTrust: z.enum(groupTrusts),
  actor: actorSchema,
  address: z.string(),
  traceparent: z.string(),
});

export type Caller = z.infer<typeof callerSchema>;

export const callerHeader = 'x-bindery-caller';
