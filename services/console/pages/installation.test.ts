import Fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addHealthRoutes } from '#shared/runtime/health-routes.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { programVersion } from '#shared/runtime/program-version.ts';
import { type ConsoleHarness, consoleHarness } from '../../../test/support/console-harness.ts';
import {
  bearer,
  createOrganization,
  type GatewayHarness,
  gatewayHarness,
  operatorToken,
} from '../../../test/support/gateway-harness.ts';

const publisher = Fastify();
const signer = Fastify();
let busProblem: string | undefined;
let gateway: GatewayHarness;
let site: ConsoleHarness;

beforeAll(async () => {
  addHealthRoutes(publisher, 'publisher', {
    checks: {
      bus: async () => {
        if (busProblem !== undefined) throw new Error(busProblem);
      },
    },
    degraded: () => ({ drafts: '<script>alert(1)</script>' }),
    draining: () => false,
    metrics: serviceMetrics('publisher'),
  });
  signer.get('/readyz', () => ({ hello: 'I am no signer' }));
  const [publisherUrl, signerUrl] = [await publisher.listen({ port: 0 }), await signer.listen({ port: 0 })];
  gateway = await gatewayHarness({ BINDERY_PUBLISHER_URL: publisherUrl, BINDERY_LINK_SIGNER_URL: signerUrl });
  site = await consoleHarness(gateway);
});
afterAll(async () => {
  await site.close();
  await gateway.close();
  await Promise.all([publisher.close(), signer.close()]);
});

const listed = async () =>
  (await gateway.app.inject({ url: '/v1/installation/services', headers: bearer(operatorToken) })).json();

test('a service reports what is missing, and one that does not answer as it should is unreachable', async () => {
  const version = programVersion;
  expect(await listed()).toEqual({
    gateways: 2,
    services: [
      { service: 'gateway', state: 'ready', version, problems: [] },
      {
        ...{ service: 'publisher', state: 'degraded', version },
        problems: [{ part: 'drafts', reason: '<script>alert(1)</script>' }],
      },
      {
        ...{ service: 'link-signer', state: 'unreachable' },
        problems: [{ part: 'link-signer', reason: 'its address answers 200, and not as a link-signer of Bindery' }],
      },
      {
        ...{ service: 'assistant', state: 'unreachable' },
        problems: [{ part: 'assistant', reason: expect.stringMatching(/\w/) }],
      },
    ],
  });
  busProblem = 'the bus does not answer';
  expect((await listed()).services[1]).toMatchObject({
    state: 'unready',
    problems: expect.arrayContaining([{ part: 'bus', reason: busProblem }]),
  });
});

test('the page shows what the interface says, and reasons as text', async () => {
  const visitor = await site.signedIn(operatorToken);
  const { html } = await visitor.get('/installation');
  for (const { service, state, version = 'unknown', problems } of (await listed()).services) {
    const row = html.slice(html.indexOf(`<th scope="row">${service}</th>`)).split('</tr>')[0];
    expect(row).toContain(state);
    expect(row).toContain(version);
    for (const { reason } of problems) expect(row).toContain(reason.replaceAll('<', '&lt;').replaceAll('>', '&gt;'));
  }
  expect(html).toContain('drafts: &lt;script&gt;');
  expect(html).not.toContain('<script>alert');
});

test('people of an organization do not see it', async () => {
  const { adminKey } = await createOrganization(gateway);
  const visitor = await site.signedIn(adminKey);
  expect((await visitor.get('/installation')).status).toBe(404);
  const asked = await gateway.app.inject({ url: '/v1/installation/services', headers: bearer(adminKey) });
  expect(asked.json()).toMatchObject({ code: 'wrong_key_kind' });
});
