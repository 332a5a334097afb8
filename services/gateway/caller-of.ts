import type { FastifyRequest } from 'fastify';
import type { DomainEntry } from '#shared/contracts/directory-events.ts';
import type { Caller } from '#shared/internal-http/caller.ts';
import { nextTraceparent } from '#shared/telemetry/trace-context.ts';
import { admissionOf } from './admission.ts';

/** What other services are told of a request that was let in. */
export function callerOf(request: FastifyRequest, domain: Pick<DomainEntry, 'slug' | 'groups'>): Caller {
  const { organization, organizationPlan, actor } = admissionOf(request);
  return {
    requestId: request.id,
    organization,
    organizationPlan,
    domain: domain.slug,
    groupTrust: domain.groups,
    actor,
    address: request.ip,
    traceparent: traceparentOf(request),
  };
}

/** A new span under the caller's trace, or a new trace. */
export function traceparentOf(request: FastifyRequest): string {
  const { traceparent } = request.headers;
  return nextTraceparent(typeof traceparent === 'string' ? traceparent : undefined);
}
