import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { keyDirectory } from '#services/gateway/auth/key-directory.ts';
import { signedInPeople } from '#services/gateway/auth/people.ts';
import { keyUses } from '#services/gateway/auth/key-uses.ts';
import { buildGateway } from '#services/gateway/build-gateway.ts';
import { gatewaySettings } from '#services/gateway/config.ts';
import type { GatewayContext, SeenAnswer } from '#services/gateway/context.ts';
import { cachedOrganizations } from '#services/gateway/directory/organizations.ts';
import { agentCounts } from '#services/gateway/discovery/agent-counts.ts';
import { siteOutlines } from '#services/gateway/discovery/site-outlines.ts';
import { jobStatusFeed } from '#services/gateway/exports/job-status-feed.ts';
import { siteReaders } from '../../services/gateway/sites/site-readers.ts';
import { sitesFeed } from '#services/gateway/sites/sites-feed.ts';
import { sitePages } from '#services/gateway/exports/site-pages.ts';
import { openRateLimiter } from '#shared/http/open-rate-limiter.ts';
import { loadConfig } from '#shared/runtime/config.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { type Clock, randomBase62 } from '#shared/runtime/time-and-ids.ts';
import { folderObjectStore } from '#shared/storage/folder-object-store.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { type MemoryBus, memoryBus } from './memory-bus.ts';
import { runProjections } from './run-projections.ts';
import { testLogger } from './test-logger.ts';

export const operatorToken = 'the-operator-token-of-tests';
export const serviceToken = 'the-service-token-of-tests';
export const personTokenKey = 'the-key-of-tokens-of-people-in-tests';
const linkSigningKey = 'the-link-signing-key-of-tests';

export type GatewayHarness = {
  app: FastifyInstance;
  context: GatewayContext;
  bus: MemoryBus;
  objectStore: ObjectStore;
  /** The current time of the gateway and the object store; tests set it. */
  clock: Clock & { time: Date };
  close(): Promise<void>;
};

/** Parts of the gateway that it shares with the services that it calls. */
export type ServiceParts = Pick<GatewayHarness, 'bus' | 'objectStore' | 'clock'> & { logger: Logger; folder: string };

