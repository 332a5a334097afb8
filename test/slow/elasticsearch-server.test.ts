import { expect, test } from 'vitest';
import { good, warning } from '#shared/runtime/finding.ts';
import { inspectElasticsearch } from '#shared/search/elasticsearch/elasticsearch-inspection.ts';
import { elasticsearchSearchIndex } from '#shared/search/elasticsearch/elasticsearch-search-index.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { startElasticsearch } from '../support/start-elasticsearch.ts';

describeWithServers(['elasticsearch'], 'an Elasticsearch for tests', () => {
  test('answers, is inspected, and is gone with its node after a stop', async () => {
    const server = await startElasticsearch();
    const answer = (await (await fetch(server.url)).json()) as { version: { number: string } };
    expect(answer.version.number).toMatch(/^9\./);
    const { pid } = server;
    const settings = { product: 'elasticsearch', nodes: [server.url], prefix: 'bindery', shards: 1 } as const;
    expect(await inspectElasticsearch({ ...settings, replicas: 1 })).toEqual([
      good(`Elasticsearch ${answer.version.number} at ${server.url}.`),
      good('The cluster of 1 data node is green.'),
      warning(
        'BINDERY_ELASTICSEARCH_REPLICAS is 1, and one node has no place for so many copies.',
        'Set it to 0 before the index is created.',
      ),
      good('There is no index "bindery-passages" yet: the first published content creates it.'),
    ]);
    const index = elasticsearchSearchIndex({ ...settings, replicas: 0 });
    const build = await index.startBuild({ organization: 'org_1', domain: 'acme', contentVersion: 'v1' });
    await build.commit();
    await index.close();
    const inspected = () => inspectElasticsearch({ ...settings, replicas: 0 });
    expect(await inspected()).toContainEqual(good('The index bindery-passages-2 can be written.'));
    await fetch(`${server.url}/bindery-passages-2/_block/write`, { method: 'PUT' });
    expect(await inspected()).toContainEqual(
      expect.objectContaining({ level: 'fault', text: expect.stringContaining('is blocked for writing') }),
    );
    // The watermark of the cluster decides, so that the test does not depend on the disk of the machine.
    const disks = 'cluster.routing.allocation.disk';
    await fetch(`${server.url}/_cluster/settings`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ persistent: { [`${disks}.threshold_enabled`]: true, [`${disks}.watermark.low`]: '1%' } }),
    });
    expect(await inspected()).toContainEqual(
      expect.objectContaining({ level: 'warning', advice: expect.stringContaining('from 1 % the cluster') }),
    );
    await server.stop();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  }, 90_000);
});
