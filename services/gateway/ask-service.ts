import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DomainEntry } from '#shared/aggregates/directory/directory.ts';
import type { Caller } from '#shared/contracts/internal/caller.ts';
import type { InternalCall } from '#shared/contracts/internal/internal-call.ts';
import { disconnectSignal } from '#shared/http/client-connection.ts';
import { type CallParts, callService, type ServiceAnswer } from '#shared/http/internal-client.ts';
import { callerOf } from './auth/admission.ts';
import type { GatewayContext } from './context.ts';

const addressOf = { publisher: 'publisherUrl', 'link-signer': 'linkSignerUrl', assistant: 'assistantUrl' } as const;

/** Asks another service on behalf of a request about a domain. The service hears when the client goes away. */
export async function askService<C extends InternalCall>(
  { config }: Pick<GatewayContext, 'config'>,
  asking: {
    request: FastifyRequest;
    reply: FastifyReply;
    domain: DomainEntry;
    trustedGroups?: Caller['trustedGroups'];
  },
  call: C,
  parts: CallParts<C>,
): Promise<ServiceAnswer<C>> {
  const address = { baseUrl: config[addressOf[call.service]], serviceToken: config.serviceToken };
  const { request, reply, domain, trustedGroups } = asking;
  const asked = { caller: callerOf(request, domain, trustedGroups), signal: disconnectSignal(reply.raw) };
  return await callService(call, address, Object.assign(asked, parts));
}