/** A gateway with its projections over a bus in memory and an object store in a new folder. */
export async function gatewayHarness(
  env: Record<string, string> = {},
  startServices?: (parts: ServiceParts) => Promise<{ env: Record<string, string>; close(): Promise<void> }>,
): Promise<GatewayHarness> {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-gateway-'));
  const bus = memoryBus();
  const stop = new AbortController();
  const logger = testLogger;
  const clock = { time: new Date('2026-03-01T10:00:00.000Z'), now: () => clock.time };
  const objectStore = folderObjectStore({
    folder,
    publicBaseUrl: 'http://gateway.test',
    signingKey: linkSigningKey,
    clock,
  });
  const services = await startServices?.({ bus, objectStore, clock, logger, folder });
  const config = loadConfig(gatewaySettings, {
    BINDERY_NATS_PASSWORD_GATEWAY: 'unused',
    BINDERY_TOKEN_GATEWAY_TO_PUBLISHER: serviceToken,
    BINDERY_TOKEN_GATEWAY_TO_LINK_SIGNER: serviceToken,
    BINDERY_TOKEN_GATEWAY_TO_ASSISTANT: serviceToken,
    BINDERY_TOKEN_GATEWAY_TO_PROJECTOR: serviceToken,
    BINDERY_HASH_KEY: 'the-hash-key-of-tests',
    BINDERY_OPERATOR_TOKEN: operatorToken,
    BINDERY_PERSON_TOKEN_KEY: personTokenKey,
    BINDERY_LINK_SIGNING_KEY: linkSigningKey,
    BINDERY_PUBLISHER_URL: 'http://127.0.0.1:1',
    BINDERY_LINK_SIGNER_URL: 'http://127.0.0.1:1',
    BINDERY_ASSISTANT_URL: 'http://127.0.0.1:1',
    BINDERY_PROJECTOR_URL: 'http://127.0.0.1:1',
    ...services?.env,
    ...env,
  });
  const undeclared: string[] = [];
  const sites = sitesFeed(bus.readModels.sites, config.sitesBase, logger, stop.signal);
  const organizations = cachedOrganizations(bus.readModels.directoryOrganizations);
  const context: GatewayContext = {
    config,
    bus,
    busOutage: { orGone: (ask) => ask(() => stop.signal) },
    objectStore,
    rateLimiter: await openRateLimiter(config, { copies: () => 2, logger }),
    clock,
    random: randomBase62,
    logger,
    metrics: serviceMetrics('gateway'),
    keys: keyDirectory(bus.readModels.directoryKeys, clock, logger, stop.signal),
    keyUses: keyUses(bus.keyUses, clock, logger),
    jobStatusFeed: jobStatusFeed(bus.liveUpdates, logger),
    sitePages: sitePages(objectStore),
    siteOutlines: siteOutlines(objectStore),
    agentCounts: agentCounts(bus, clock, logger),
    sitesBase: config.sitesBase,
    sitesFeed: sites,
    siteReaders: siteReaders(organizations, sites),
    organizations,
    liveGateways: () => 2,
    people: signedInPeople(config.personTokenKey, organizations, clock),
    onAnswer: (seen) => {
      const problem = undeclaredPart(seen);
      if (problem !== undefined) undeclared.push(`${seen.route}: ${problem}`);
    },
    draining: () => stop.signal.aborted,
    stopping: stop.signal,
  };
  const stopProjections = runProjections(bus, { clock });
  const app = await buildGateway(context);
  return {
    app,
    context,
    bus,
    objectStore,
    clock,
    close: async () => {
      stop.abort();
      const projections = stopProjections();
      await app.close();
      await projections;
      await context.keyUses.close();
      await context.agentCounts.close();
      await context.rateLimiter.close();
      await services?.close();
      await objectStore.close();
      await rm(folder, { recursive: true, force: true });
      if (undeclared.length > 0) throw new Error(`Answers are not as their routes declare: ${undeclared.join('; ')}`);
    },
  };
}

export type TestOrganization = { id: string; adminKey: string; adminKeyId: string; assistantKey: string };

/** An organization with the domain `docs` (also `docs.acme.test`) and a key of each kind. */
export async function createOrganization(
  { app }: Pick<GatewayHarness, 'app'>,
  name = 'Acme',
  plan = 'enterprise',
  domain: object = {},
): Promise<TestOrganization> {
  const operator = { authorization: `Bearer ${operatorToken}` };
  const created = await app.inject({
    method: 'POST',
    url: '/v1/organizations',
    headers: operator,
    payload: { name, plan },
  });
  const { organization, adminKey } = created.json();
  await app.inject({
    method: 'POST',
    url: `/v1/organizations/${organization.id}/domains`,
    headers: operator,
    payload: { domain: 'docs', hosts: [`docs.${organization.id}.test`], ...domain },
  });
  const assistant = await app.inject({
    method: 'POST',
    url: '/v1/api-keys',
    headers: { authorization: `Bearer ${adminKey.key}` },
    payload: { kind: 'assistant', name: 'site' },
  });
  return { id: organization.id, adminKey: adminKey.key, adminKeyId: adminKey.id, assistantKey: assistant.json().key };
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** The difference of an answer from the declaration of its route, as the end of a sentence; undefined if there is none. */
function undeclaredPart(seen: SeenAnswer): string | undefined {
  if ('code' in seen)
    return seen.declared.includes(seen.code)
      ? undefined
      : `has the error ${seen.code}, which "errors" of its declaration does not name`;
  if (seen.declared === undefined) return seen.body === undefined ? undefined : 'has a body';
  return seen.declared.safeParse(JSON.parse(JSON.stringify(seen.body))).error?.message;
}
