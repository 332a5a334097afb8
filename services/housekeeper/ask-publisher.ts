import { text } from 'node:stream/consumers';
import { ApiError } from '#shared/errors/api-error.ts';
import { callService } from '#shared/internal-http/call-service.ts';
import { serviceAnswerError } from '#shared/internal-http/service-answer-error.ts';
import { nextTraceparent } from '#shared/telemetry/trace-context.ts';
import type { EndContent } from './context.ts';

const answerWithinMs = 10_000;

/** Ends content versions through the publisher, which alone decides on content; as a service, not for a key. */
export function askPublisher(options: {
  baseUrl: string;
  serviceToken: string;
  random: (length: number) => string;
}): EndContent {
  return async ({ organization, domain, contentVersion }, signal) => {
    const answer = await callService({
      service: 'publisher',
      baseUrl: options.baseUrl,
      serviceToken: options.serviceToken,
      method: 'DELETE',
      path: `/internal/content/${contentVersion}`,
      caller: {
        requestId: `hk_${options.random(22)}`,
        organization,
        domain,
        actor: { kind: 'service', id: 'housekeeper' },
        // Nothing of a request: no key, no plan, no address.
        organizationPlan: 'free',
        groupTrust: 'claimed',
        address: '',
        traceparent: nextTraceparent(),
      },
      signal,
      answerWithinMs,
      idleMs: answerWithinMs,
    });
    if (answer.status < 300) return void (await text(answer.body));
    const error = await serviceAnswerError('publisher', answer);
    // Somebody made it the latest, labelled it or deleted it just now.
    if (error instanceof ApiError && (error.code === 'in_use' || error.code === 'not_found')) return;
    throw error;
  };
}
