import type { InjectOptions } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
  type TestOrganization,
} from '../../test/support/gateway-harness.ts';

let gateway: GatewayHarness;
let acme: TestOrganization;

beforeEach(async () => {
  gateway = await gatewayHarness({
    BINDERY_LIMIT_KEYS_PER_HOUR: '4',
    BINDERY_LIMIT_STARTS_PER_HOUR: '3',
    BINDERY_LIMIT_PUBLICATIONS_PER_HOUR: '3',
    BINDERY_LIMIT_ASSISTANT_PER_HOUR: '3',
  });
  acme = await createOrganization(gateway);
});
afterEach(() => gateway.close());

const json = { 'content-type': 'application/json' };
type Sent = Pick<InjectOptions, 'payload'> & { headers?: Record<string, string> };
const wrongBodies: Record<string, [Sent, number]> = {
  'no JSON': [{ payload: '{"kind":', headers: json }, 400],
  'JSON that is too deep': [{ payload: `${'['.repeat(500)}${']'.repeat(500)}`, headers: json }, 413],
  'a wrong field': [{ payload: '{"kind":"root"}', headers: json }, 400],
  'another type': [{ payload: 'kind=admin', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415],
  'too many bytes': [{ payload: `"${'x'.repeat(1_100_000)}"`, headers: json }, 413],
};

describe('a request that is refused for its body counts', () => {
  const routes: Record<string, { method: 'POST' | 'PUT'; url: string; limit: number; key: () => string }> = {
    'of keys': { method: 'POST', url: '/v1/api-keys', limit: 3, key: () => acme.adminKey },
    'of starts': { method: 'POST', url: '/v1/static-export/jobs', limit: 3, key: () => acme.adminKey },
    'of questions': {
      method: 'POST',
      url: '/discovery/v1/search/docs',
      limit: 3,
      key: () => acme.assistantKey,
    },
  };
  const rows = Object.entries(routes).flatMap(([route, { method, url, limit, key }]) =>
    Object.entries(wrongBodies).map(([name, [sent, status]]) => ({
      route,
      name,
      method,
      url,
      limit,
      key,
      sent,
      status,
    })),
  );

  test.each(rows.filter(({ route, name }) => route !== 'of questions' || name !== 'a wrong field'))(
    'against the limit $route: $name',
    async ({ method, url, limit, key, sent, status }) => {
      const send = (more: Sent) =>
        gateway.app.inject({ method, url, ...more, headers: { ...bearer(key()), ...more.headers } });
      const statuses: number[] = [];
      for (let count = 0; count < limit; count += 1) statuses.push((await send(sent)).statusCode);
      expect(statuses).toEqual(Array<number>(limit).fill(status));
      const over = await send(sent);
      expect([over.statusCode, over.json().code]).toEqual([429, 'rate_limited']);
      expect(over.headers['retry-after']).toBeDefined();
      // The limit also refuses a valid request.
      expect(
        (await send({ payload: '{"kind":"assistant","domain":"docs","query":"x"}', headers: json })).statusCode,
      ).toBe(429);
    },
  );

  test('once, also where a request is counted later', async () => {
    const start = (payload: object) =>
      gateway.app.inject({ method: 'POST', url: '/v1/static-export/jobs', headers: bearer(acme.adminKey), payload });
    const left = async () => (await start({ domain: 'docs', paths: 7 })).headers['ratelimit'];
    expect(await left()).toMatch(/r=2/);
    expect(await left()).toMatch(/r=1/);
  });

  test('not when nobody let its sender in', async () => {
    for (let count = 0; count < 10; count += 1) {
      const refused = await gateway.app.inject({
        method: 'POST',
        url: '/v1/api-keys',
        headers: { ...bearer('svc_wrong'), ...json },
        payload: '{',
      });
      expect(refused.statusCode).toBe(401);
    }
    const made = await gateway.app.inject({
      method: 'POST',
      url: '/v1/api-keys',
      headers: bearer(acme.adminKey),
      payload: { kind: 'admin' },
    });
    expect(made.statusCode).toBe(201);
  });

  test('for the operator as well', async () => {
    await gateway.close();
    gateway = await gatewayHarness({ BINDERY_LIMIT_OPERATOR_PER_HOUR: '2' });
    const create = () =>
      gateway.app.inject({
        method: 'POST',
        url: '/v1/organizations',
        headers: { ...bearer(operatorToken), ...json },
        payload: '{',
      });
    expect([(await create()).statusCode, (await create()).statusCode, (await create()).statusCode]).toEqual([
      400, 400, 429,
    ]);
  });
});
