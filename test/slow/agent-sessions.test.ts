import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { requireServer } from '#infra/setup/find-server.ts';
import { apiClient } from '#services/cli/api-client.ts';
import { createFirstOrganization } from '#services/cli/commands/organizations.ts';
import { publishProject } from '#services/cli/publish-project.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { bearer, operatorToken } from '../support/gateway-harness.ts';
import { newFolder } from '../support/new-folder.ts';
import { environmentOn, type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { startTestBus, type TestBus } from '../support/start-bus.ts';

type Client = {
  connect(transport: object): Promise<void>;
  close(): Promise<void>;
  callTool(call: { name: string; arguments: object }): Promise<{ isError?: boolean }>;
};

/** `BINDERY_TEST_SESSIONS=1000` runs the number that the goal names, which takes a minute of processor time. */
const sessions = Number(process.env['BINDERY_TEST_SESSIONS'] ?? 200);
const newestClient = 'mcp-2.4.0';
const callsOfEach = 10;
const atOnce = 16;
/** Attempts of one call, each at the next gateway. */
const mostAttempts = 6;

describeWithServers(['nats-server', 'sdk-versions'], 'sessions of agents over three gateways', () => {
  let bus: TestBus;
  let services: ServiceProcess[] = [];
  let gateways: ServiceProcess[] = [];
  let key: string;
  let domain: string;

  beforeAll(async () => {
    bus = await startTestBus();
    const environment: Record<string, string> = {
      ...environmentOn(bus, newFolder()),
      BINDERY_LIMIT_ASSISTANT_PER_HOUR: '10000000',
      BINDERY_LIMIT_ASSISTANT_PER_ADDRESS_PER_DAY: '10000000',
    };
    const publisher = await startServiceProcess('publisher', environment);
    services.push(publisher);
    environment['BINDERY_PUBLISHER_URL'] = publisher.url;
    const [assistant, ...others] = await Promise.all(
      (['assistant', 'projector', 'indexer'] as const).map((name) => startServiceProcess(name, environment)),
    );
    services = [...services, ...(assistant === undefined ? [] : [assistant]), ...others];
    environment['BINDERY_ASSISTANT_URL'] = assistant?.url ?? '';
    gateways = await Promise.all([1, 2, 3].map(() => startServiceProcess('gateway', environment)));
    const base = gateways[0]?.url ?? '';
    const first = await createFirstOrganization(base, operatorToken);
    ({ assistantKey: key, domain } = first);
    const project = join(newFolder(), 'project');
    await mkdir(project, { recursive: true });
    const docs = { theme: 'mint', name: 'A', colors: { primary: '#000000' }, navigation: { pages: ['index'] } };
    await writeFile(join(project, 'docs.json'), JSON.stringify(docs));
    await writeFile(join(project, 'index.mdx'), '---\ntitle: Keys\n---\n\nTo rotate a key, press the button.\n');
    await publishProject(apiClient(base, first.adminKey), { domain, folder: project, label: undefined });
    const search = {
      ...{ method: 'POST', body: '{"query":"rotate a key"}' },
      headers: { ...bearer(key), 'content-type': 'application/json' },
    };
    await vi.waitUntil(
      async () => (await (await fetch(`${base}/discovery/v1/search/${domain}`, search)).text()).includes('"index"'),
      { timeout: 60_000 },
    );
  });
  afterAll(async () => {
    await Promise.all([...gateways, ...services].map((service) => service.stop('SIGKILL')));
    await bus?.stop();
  });

  test(`${sessions} sessions of ${callsOfEach} calls: two gateways are killed, and no call is lost`, async () => {
    const require = createRequire(join(requireServer('sdk-versions'), 'node_modules', 'x.js'));
    const { Client: ClientOf, StreamableHTTPClientTransport: TransportOf } = (await import(
      pathToFileURL(require.resolve(newestClient)).href
    )) as Record<string, new (...args: unknown[]) => unknown>;
    if (ClientOf === undefined || TransportOf === undefined) throw new Error('there is no client');
    let turn = 0;
    let repeated = 0;
    /**
     * A client behind a load balancer that does not yet know who has died. A request without an answer is sent again, to the next gateway, since all these
     * calls only read. A call is lost if no attempt is answered, or if its session has to begin again.
     */
    const balanced = async (url: URL | string, init?: RequestInit): Promise<Response> => {
      turn += 1;
      const first = turn;
      for (let attempt = 1; ; attempt += 1) {
        const to = new URL(gateways[(first + attempt) % gateways.length]?.url ?? '');
        const target = new URL(url);
        target.port = to.port;
        try {
          const answer = await fetch(target, init);
          // The body may break off, too.
          const body = await answer.arrayBuffer();
          return new Response(body.byteLength === 0 ? null : body, answer);
        } catch (error) {
          if (attempt === mostAttempts) throw error;
          repeated += 1;
        }
      }
    };
    const endpoint = new URL(`${gateways[0]?.url}/discovery/v1/mcp/${domain}`);
    let answered = 0;
    let begun = 0;
    const session = async (number: number): Promise<void> => {
      const options = number % 2 === 0 ? {} : { versionNegotiation: { mode: 'auto' } };
      const client = new ClientOf({ name: 'test', version: '1' }, options) as Client;
      await client.connect(
        new TransportOf(endpoint, { requestInit: { headers: bearer(key) }, fetch: balanced }) as object,
      );
      for (let call = 0; call < callsOfEach; call += 1) {
        begun += 1;
        // The kills come in the middle of calls that are under way.
        if (begun === Math.round((sessions * callsOfEach) / 3)) void gateways[0]?.stop('SIGKILL');
        if (begun === Math.round((sessions * callsOfEach * 2) / 3)) void gateways[1]?.stop('SIGKILL');
        const tool =
          call % 2 === 0
            ? { name: 'read_page', arguments: { paths: ['index'] } }
            : { name: 'list_pages', arguments: {} };
        const { isError, ...answer } = await client.callTool(tool);
        if (isError !== true && JSON.stringify(answer).includes('Keys')) answered += 1;
      }
      await client.close();
    };
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < sessions) {
        next += 1;
        await session(next);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    expect(answered).toBe(sessions * callsOfEach);
    console.log(`${answered} calls of ${sessions} sessions answered; ${repeated} requests had to be sent again`);
  }, 1_800_000);
});
