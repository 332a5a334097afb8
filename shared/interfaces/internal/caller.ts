import { z } from 'zod';
import { groupTrusts } from '#shared/aggregates/directory/directory.ts';
import { actorSchema } from '#shared/contracts/commit.ts';
import { domainSlug, organizationId, organizationPlans, sha256Hex } from '#shared/contracts/identifiers.ts';

/** The gateway's findings about a request, sent along as the header `x-bindery-caller`, so that no lookup is repeated. */
export const callerSchema = z.object({
  requestId: z.string(),
  organization: organizationId,
  organizationPlan: z.enum(organizationPlans),
  domain: domainSlug,
  /** Setting of the domain: groups count as the request claims them, or only from a signed user token. */
  groupTrust: z.enum(groupTrusts),
  /** Groups of the reader. `named`: the groups that the request names count. */
  trustedGroups: z
    .union([z.literal('named'), z.array(z.string())])
    // An older gateway does not send this field; its readers are in no group.
    .default([]),
  actor: actorSchema,
  address: z.string(),
  /** Keyed hash of the request's client address, for the logs. An older gateway does not send it; services have none. */
  addressHash: sha256Hex.optional(),
  traceparent: z.string(),
});

export type Caller = z.infer<typeof callerSchema>;

/** The caller of a call about the whole installation: the operator, or a person with that role. */
export const operatorCallerSchema = callerSchema.pick({
  requestId: true,
  actor: true,
  address: true,
  traceparent: true,
});

export type OperatorCaller = z.infer<typeof operatorCallerSchema>;

export const callerHeader = 'x-bindery-caller';

/** A caller as the value of the header `x-bindery-caller`: JSON in ASCII, which headers require. */
export const callerText = (caller: Caller | OperatorCaller): string =>
  JSON.stringify(caller).replaceAll(/[\u007f-\uffff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
