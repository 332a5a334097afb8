import { createServer, request as ask, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ConsoleHarness, consoleHarness } from '../../../test/support/console-harness.ts';
import { createOrganization, type GatewayHarness, gatewayHarness } from '../../../test/support/gateway-harness.ts';

/** The path whose requests the proxy in front of the gateway refuses, or leaves without an answer. */
let failing: { path: string; by: 'refusing' | 'silence' } | undefined;
const asked = new Set<string>();
let proxy: Server;
let gateway: GatewayHarness;
let site: ConsoleHarness;
let visitor: Awaited<ReturnType<ConsoleHarness['signedIn']>>;

beforeAll(async () => {
  gateway = await gatewayHarness();
  const { adminKey } = await createOrganization(gateway);
  const address = new URL(await gateway.app.listen({ port: 0, host: '127.0.0.1' }));
  proxy = createServer((incoming, outgoing) => {
    const [path = ''] = (incoming.url ?? '').split('?');
    asked.add(path);
    if (failing?.path === path && failing.by === 'silence') return;
    if (failing?.path === path) {
      outgoing.writeHead(503, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ error: 'It is down.', code: 'unavailable', retry: true, requestId: 'req_of_it' }));
      return;
    }
    const { method, url, headers } = incoming;
    const passed = ask({ host: address.hostname, port: address.port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  site = await consoleHarness(gateway, { BINDERY_PLATFORM_URL: `http://127.0.0.1:${port}` });
  visitor = await site.signedIn(adminKey);
});
afterAll(async () => {
  await site.close();
  proxy.closeAllConnections();
  proxy.close();
  await gateway.close();
});
beforeEach(() => {
  failing = undefined;
});

/** Pages that combine several requests, with those without which there is no page. */
const pages: readonly [page: string, needed: readonly string[]][] = [
  ['/o/acme', []],
  ['/o/acme/exports', []],
  ['/o/acme/domains/docs', []],
  ['/o/acme/assistant', ['/v1/whoami']],
  ['/o/acme/assistant/docs', []],
  ['/o/acme/audit', []],
  ['/o/acme/usage', []],
  ['/o/acme/find?q=docs', []],
];

test.each(pages)('%s stands when any one of its requests fails, and says what is not known', async (page, needed) => {
  asked.clear();
  expect((await visitor.get(page)).status).toBe(200);
  const paths = [...asked];
  expect(paths.length).toBeGreaterThan(1);
  for (const path of paths) {
    failing = { path, by: 'refusing' };
    const { status, html } = await visitor.get(page);
    expect([path, status]).toEqual([path, needed.includes(path) ? 502 : 200]);
    const says = /not known|does not answer|It is down/.test(html);
    // The name of the organization and the choices of a filter are no answer that a reader misses.
    if (path !== '/v1/whoami' && path !== '/v1/api-keys') expect([path, says]).toEqual([path, true]);
  }
});

test('the overview does not wait for a request that hangs', async () => {
  failing = { path: '/v1/questions', by: 'silence' };
  const { status, html } = await visitor.get('/o/acme');
  expect(status).toBe(200);
  const [before = '', after = ''] = html.split('aria-labelledby="questions"');
  expect(before).toContain('Newest exports');
  expect(after).toContain('The platform did not answer within');
  expect(after).toContain('Use of the month beside the limits');
});
