import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Fastify from 'fastify';
import { beforeEach, expect, test } from 'vitest';
import { callerHeader, callerSchema } from '#shared/interfaces/internal/caller.ts';
import { docsHosts, hostReadiness, isReady } from '../../test/support/docs-host.ts';
import { exampleBundle } from '../../test/support/example-bundle.ts';
import { bearer, createOrganization, type GatewayHarness, gatewayHarness } from '../../test/support/gateway-harness.ts';

const { folder, atEnd, host } = docsHosts();
let gateway: GatewayHarness;
let platform: string;
let adminKey: string;
/** The reader addresses that the assistant received. */
let told: string[];

beforeEach(async () => {
  told = [];
  const assistant = Fastify();
  assistant.post('/internal/*', async (request) => {
    told.push(callerSchema.parse(JSON.parse(String(request.headers[callerHeader]))).address);
    return { results: [] };
  });
  gateway = await gatewayHarness({
    BINDERY_ASSISTANT_URL: await assistant.listen({ host: '127.0.0.1', port: 0 }),
    BINDERY_LIMIT_ASSISTANT_PER_ADDRESS_PER_DAY: '2',
  });
  atEnd(() => assistant.close());
  atEnd(() => gateway.close());
  ({ adminKey } = await createOrganization(gateway));
  platform = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
});

async function keyWith(payload: object): Promise<string> {
  const answer = await gateway.app.inject({
    method: 'POST',
    url: '/v1/api-keys',
    headers: bearer(adminKey),
    payload: { kind: 'assistant', ...payload },
  });
  expect(answer.statusCode).toBe(201);
  return answer.json<{ key: string }>().key;
}

/** Asks as a reader at an address, through a host that uses `key`. Returns the status of the answer. */
async function hostWith(key: string) {
  const file = join(folder(), 'site.tar.gz');
  await writeFile(file, await exampleBundle('one'));
  const running = await host({
    BINDERY_BUNDLE_PATH: file,
    BINDERY_PLATFORM_URL: platform,
    BINDERY_DOCS_DOMAIN: 'docs',
    BINDERY_ASK_KEY: key,
    BINDERY_TRUST_PROXY: 'loopback',
  });
  await hostReadiness(running, isReady);
  return async (address: string) => {
    const answer = await fetch(`${running.url}/discovery/v1/search/docs`, {
      method: 'POST',
      headers: { origin: running.url, 'content-type': 'application/json', 'x-forwarded-for': address },
      body: '{"query":"x"}',
    });
    return answer.status;
  };
}

test('two readers behind one host have a limit each, where its key may say who asks', async () => {
  const ask = await hostWith(await keyWith({ scopes: ['read', 'proxy'] }));
  const [one, other] = ['203.0.113.9', '2001:db8::9'];
  expect([await ask(one), await ask(one), await ask(one)]).toEqual([200, 200, 429]);
  expect([await ask(other), await ask(other), await ask(other)]).toEqual([200, 200, 429]);
  expect(told).toEqual([one, one, other, other]);
});

test('without the scope they share the limit of the host', async () => {
  const ask = await hostWith(await keyWith({ scopes: ['read'] }));
  expect([await ask('203.0.113.9'), await ask('2001:db8::9'), await ask('203.0.113.10')]).toEqual([200, 200, 429]);
  expect(told).toEqual(['127.0.0.1', '127.0.0.1']);
});

test('a key with the scope may still be used from its own addresses alone, and has to name one address', async () => {
  const search = (key: string, address: string) =>
    fetch(`${platform}/discovery/v1/search/docs`, {
      method: 'POST',
      headers: { ...bearer(key), 'content-type': 'application/json', 'x-reader-address': address },
      body: '{"query":"x"}',
    });
  const elsewhere = await keyWith({ scopes: ['read', 'proxy'], allowedAddresses: ['203.0.113.9'] });
  expect(await (await search(elsewhere, '203.0.113.9')).json()).toMatchObject({ code: 'address_not_allowed' });
  const here = await keyWith({ scopes: ['read', 'proxy'], allowedAddresses: ['127.0.0.1'] });
  for (const address of ['nobody', '203.0.113.0/24', '203.0.113.9, 198.51.100.1'])
    expect(await (await search(here, address)).json()).toMatchObject({
      code: 'invalid_request',
      error: expect.stringContaining('X-Reader-Address'),
    });
  expect((await search(here, '[2001:db8::9]:50123')).status).toBe(200);
  expect(told).toEqual(['2001:db8::9']);
});
