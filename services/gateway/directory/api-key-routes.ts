import { z } from 'zod';
import { type ApiKey, apiKeySchema, type DirectoryState } from '#shared/aggregates/directory/directory.ts';
import { createApiKey, revokeApiKey, revokeDescendants, rotateApiKey } from '#shared/aggregates/directory/decide.ts';
import { goodDescendants } from '#shared/aggregates/directory/key-origins.ts';
import { isShortLived } from '#shared/aggregates/directory/key-rights.ts';
import {
  apiKeyListSchema,
  apiKeyRevokedSchema,
  createApiKeyBodySchema,
  createdApiKeySchema,
  revokeApiKeyQuerySchema,
  rotateApiKeyBodySchema,
  toShownApiKey,
} from '#shared/interfaces/http/directory.ts';
import type { EventMetadata } from '#shared/contracts/commit.ts';
import { organizationKey } from '#shared/interfaces/read-models.ts';
import { Conflict } from '#shared/runtime/failures.ts';
import { hourMs } from '#shared/runtime/time-and-ids.ts';
import { askBus } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';
import { publicRoute } from '../public-route.ts';
import { perHour, perKeyPerHour } from '../rate-limits.ts';
import { appendToDirectory } from './append-to-directory.ts';
import { listedApiKeys } from './listed-api-keys.ts';
import { type NewApiKey, newApiKey, renewedApiKey, shownOnce } from './new-api-key.ts';
import { keyOriginsReader } from './read-key-origins.ts';

const params = z.object({ id: apiKeySchema.shape.id.meta({ title: 'API key' }) });
const limits = [perHour('keys', 'keysPerHour')] as const;

/** An organization's own API keys. */
export const apiKeyRoutes = [
  publicRoute(
    {
      id: 'listApiKeys',
      method: 'GET',
      path: '/v1/api-keys',
      summary:
        "Lists the organization's API keys without their secrets, with the time of their last use, to the minute.",
      key: 'admin',
      answer: apiKeyListSchema,
    },
    async ({ bus, keyUses }, { principal: { organization } }) => {
      const stored = await askBus(bus.readModels.directoryOrganizations.get(organizationKey(organization)));
      return { apiKeys: await listedApiKeys(keyUses, organization, stored?.document.state.keys ?? []) };
    },
  ),
  publicRoute(
    {
      id: 'createApiKey',
      method: 'POST',
      path: '/v1/api-keys',
      summary: 'Creates an API key with at most the rights of the key that makes it. Its secret is shown only once.',
      key: 'admin',
      role: 'admin',
      body: createApiKeyBodySchema,
      limits,
      status: 201,
      answer: createdApiKeySchema,
      errors: ['in_use', 'exceeds_key'],
    },
    async (context, { principal: { organization, key }, body, origin }) => {
      const now = context.clock.now();
      let created: NewApiKey | undefined;
      const make = (maker: ApiKey) => {
        created = newApiKey(body, now, context.random, maker);
        return created.apiKey;
      };
      const beganAt = body.kind === 'assistant' ? await beginOfLife(context, organization, key) : undefined;
      await appendToDirectory(
        context,
        organization,
        (state, change) => createApiKey(state, change, make, beganAt),
        origin,
      );
      return shownOnce(made(created));
    },
  ),
  publicRoute(
    {
      id: 'rotateApiKey',
      method: 'POST',
      path: '/v1/api-keys/:id/rotate',
      summary: 'Creates a key with the same rights and expiry. The old key stays valid for the overlap.',
      key: 'admin',
      role: 'admin',
      params,
      body: rotateApiKeyBodySchema,
      limits,
      status: 201,
      answer: createdApiKeySchema,
      errors: ['in_use', 'exceeds_key'],
    },
    async (context, { principal: { organization, key }, params, body, origin }) => {
      const now = context.clock.now();
      const overlapEnd = new Date(now.getTime() + body.overlapHours * hourMs).toISOString();
      let renewed: NewApiKey | undefined;
      const renew = (old: ApiKey) => {
        renewed = renewedApiKey(old, body, now, context.random);
        return renewed.apiKey;
      };
      await appendToDirectory(
        context,
        organization,
        async (state, change) => {
          const isAssistant = state?.keys.some(({ id, kind }) => id === params.id && kind === 'assistant');
          const beganAt = isAssistant === true ? await beginOfLife(context, organization, key) : undefined;
          return rotateApiKey(state, change, { keyId: params.id, overlapEnd }, renew, beganAt);
        },
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
      summary:
        'Revokes an API key. All gateways refuse it within a second. The answer lists all keys that were created with it, directly or through other keys; the request can revoke these, too.',
      key: 'admin',
      role: 'admin',
      params,
      query: revokeApiKeyQuerySchema,
      limits: [perKeyPerHour('revocations', 'changesPerHour')],
      answer: apiKeyRevokedSchema,
    },
    async (context, { principal: { organization }, params: { id }, query, origin }) => {
      // The key is revoked before the log is read for the keys that it made: the log may be long, and a revoked key makes no more keys.
      await despiteOthers(() => appendToDirectory(context, organization, (state) => revokeApiKey(state, id), origin));
      const readOrigins = keyOriginsReader(context, organization);
      let descendants = new Set<string>();
      const decide = async (state: DirectoryState | undefined, { time }: EventMetadata) => {
        const origins = await readOrigins();
        const found = state === undefined ? [] : goodDescendants(state, id, origins, time);
        descendants = new Set(found.map((key) => key.id));
        return query.descendants === 'revoke' ? revokeDescendants(state, found) : [];
      };
      const { keys } = await despiteOthers(() => appendToDirectory(context, organization, decide, origin));
      const revokedAt = keys.find((key) => key.id === id)?.revokedAt;
      if (revokedAt === undefined) throw new Error(`${id} was revoked, but the log does not have it`);
      return { id, revokedAt, descendants: keys.filter((key) => descendants.has(key.id)).map(toShownApiKey) };
    },
  ),
];

const mostRounds = 10;

/** A holder of a stolen key could make keys so fast that every revocation conflicts with them. So a revocation retries ten times as often as a creation. */
async function despiteOthers<T>(append: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await append();
    } catch (error) {
      if (!(error instanceof Conflict) || round === mostRounds) throw error;
    }
  }
}

/** Start of the life of a short-lived key, which may be before its creation; undefined for other keys. */
async function beginOfLife(context: GatewayContext, organization: string, key: ApiKey): Promise<string | undefined> {
  if (!isShortLived(key)) return undefined;
  return (await keyOriginsReader(context, organization)()).get(key.id)?.beganAt;
}

function made(key: NewApiKey | undefined): NewApiKey {
  if (key === undefined) throw new Error('an event of a new key was appended without a new key');
  return key;
}
