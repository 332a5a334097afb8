import { expect, test } from 'vitest';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { startElasticsearch } from '../support/start-elasticsearch.ts';

describeWithServers(['elasticsearch'], 'an Elasticsearch for tests', () => {
  test('answers, and is gone with its node after a stop', async () => {
    const server = await startElasticsearch();
    const answer = (await (await fetch(server.url)).json()) as { version: { number: string } };
    expect(answer.version.number).toMatch(/^9\./);
    const { pid } = server;
    await server.stop();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  }, 90_000);
});
