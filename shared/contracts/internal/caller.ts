import { z } from 'zod';
import { groupTrusts } from '#shared/aggregates/directory/directory.ts';
import { actorSchema } from '../commit.ts';
import { domainSlug, organizationId, organizationPlans } from '../identifiers.ts';

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
