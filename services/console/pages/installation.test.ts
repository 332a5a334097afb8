import { createServer, type AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { doctorSchema } from '#shared/interfaces/http/doctor.ts';
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
      {
        ...{ service: 'projector', state: 'unreachable' },
        problems: [{ part: 'projector', reason: expect.stringMatching(/\w/) }],
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

test('doctor names each check with its state and repair, and a hung one is cut off', async () => {
  const examined = async () =>
    doctorSchema.parse(
      (await gateway.app.inject({ url: '/v1/installation/doctor', headers: bearer(operatorToken) })).json(),
    );
  const { bus, objectStore } = gateway;
  const check = vi.spyOn(bus, 'check').mockImplementation(() => new Promise<never>(() => {}));
  vi.spyOn(objectStore, 'check').mockRejectedValueOnce(new Error('The bucket <b>docs</b> is missing.'));
  const { checks, commandOnly } = await examined();
  const of = (name: string) => checks.find((each) => each.name === name);
  expect(of('bus')).toMatchObject({ state: 'unknown', sentence: expect.stringContaining('did not answer within') });
  expect(of('object store')).toMatchObject({ state: 'fault', sentence: 'The bucket <b>docs</b> is missing.' });
  expect(of('link-signer')).toMatchObject({
    state: 'fault',
    repair: expect.stringContaining('log of the link-signer'),
  });
  expect(of('publisher')?.state).not.toBe('good');
  expect(of('limits')).toMatchObject({ state: 'warning' });
  expect(commandOnly.map(({ name }) => name)).toContain('machine');
  check.mockRestore();
  const { html } = await (await site.signedIn(operatorToken)).get('/installation/doctor');
  const { checks: shown } = await examined();
  for (const { name, state } of shown)
    expect(html.slice(html.indexOf(`<th scope="row">${name}</th>`)).split('</tr>')[0]).toContain(state);
  expect(shown[0]).toMatchObject({ name: 'bus', state: 'good' });
});

test('every page of the installation says what is not known while the platform takes requests and answers none', async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const other = await consoleHarness(gateway, { BINDERY_PLATFORM_URL: `http://127.0.0.1:${port}` });
  const visitor = await other.signedIn();
  for (const [name, value] of (await site.signedIn(operatorToken)).cookies) visitor.cookies.set(name, value);
  const pages = ['', '/doctor', '/work', '/dead-letters', '/housekeeping', '/verification'];
  const shown = await Promise.all(pages.map((path) => visitor.get(`/installation${path}`)));
  for (const [at, { status, html }] of shown.entries())
    expect([pages[at], status, html.includes('The platform did not answer within')]).toEqual([pages[at], 200, true]);
  await other.close();
  silent.close();
});
