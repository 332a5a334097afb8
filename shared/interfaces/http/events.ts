import { z } from 'zod';
import { domainSlug, timestamp } from '#shared/contracts/identifiers.ts';
import { exportJobSchema } from './exports.ts';
import { deploymentViewSchema } from './sites.ts';

/** First event of `GET /v1/events`: everything that changes from now on is sent. */
export const followingSchema = z.object({ since: timestamp }).meta({ title: 'FollowingEvents' });

/** A deployment in `GET /v1/events`, with the domain of its site. */
export const domainDeploymentSchema = z
  .object({ domain: domainSlug, deployment: deploymentViewSchema })
  .meta({ title: 'DomainDeployment' });

/** An event of `GET /v1/events` by its name. */
export const organizationEventSchema = z.discriminatedUnion('event', [
  z.object({ event: z.literal('following'), data: followingSchema }),
  z.object({ event: z.literal('export'), data: exportJobSchema }),
  z.object({ event: z.literal('deployment'), data: domainDeploymentSchema }),
]);

export type OrganizationEvent = z.infer<typeof organizationEventSchema>;
