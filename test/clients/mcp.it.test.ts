import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireServer } from '#infra/setup/find-server.ts';
import { buildGateway } from '#services/gateway/build-gateway.ts';
import { serviceMetrics } from '#shared/runtime/metrics.ts';
import { type AgentGateway, agentGateway } from '../support/agent-gateway.ts';
import { bearer } from '../support/gateway-harness.ts';

/** The part of a client that all released versions share. */
type Client = {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
  listTools(): Promise<{ tools: { name: string; annotations?: { readOnlyHint?: boolean } }[] }>;
  callTool(call: { name: string; arguments: object }): Promise<Record<string, unknown>>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: object[] }>;
  readResource(asked: { uri: string }): Promise<{ contents: { text?: string }[] }>;
  getPrompt(asked: { name: string; arguments: object }): Promise<{ messages: object[] }>;
  complete(asked: object): Promise<{ completion: { values: string[] } }>;
};
type Fetch = (url: URL | string, init?: RequestInit) => Promise<Response>;

const folder = join(requireServer('sdk-versions'), 'node_modules');
const versions = ['1.17.5', '1.25.2', '1.32.2', '2.0.0', '2.2.0', '2.4.0'] as const;

/** A client of a released version, connected to the endpoint. `isModern`: it asks for the newest revision of the protocol. */
async function connect(
  version: (typeof versions)[number],
  url: string,
  headers: Record<string, string>,
  { isModern = false, fetch }: { isModern?: boolean; fetch?: Fetch } = {},
): Promise<Client> {
  const require = createRequire(join(folder, 'x.js'));
  const load = async (path: string) =>
    (await import(pathToFileURL(require.resolve(path)).href)) as Record<string, new (...args: unknown[]) => unknown>;
  const name = `mcp-${version}`;
  const parts = version.startsWith('1.')
    ? { ...(await load(`${name}/client/index.js`)), ...(await load(`${name}/client/streamableHttp.js`)) }
    : await load(name);
  const options = isModern ? { versionNegotiation: { mode: 'auto' } } : {};
  const { Client: ClientOf, StreamableHTTPClientTransport: Transport } = parts;
  if (ClientOf === undefined || Transport === undefined) throw new Error(`${name} has no client over HTTP.`);
  const client = new ClientOf({ name: 'test', version: '1' }, options) as Client;
  await client.connect(new Transport(new URL(url), { requestInit: { headers }, ...(fetch && { fetch }) }));
  return client;
}

let gateway: AgentGateway;
let endpoint: string;
beforeAll(async () => {
  gateway = await agentGateway({
    BINDERY_LIMIT_ASSISTANT_PER_HOUR: '1000000',
    BINDERY_LIMIT_ASSISTANT_PER_ADDRESS_PER_DAY: '1000000',
  });
  endpoint = `${gateway.url}/discovery/v1/mcp/docs`;
});
afterAll(() => gateway.close());

const released = versions.flatMap((version) =>
  version.startsWith('1.') ? [[version, false] as const] : [[version, false] as const, [version, true] as const],
);

describe.each(released)(
  'version %s of the official client, newest revision of the protocol: %s',
  (version, isModern) => {
    test('connects at the first try, and finds, reads and completes', async () => {
      const client = await connect(version, endpoint, bearer(gateway.acme.assistantKey), { isModern });
      const { tools } = await client.listTools();
      expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
        ['search', true],
        ['read_page', true],
        ['list_pages', true],
        ['find_in_pages', true],
        ['submit_feedback', false],
      ]);
      expect(await client.callTool({ name: 'search', arguments: { query: 'rotate an API key' } })).toMatchObject({
        structuredContent: { passages: expect.arrayContaining([expect.objectContaining({ path: 'guides/keys' })]) },
      });
      expect(await client.callTool({ name: 'read_page', arguments: { paths: ['guides/keys'] } })).toMatchObject({
        content: [{ type: 'text', text: expect.stringContaining('## Rotate a key') }],
      });
      expect(await client.callTool({ name: 'list_pages', arguments: {} })).toMatchObject({
        structuredContent: { totalPages: 2 },
      });
      expect(
        await client.callTool({ name: 'find_in_pages', arguments: { pattern: 'KEYS=', regex: true } }),
      ).toMatchObject({
        structuredContent: { pages: [{ path: 'guides/keys' }] },
      });
      expect(await client.callTool({ name: 'search', arguments: { query: '' } })).toMatchObject({ isError: true });
      expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual([
        'docs://skills/docs',
        'docs://pages/guides/keys',
        'docs://pages/guides/deleted',
      ]);
      expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(2);
      const [skill] = (await client.readResource({ uri: 'docs://skills/docs' })).contents;
      expect(skill?.text).toContain('Title of guides/keys');
      expect(skill?.text).not.toContain('internal/secret');
      await expect(client.readResource({ uri: 'docs://pages/internal/secret' })).rejects.toThrow(
        'There is no resource',
      );
      const prompt = { name: 'answer_from_docs', arguments: { question: 'How do I rotate a key?' } };
      expect((await client.getPrompt(prompt)).messages).toHaveLength(1);
      const ref = { type: 'ref/resource', uri: 'docs://pages/{+path}' };
      const argument = { name: 'path', value: 'guides/k' };
      expect((await client.complete({ ref, argument })).completion.values).toEqual(['guides/keys']);
      await client.close();
    });

    test('gets a sentence for a key that is not valid', async () => {
      await expect(connect(version, endpoint, bearer('svc_dsc_nonsense'), { isModern })).rejects.toThrow(
        /API key|Unauthorized|401/,
      );
    });
  },
);

test('no call of a session is lost when a gateway ends and others answer', async () => {
  const starts = async () => {
    const app = await buildGateway({ ...gateway.context, metrics: serviceMetrics('gateway') });
    return { app, url: await app.listen({ host: '127.0.0.1', port: 0 }) };
  };
  const gateways = [await starts(), await starts(), await starts()];
  let turn = 0;
  /** A load balancer: each request goes to the next gateway, and one whose gateway refuses the connection goes to another. */
  const balanced: Fetch = async (url, init) => {
    turn += 1;
    const first = turn;
    for (let tries = 1; ; tries += 1) {
      const to = gateways[(first + tries) % gateways.length]?.url ?? '';
      try {
        return await fetch(String(url).replace(gateway.url, to), init);
      } catch (error) {
        if (tries === gateways.length) throw error;
      }
    }
  };
  const session = async (number: number): Promise<number> => {
    const version = versions[number % versions.length] ?? '1.32.2';
    const client = await connect(version, endpoint, bearer(gateway.acme.assistantKey), {
      isModern: number % 4 === 3,
      fetch: balanced,
    });
    let answered = 0;
    for (let calls = 0; calls < 10; calls += 1) {
      if (number === 10 && calls === 5) await gateways[0]?.app.close();
      if (number === 20 && calls === 5) await gateways[1]?.app.close();
      const answer = await client.callTool({ name: 'search', arguments: { query: 'rotate a key', pageSize: 1 } });
      if (JSON.stringify(answer).includes('guides/keys')) answered += 1;
    }
    await client.close();
    return answered;
  };
  const sessions = Number(process.env['BINDERY_TEST_SESSIONS'] ?? 40);
  const atOnce = 8;
  let lost = 0;
  for (let first = 0; first < sessions; first += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, sessions - first) }, (_, at) => session(first + at));
    for (const answered of await Promise.all(some)) lost += 10 - answered;
  }
  expect(lost).toBe(0);
  await gateways[2]?.app.close();
}, 1_800_000);
