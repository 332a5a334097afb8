import type { FastifyInstance, FastifyRequest } from 'fastify';
import { admissionOf, admitByKey, traceparentOf } from '#services/gateway/auth/admission.ts';
import { createApiKey, revokeApiKey, rotateApiKey } from '#shared/aggregates/directory/decide.ts';
import { createApiKeyBodySchema, rotateApiKeyBodySchema, toShownApiKey } from '#shared/contracts/http/directory.ts';
import { organizationKey } from '#shared/contracts/read-models.ts';
import { askBus } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';
import { countRequest, hourSeconds } from '../count-request.ts';
import { parseInput } from '../parse-input.ts';
import { appendToDirectory, type RequestOrigin } from './append-to-directory.ts';
import { type NewApiKey, newApiKey, renewedApiKey } from './new-api-key.ts';

const hourMs = 3_600_000;

type KeyParams = { Params: { id: string } };

/** An organization's own API keys. */
export async function apiKeyRoutes(app: FastifyInstance, context: GatewayContext): Promise<void> {
  app.addHook('onRequest', admitByKey(context, { kinds: ['admin'], scope: 'method' }));

  app.get('/v1/api-keys', async (request) => {
    const { organization } = admissionOf(request);
    const stored = await askBus(context.bus.readModels.directoryOrganizations.get(organizationKey(organization)));
    return { apiKeys: (stored?.document.state.keys ?? []).map(toShownApiKey) };
  });

  app.post('/v1/api-keys', async (request, reply) => {
    const { organization, organizationPlan } = admissionOf(request);
    const body = parseInput(createApiKeyBodySchema, request.body);
    await countRequest(context, reply, [
      {
        limit: { name: 'keys', requests: context.config.keysPerHour[organizationPlan], windowSeconds: hourSeconds },
        key: organization,
      },
    ]);
    const key = newApiKey(body, context.clock.now(), context.random);
    await appendToDirectory(context, organization, (state) => createApiKey(state, key.apiKey), originOf(request));
    return reply.code(201).send(shownOnce(key));
  });

  app.post<KeyParams>('/v1/api-keys/:id/rotate', async (request, reply) => {
    const { organization, organizationPlan } = admissionOf(request);
    const { overlapHours } = parseInput(rotateApiKeyBodySchema, request.body ?? undefined);
    await countRequest(context, reply, [
      {
        limit: { name: 'keys', requests: context.config.keysPerHour[organizationPlan], windowSeconds: hourSeconds },
        key: organization,
      },
    ]);
    const now = context.clock.now();
    const overlapEnd = new Date(now.getTime() + overlapHours * hourMs).toISOString();
    let renewed: NewApiKey | undefined;
    await appendToDirectory(
      context,
      organization,
      (state) =>
        rotateApiKey(state, request.params.id, overlapEnd, (old) => {
          renewed = renewedApiKey(old, now, context.random);
          return renewed.apiKey;
        }),
      originOf(request),
    );
    if (renewed === undefined) throw new Error('a rotation was appended without a new key');
    return reply.code(201).send(shownOnce(renewed));
  });

  app.delete<KeyParams>('/v1/api-keys/:id', async (request, reply) => {
    const { organization } = admissionOf(request);
    await appendToDirectory(
      context,
      organization,
      (state) => revokeApiKey(state, request.params.id),
      originOf(request),
    );
    return reply.code(204).send();
  });
}

const shownOnce = ({ apiKey, secret }: NewApiKey) => ({ ...toShownApiKey(apiKey), key: secret });

function originOf(request: FastifyRequest): RequestOrigin {
  return { actor: admissionOf(request).actor, requestId: request.id, traceparent: traceparentOf(request) };
}
