import { z } from 'zod';
import { groupTrusts } from '#shared/aggregates/directory/directory.ts';
import { actorSchema } from '../commit.ts';
import { domainSlug, organizationId, organizationPlans, sha256Hex } from '../identifiers.ts';

/** What the gateway learned about a request; sent along as the header `x-bindery-caller`, so that nothing is looked up twice. */
export const callerSchema = z.object({
  requestId: z.string(),
  organization: organizationId,
  organizationPlan: z.enum(organizationPlans),
  domain: domainSlug,
  /** The domain's setting. */
  groupTrust: z.enum(groupTrusts),
  /** Groups that the reader is in; `named`: those that the request itself names count. */
  trustedGroups: z
    .union([z.literal('named'), z.array(z.string())])
    // An older gateway does not send it: then the reader is in no group.
    .default([]),
  actor: actorSchema,
  address: z.string(),
  /** Keyed hash of the address that the request came from, for the logs. An older gateway does not send it; services have none. */
  addressHash: sha256Hex.optional(),
  traceparent: z.string(),
});

export type Caller = z.infer<typeof callerSchema>;

export const callerHeader = 'x-bindery-caller';

/** A caller as that header has it: JSON in ASCII, as headers must be. */
export const callerText = (caller: Caller): string =>
  JSON.stringify(caller).replaceAll(/[\u007f-\uffff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
