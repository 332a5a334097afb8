import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireServer } from '#infra/setup/find-server.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { logInAt, siteOfAgents } from '../support/site-of-agents.ts';

type Client = {
  connect(transport: object): Promise<void>;
  close(): Promise<void>;
  callTool(call: { name: string; arguments: object }): Promise<Record<string, unknown>>;
};
type Transport = { finishAuth(code: string | URLSearchParams): Promise<void> };
type Parts = Record<string, new (...args: unknown[]) => unknown>;

describeWithServers(['sdk-versions'], 'a site whose readers log in at a provider', () => {
  let site: Awaited<ReturnType<typeof siteOfAgents>>;
  beforeAll(async () => {
    site = await siteOfAgents();
  }, 60_000);
  afterAll(() => site?.close());

  async function partsOf(version: string): Promise<Parts> {
    const require = createRequire(join(requireServer('sdk-versions'), 'node_modules', 'x.js'));
    const load = async (path: string) => (await import(pathToFileURL(require.resolve(path)).href)) as Parts;
    const name = `mcp-${version}`;
    return version.startsWith('1.')
      ? { ...(await load(`${name}/client/index.js`)), ...(await load(`${name}/client/streamableHttp.js`)) }
      : await load(name);
  }

  /** The memory of the official client for a login. `asked` is the address that it would open in a browser. */
  function keeper() {
    const kept: Record<string, unknown> = {};
    const keep = (name: string) => (value: unknown) => void (kept[name] = value);
    return {
      kept,
      redirectUrl: 'http://127.0.0.1:1/callback',
      clientMetadata: {
        ...{ client_name: 'test', redirect_uris: ['http://127.0.0.1:1/callback'] },
        ...{ token_endpoint_auth_method: 'none', grant_types: ['authorization_code'], response_types: ['code'] },
      },
      clientInformation: () => kept['client'],
      saveClientInformation: keep('client'),
      tokens: () => kept['tokens'],
      saveTokens: keep('tokens'),
      redirectToAuthorization: keep('asked'),
      saveCodeVerifier: keep('verifier'),
      codeVerifier: () => kept['verifier'],
      saveDiscoveryState: keep('discovery'),
      discoveryState: () => kept['discovery'],
    };
  }

  async function enter(version: string, person: string): Promise<Client> {
    const { Client: ClientOf, StreamableHTTPClientTransport: TransportOf } = await partsOf(version);
    if (ClientOf === undefined || TransportOf === undefined) throw new Error(`${version} has no client over HTTP`);
    const authProvider = keeper();
    const newTransport = () => new TransportOf(new URL(site.endpoint), { authProvider }) as Transport;
    const newClient = () => new ClientOf({ name: 'test', version: '1' }) as Client;
    const first = newTransport();
    await expect(newClient().connect(first)).rejects.toThrow(/Unauthorized/i);
    const asked = authProvider.kept['asked'] as URL;
    expect(asked.searchParams.get('resource')).toBe(site.endpoint);
    const { searchParams } = await logInAt(asked, person);
    // Later versions compare the issuer in the answer of the provider.
    const code = searchParams.get('code') ?? '';
    await first.finishAuth(version.startsWith('1.') ? code : searchParams);
    const client = newClient();
    await client.connect(newTransport());
    return client;
  }

  test.each(['1.25.2', '1.32.2', '2.0.0', '2.4.0'])(
    'version %s of the official client finds the provider, registers, logs a writer in, and searches',
    async (version) => {
      const client = await enter(version, 'ada');
      const found = await client.callTool({ name: 'search', arguments: { query: 'rotate an API key' } });
      expect(JSON.stringify(found)).toContain('guides/keys');
      await client.close();
      // Bob has an account, and is no writer.
      await expect(enter(version, 'bob')).rejects.toThrow(/may not read|403/);
    },
  );
});
