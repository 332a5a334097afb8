import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  type TestOrganization,
} from '../support/gateway-harness.ts';
import { type RedisServer, startRedis } from '../support/start-redis.ts';

describeWithServers(['redis-server'], 'two gateways and one Redis', () => {
  let redis: RedisServer;
  let gateways: GatewayHarness[];
  /** The same organizations at each gateway, by their names. */
  let organizations: Record<string, TestOrganization>[];

  beforeAll(async () => {
    redis = await startRedis();
    const env = { BINDERY_REDIS_URL: redis.url, BINDERY_TRUST_PROXY: '10.0.0.0/8' };
    gateways = [await gatewayHarness(env), await gatewayHarness(env)];
    organizations = [];
    for (const gateway of gateways) {
      const acme = await createOrganization(gateway, 'Acme');
      organizations.push({ acme, globex: await createOrganization(gateway, 'Globex') });
    }
  });

  afterAll(async () => {
    for (const gateway of gateways) await gateway.close();
    await redis.stop();
  });

  type Ask = { organization: string; address: string; forwarded?: string };

  /** Sends many requests through both gateways, and returns the number of refused ones by limit. There is no assistant, so accepted ones get 503. */
  async function asked(times: number, ask: (at: number) => Ask): Promise<Record<string, number>> {
    const results: Record<string, number> = {};
    let next = 0;
    const worker = async () => {
      for (let at = next++; at < times; at = next++) {
        const { organization, address, forwarded } = ask(at);
        const app = gateways[at % 2]?.app as FastifyInstance;
        const answer = await app.inject({
          method: 'POST',
          url: '/discovery/v1/search/docs',
          remoteAddress: address,
          headers: {
            ...bearer(organizations[at % 2]?.[organization]?.assistantKey ?? ''),
            ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }),
          },
          payload: { query: 'how' },
        });
        const limit = /\((.+)\)/.exec(answer.json().error)?.[1];
        const result = answer.statusCode === 429 ? `refused by ${limit}` : String(answer.statusCode);
        results[result] = (results[result] ?? 0) + 1;
        expect(answer.headers).toMatchObject({ ratelimit: expect.any(String), 'ratelimit-policy': expect.any(String) });
        if (answer.statusCode === 429) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      }
    };
    await Promise.all(Array.from({ length: 40 }, worker));
    return results;
  }

  test('of 10,500 requests of one organization in an hour exactly 10,000 pass', { timeout: 120_000 }, async () => {
    const results = await asked(10_500, (at) => ({ organization: 'acme', address: `192.0.2.${at % 5}` }));
    expect(results).toEqual({ 503: 10_000, 'refused by assistant': 500 });
  });

  test('of 10,500 requests of one /64 in a day exactly 10,000 pass, with any X-Forwarded-For; the others do not count for its organization', {
    timeout: 120_000,
  }, async () => {
    const results = await asked(10_500, (at) => ({
      organization: 'globex',
      address: `2001:db8:1:2::${(at % 1_000).toString(16)}`,
      // The peer is not a trusted proxy.
      forwarded: `198.51.100.${at % 250}`,
    }));
    expect(results).toEqual({ 503: 10_000, 'refused by assistant-address': 500 });
    // Exactly the 10,000 have used up the hour of the organization.
    const ofNext = await gateways[0]?.context.rateLimiter.take(
      { name: 'assistant', requests: 10_001, windowSeconds: 3_600 },
      organizations[0]?.globex?.id ?? '',
    );
    expect(ofNext).toMatchObject({ allowed: true, remaining: 0 });
  });

  test('the X-Forwarded-For of a trusted proxy decides whose request it is', async () => {
    const limit = { name: 'assistant-address', requests: 10_000, windowSeconds: 86_400 };
    const left = async (address: string) => (await gateways[0]?.context.rateLimiter.take(limit, address))?.remaining;
    await asked(10, () => ({ organization: 'acme', address: '10.0.0.1', forwarded: '203.0.113.9' }));
    expect(await left('203.0.113.9')).toBe(10_000 - 11);
    expect(await left('10.0.0.1')).toBe(10_000 - 1);
  });
});
