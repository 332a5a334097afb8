import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
} from '../../../test/support/gateway-harness.ts';

const docs = 'https://docs.bindery.test';
let gateway: GatewayHarness;
beforeEach(async () => {
  gateway = await gatewayHarness({ BINDERY_PLAYGROUND_ORIGINS: `${docs}, http://demo.localhost:8090` });
});
afterEach(() => gateway.close());

const preflight = (origin: string, url = '/v1/static-export/jobs') =>
  gateway.app.inject({
    method: 'OPTIONS',
    url,
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type',
    },
  });

test('pages of the named origins may send any request, also refused ones, and read the answer', async () => {
  for (const origin of [docs, 'http://demo.localhost:8090']) {
    const answer = await preflight(origin);
    expect([answer.statusCode, answer.headers]).toMatchObject([
      204,
      {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': expect.stringContaining('DELETE'),
        'access-control-allow-headers': 'authorization, content-type',
        vary: 'Origin',
      },
    ]);
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  }
  const acme = await createOrganization(gateway);
  const list = (key: string) => gateway.app.inject({ url: '/v1/api-keys', headers: { ...bearer(key), origin: docs } });
  for (const [key, status] of [
    [acme.adminKey, 200],
    ['svc_wrong', 401],
  ] as const) {
    const answer = await list(key);
    expect([answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([status, docs]);
    expect(answer.headers['access-control-expose-headers']).toContain('x-request-id');
  }
});

test('pages of other origins may not', async () => {
  for (const origin of ['https://docs.bindery.test:444', 'http://docs.bindery.test', 'https://evil.test', 'null']) {
    const answer = await preflight(origin);
    expect([origin, answer.headers['access-control-allow-origin']]).toEqual([origin, undefined]);
    expect(answer.statusCode).not.toBe(204);
    const read = await gateway.app.inject({ url: '/v1/api-keys', headers: { origin } });
    expect([read.statusCode, read.headers['access-control-allow-origin']]).toEqual([401, undefined]);
  }
});

test('without named origins no page may', async () => {
  const closed = await gatewayHarness();
  const headers = { origin: docs, 'access-control-request-method': 'POST' };
  const answer = await closed.app.inject({ method: 'OPTIONS', url: '/v1/static-export/jobs', headers });
  expect([answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([404, undefined]);
  await closed.close();
});

test.each(['https://docs.bindery.test/', 'docs.bindery.test', '*'])('%s is no origin', async (origin) => {
  await expect(gatewayHarness({ BINDERY_PLAYGROUND_ORIGINS: origin })).rejects.toThrow(/BINDERY_PLAYGROUND_ORIGINS/);
});
