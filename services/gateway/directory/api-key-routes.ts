import { z } from 'zod';
import type { ApiKey } from '#shared/aggregates/directory/directory.ts';
import { createApiKey, revokeApiKey, rotateApiKey } from '#shared/aggregates/directory/decide.ts';
import {
  apiKeyListSchema,
  createApiKeyBodySchema,
  createdApiKeySchema,
  rotateApiKeyBodySchema,
  toShownApiKey,
} from '#shared/contracts/http/directory.ts';
import { organizationKey } from '#shared/contracts/read-models.ts';
import { hourMs } from '#shared/runtime/time-and-ids.ts';
import { askBus } from '../ask-bus.ts';
import { publicRoute } from '../public-route.ts';
import { perHour, perKeyPerHour } from '../rate-limits.ts';
import { appendToDirectory } from './append-to-directory.ts';
import { type NewApiKey, newApiKey, renewedApiKey, shownOnce } from './new-api-key.ts';

const params = z.object({ id: z.string() });
const limits = [perHour('keys', 'keysPerHour')] as const;

/** An organization's own API keys. */
export const apiKeyRoutes = [
  publicRoute(
    {
      id: 'listApiKeys',
      method: 'GET',
      path: '/v1/api-keys',
      summary: "Lists the organization's API keys, without their secrets, and when each was used last, to the minute.",
      key: 'admin',
      answer: apiKeyListSchema,
    },
    async ({ bus, keyUses }, { principal: { organization } }) => {
      const stored = await askBus(bus.readModels.directoryOrganizations.get(organizationKey(organization)));
      const keys = stored?.document.state.keys ?? [];
      const uses = await keyUses.lastUses(
        organization,
        keys.map(({ id }) => id),
      );
      return {
        apiKeys: keys.map((key) => {
          const lastUsedAt = uses.get(key.id);
          return { ...toShownApiKey(key), ...(lastUsedAt === undefined ? {} : { lastUsedAt }) };
        }),
      };
    },
  ),
  publicRoute(
    {
      id: 'createApiKey',
      method: 'POST',
      path: '/v1/api-keys',
      summary: 'Creates an API key, which may do no more than the one that makes it. Its secret is shown this once.',
      key: 'admin',
      body: createApiKeyBodySchema,
      limits,
      status: 201,
      answer: createdApiKeySchema,
      errors: ['in_use', 'exceeds_key'],
    },
    async (context, { principal: { organization }, body, origin }) => {
      const now = context.clock.now();
      let created: NewApiKey | undefined;
      const make = (maker: ApiKey) => {
        created = newApiKey(body, now, context.random, maker);
        return created.apiKey;
      };
      await appendToDirectory(context, organization, (state, change) => createApiKey(state, change, make), origin);
      return shownOnce(made(created));
    },
  ),
  publicRoute(
    {
      id: 'rotateApiKey',
      method: 'POST',
      path: '/v1/api-keys/:id/rotate',
      summary: 'Creates a key that may do the same for as long a life. The old one goes on for the overlap.',
      key: 'admin',
      params,
      body: rotateApiKeyBodySchema,
      limits,
      status: 201,
      answer: createdApiKeySchema,
      errors: ['in_use', 'exceeds_key'],
    },
    async (context, { principal: { organization }, params, body, origin }) => {
      const now = context.clock.now();
      const overlapEnd = new Date(now.getTime() + body.overlapHours * hourMs).toISOString();
      let renewed: NewApiKey | undefined;
      const renew = (old: ApiKey) => {
        renewed = renewedApiKey(old, now, context.random);
        return renewed.apiKey;
      };
      await appendToDirectory(
        context,
        organization,
        (state, change) => rotateApiKey(state, change, params.id, overlapEnd, renew),
        origin,
      );
      return shownOnce(made(renewed));
    },
  ),
  publicRoute(
    {
      id: 'revokeApiKey',
      method: 'DELETE',
      path: '/v1/api-keys/:id',
      summary: 'Revokes an API key. All gateways refuse it within a second.',
      key: 'admin',
      params,
      limits: [perKeyPerHour('revocations', 'changesPerHour')],
      status: 204,
    },
    async (context, { principal: { organization }, params, origin }) => {
      await appendToDirectory(context, organization, (state) => revokeApiKey(state, params.id), origin);
    },
  ),
];

function made(key: NewApiKey | undefined): NewApiKey {
  if (key === undefined) throw new Error('an event of a new key was appended without a new key');
  return key;
}
