import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePorts } from '#infra/supervisor/free-ports.ts';
import { processEnvironment, type ServiceName } from '#infra/supervisor/services.ts';
import { type ApiClient, apiClient } from '#services/cli/api-client.ts';
import { askQuestion } from '#services/cli/commands/ask.ts';
import { whenSearched } from '#services/cli/publish-project.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { newFolder } from '../support/new-folder.ts';
import { acceptsConnections } from '../support/server-process.ts';
import { type ElasticsearchServer, startElasticsearch } from '../support/start-elasticsearch.ts';
import { startInstallation, type TestInstallation } from '../support/start-installation.ts';
import { bucketOn, startVersityGateway, type VersityGateway } from '../support/start-versitygw.ts';
import { takeTurns, type TurnTaker } from '../support/take-turns.ts';

const ownDocumentation = join(import.meta.dirname, '../../infra/docs');
const main = join(import.meta.dirname, '../../services/cli/bindery.mjs');
const minuteMs = 60_000;
const bucket = 'bindery-search';

type RunningService = { port: number; process: ChildProcess; end(): Promise<void> };
type Machine = { folder: string; indexer: RunningService; assistant: RunningService };

/** Indexers and assistants have a data folder each, and objects are in S3. The other services run as usual. */
describeWithServers(['nats-server', 'elasticsearch', 'versitygw'], 'indexers and assistants on two machines', () => {
  let elasticsearch: ElasticsearchServer;
  let s3: VersityGateway;
  let harness: TestInstallation;
  let balancer: TurnTaker;
  let reader: ApiClient;
  let environment: Record<string, string>;
  const machines: Machine[] = [];

  beforeAll(async () => {
    [elasticsearch, s3] = await Promise.all([startElasticsearch(), startVersityGateway()]);
    const ports = await freePorts(4);
    balancer = await takeTurns([ports[0] ?? 0, ports[1] ?? 0]);
    environment = {
      BINDERY_LOG_LEVEL: 'silent',
      BINDERY_ASSISTANT_URL: balancer.url,
      BINDERY_SEARCH_ENGINE: 'elasticsearch',
      BINDERY_ELASTICSEARCH_URL: elasticsearch.url,
      BINDERY_ELASTICSEARCH_REPLICAS: '0',
      ...(await bucketOn(s3, bucket)),
    };
    const copies = { indexer: 0, assistant: 0, housekeeper: 0, 'page-renderer': 0, bundler: 0, orchestrator: 0 };
    harness = await startInstallation({ copies, environment });
    reader = apiClient(harness.installation.baseUrl, harness.assistantKey);
    for (const at of [0, 1]) {
      const folder = newFolder();
      const [indexer, assistant] = await Promise.all([
        run('indexer', folder, ports[2 + at] ?? 0),
        run('assistant', folder, ports[at] ?? 0),
      ]);
      machines.push({ folder, indexer, assistant });
    }
  }, 6 * minuteMs);

  afterAll(async () => {
    await Promise.all(machines.flatMap(({ indexer, assistant }) => [indexer.end(), assistant.end()]));
    await balancer?.close();
    await harness?.stop();
    await Promise.all([elasticsearch?.stop(), s3?.stop()]);
  });

  async function run(service: ServiceName, dataFolder: string, port: number): Promise<RunningService> {
    const ports = JSON.parse(await readFile(join(harness.folder, 'ports.json'), 'utf8')) as Record<string, number>;
    const plan = {
      ...{ dataFolder, publicUrl: harness.installation.baseUrl, host: '127.0.0.1', gatewayPort: 0, rendererSlots: 1 },
      natsUrl: `nats://127.0.0.1:${ports['nats']}`,
      ports: { ...ports, [service]: port } as Record<ServiceName, number>,
      secrets: harness.installation.secrets,
    };
    const env = processEnvironment({ services: [service], copy: 0 }, plan, { ...process.env, ...environment });
    const child = spawn(process.execPath, [main, 'run', service], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    await acceptsConnections(port, minuteMs);
    return {
      port,
      process: child,
      async end() {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      },
    };
  }

  const search = (query: string) =>
    fetch(`${harness.installation.baseUrl}/discovery/v1/search/${harness.domain}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${harness.assistantKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, pageSize: 5 }),
    });
  const foundPaths = async (query: string): Promise<string[]> => {
    const answer = await search(query);
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { path: string }[]).map(({ path }) => path);
  };

  const readiness = async ({ port }: RunningService): Promise<{ status: number; missing: Record<string, string> }> => {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
    const { missing } = (await answer.json()) as { missing: Record<string, string> };
    return { status: answer.status, missing };
  };

  test(
    'both assistants find the content that one indexer indexed',
    async () => {
      const { contentVersion } = await harness.publish(ownDocumentation);
      await whenSearched(harness.admin, harness.domain, contentVersion);
      // The gateway keeps connections alive: concurrent requests need one each.
      await Promise.all(
        Array.from({ length: 12 }, async () => expect(await foundPaths('check a bundle')).toContain('concepts/bundle')),
      );
      expect(Math.min(...balancer.counts)).toBeGreaterThan(0);
      const answer = await askQuestion(reader, harness.domain, 'How do I check a bundle?');
      expect(answer.sources.map(({ url }) => url.split('#')[0])).toContain('/concepts/bundle');
    },
    2 * minuteMs,
  );

  test(
    'either machine can index and search alone',
    async () => {
      const [first, second] = machines as [Machine, Machine];
      await Promise.all([first.indexer.end(), first.assistant.end()]);
      const { contentVersion } = await harness.publish(await changedDocumentation('Wombats dig at night.'));
      await whenSearched(harness.admin, harness.domain, contentVersion);
      expect(await foundPaths('wombats')).toEqual(['wombats']);
      Object.assign(first, {
        indexer: await run('indexer', first.folder, first.indexer.port),
        assistant: await run('assistant', first.folder, first.assistant.port),
      });
      await Promise.all([second.indexer.end(), second.assistant.end()]);
      expect(await foundPaths('wombats')).toEqual(['wombats']);
      Object.assign(second, {
        indexer: await run('indexer', second.folder, second.indexer.port),
        assistant: await run('assistant', second.folder, second.assistant.port),
      });
    },
    3 * minuteMs,
  );

  test('they keep no data on disk that the other would need', async () => {
    for (const { folder } of machines) {
      const files = await readdir(folder, { recursive: true, withFileTypes: true });
      expect(files.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual([]);
    }
  });

  test(
    'without Elasticsearch only searches are unavailable; afterwards published content is searched, without duplicates',
    async () => {
      await elasticsearch.kill();
      const answers = await Promise.all(Array.from({ length: 4 }, () => search('bundle')));
      for (const answer of answers) {
        expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'unavailable' }]);
        expect(answer.headers.get('retry-after')).not.toBeNull();
      }
      for (const { indexer, assistant } of machines) {
        for (const service of [indexer, assistant]) {
          expect(await readiness(service)).toMatchObject({ status: 503, missing: { search: expect.any(String) } });
        }
      }
      const { contentVersion } = await harness.publish(await changedDocumentation('Quokkas smile by day.'));
      const list = await harness.admin.json<{ latest: string }>(`/v1/domains/${harness.domain}/content`);
      expect(list.latest).toBe(contentVersion);
      await elasticsearch.restart();
      await whenSearched(harness.admin, harness.domain, contentVersion);
      expect(await foundPaths('quokkas')).toEqual(['wombats']);
      for (const { assistant } of machines) expect(await readiness(assistant)).toMatchObject({ status: 200 });
      expect(await doubled()).toEqual([]);
    },
    4 * minuteMs,
  );

  test(
    'a disk at its flood stage stops indexing, and nothing else',
    async () => {
      // The node checks its disk every ten seconds, and lifts the block itself.
      const watermarks = (free: string | null, isEnabled: boolean) => ({
        'cluster.info.update.interval': '10s',
        'cluster.routing.allocation.disk.threshold_enabled': isEnabled,
        'cluster.routing.allocation.disk.watermark.low': free,
        'cluster.routing.allocation.disk.watermark.high': free,
        'cluster.routing.allocation.disk.watermark.flood_stage': free,
      });
      await changeCluster(watermarks('100pb', true));
      const [first] = machines as [Machine, Machine];
      let ready = await readiness(first.indexer);
      while (ready.status === 200) {
        await delay(500);
        ready = await readiness(first.indexer);
      }
      expect(ready.missing['search']).toContain('read_only_allow_delete');
      expect(await readiness(first.assistant)).toMatchObject({ status: 200 });
      const { contentVersion } = await harness.publish(await changedDocumentation('Numbats eat termites.'));
      expect(await foundPaths('quokkas')).toEqual(['wombats']);
      await changeCluster(watermarks('1b', true));
      await whenSearched(harness.admin, harness.domain, contentVersion);
      expect(await foundPaths('numbats')).toEqual(['wombats']);
      expect(await doubled()).toEqual([]);
    },
    5 * minuteMs,
  );

  async function changeCluster(persistent: Record<string, unknown>): Promise<void> {
    const answer = await fetch(`${elasticsearch.url}/_cluster/settings`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ persistent }),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  }

  /** Duplicate passages in the index of one content version. */
  async function doubled(): Promise<string[]> {
    await fetch(`${elasticsearch.url}/bindery-passages/_refresh`, { method: 'POST' });
    const answer = await fetch(`${elasticsearch.url}/bindery-passages/_search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ size: 10_000, query: { term: { kind: 'passage' } } }),
    });
    const { hits } = (await answer.json()) as { hits: { hits: { _source: Record<string, unknown> }[] } };
    const names = hits.hits.map(({ _source: { contentVersion, rank, shown } }) =>
      JSON.stringify([contentVersion, (rank as { path: string }).path, shown]),
    );
    expect(names.length).toBeGreaterThan(100);
    return names.filter((name, at) => names.indexOf(name) !== at);
  }
});

/** Our own documentation with one more page. */
async function changedDocumentation(sentence: string): Promise<string> {
  const folder = newFolder();
  await cp(ownDocumentation, folder, { recursive: true });
  await writeFile(join(folder, 'wombats.mdx'), `---\ntitle: Animals\n---\n\n${sentence}\n`);
  const settings = await readFile(join(folder, 'docs.json'), 'utf8');
  await writeFile(join(folder, 'docs.json'), settings.replace('"quickstart"', '"quickstart", "wombats"'));
  return folder;
}
